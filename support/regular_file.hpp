// SPDX-License-Identifier: Apache-2.0
// Opening files for reading, in one place: what is refused, and in which words.
#pragma once

#include <cstddef>
#include <filesystem>

namespace plumbline {

/// A regular file, open for reading until the object goes.
class RegularFile {
 public:
  /// @throws BadInput naming the path if it cannot be read or is not a regular file; WouldOverwrite
  /// if it is to be written over in the end.
  explicit RegularFile(const std::filesystem::path&);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::size_t size() const { return size_; }  ///< bytes, when it was opened

 private:
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

/// Throws the BadInput of a file that cannot be read, for the reason errno `error`.
[[noreturn]] void fail_to_read(const std::filesystem::path&, int error);

/// open(2), again when a signal interrupts it; -1 with errno set where it fails.
int open_retrying(const std::filesystem::path&, int flags);

}  // namespace plumbline
