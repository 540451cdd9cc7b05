// SPDX-License-Identifier: Apache-2.0
// A file's bytes without a copy of them: gigabytes of parameters are read where they lie.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace plumbline {

/// A regular file in memory, read-only, until the object goes. Pages come from the disk when they
/// are touched. Whoever shortens the file meanwhile ends the program (SIGBUS), as with every
/// mapping: replace files by renaming, as AtomicFile does.
class MappedFile {
 public:
  /// @throws BadInput naming the path if it cannot be read or is not a regular file.
  explicit MappedFile(const std::filesystem::path&);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace plumbline
