// SPDX-License-Identifier: Apache-2.0
// Which files this program reads and which it writes: it never writes over what it reads.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "support/error.hpp"

namespace plumbline {

/// Two outputs, or an output and something read, are one file: under two names, through a symbolic
/// link or a hard one. Nothing has been changed.
class WouldOverwrite : public BadInput {
  using BadInput::BadInput;
};

/// The option has this file written at the end; "-" is standard output, "" none. Devices and pipes
/// are no files: all may go to /dev/null. @throws WouldOverwrite naming both options.
void will_write(const std::string& option, const std::filesystem::path&);

/// The option has this file read, or files in this folder: of a folder nothing that is there is
/// written over but earlier reports. @throws WouldOverwrite
void will_read(const std::string& option, const std::filesystem::path&);

/// A file was opened to be read, whoever named it. @throws WouldOverwrite
void is_read(const std::filesystem::path&, const struct stat&);

/// The path with symbolic links followed, those too that point to nothing yet.
std::filesystem::path behind_links(const std::filesystem::path&);

}  // namespace plumbline
