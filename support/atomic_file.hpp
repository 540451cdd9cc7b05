// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "support/leftovers.hpp"

namespace plumbline {

/// A file under construction. Bytes go to a temporary file in the same folder; `commit` flushes it
/// to the disk and renames it to its final name, so that a reader, a full disk or a power cut never
/// meets half a file. Without `commit` the temporary file goes with the object, or with the program
/// (support/leftovers.hpp).
///
/// A path that exists and is not a regular file (/dev/stdout, a pipe) is written to directly, since
/// a device cannot be replaced by renaming. A symbolic link is followed, as a shell would: one that
/// points to nothing yet gets its target, and stays a link.
class AtomicFile {
 public:
  /// @throws BadInput naming the path and the system's reason if it cannot be written.
  explicit AtomicFile(const std::filesystem::path&);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// @throws BadInput naming the path and the system's reason, a full disk among them.
  void write(std::span<const std::byte>);
  void write(std::string_view);
  /// @throws BadInput as above; the final name is then untouched.
  void commit();

 private:
  std::filesystem::path shown_;      ///< as the caller named it, for messages
  std::filesystem::path final_;      ///< with symbolic links followed
  std::filesystem::path temporary_;  ///< empty when written directly
  Leftover leftover_;                ///< the temporary file, until the rename
  int descriptor_ = -1;
};

/// The whole of `text` into one file. @throws BadInput as AtomicFile.
void write_file(const std::filesystem::path&, std::string_view text);

/// The whole of a regular file.
/// @throws BadInput naming the path if it cannot be read or is not a regular file.
std::string read_file(const std::filesystem::path&);

}  // namespace plumbline
