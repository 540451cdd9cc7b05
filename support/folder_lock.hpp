// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "support/leftovers.hpp"

namespace plumbline {

/// One process at a time works in a folder: an advisory lock on the file `.lock` in it, which the
/// system takes back when the process ends, however it ends. The file goes with it.
class FolderLock {
 public:
  /// Does not wait. @throws BadInput naming the folder if another process has it, or if the file
  /// cannot be made.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  Leftover file_;
  int descriptor_ = -1;
};

}  // namespace plumbline
