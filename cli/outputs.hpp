// SPDX-License-Identifier: Apache-2.0
// Where a command writes, looked at before its work.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace plumbline::cli {

/// A file that an option names; "-" is standard output, "" none.
struct Output {
  std::string option;
  std::filesystem::path path;
};

/// @throws BadInput for two outputs that are one file, however it is spelt, or both standard
/// output, and for an output that is one of the inputs. Devices are no files: all may go to
/// /dev/null.
void expect_apart(const std::vector<Output>& outputs, const std::vector<std::string>& inputs = {});

/// The folder that --out names, made if it is not there, in which files of these names can be
/// written. @throws BadInput if not.
std::filesystem::path made_folder(const std::string& out, const std::vector<std::string>& names);

}  // namespace plumbline::cli
