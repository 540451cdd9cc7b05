// SPDX-License-Identifier: Apache-2.0
#include "support/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / ".lock";
  struct stat status {};
  const MakingLeftovers making;
  do {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0)
      throw BadInput("folder", path_in_quotes(folder) + ": " + std::strerror(errno),
                     "a folder that can be written to");
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(descriptor_);
      throw BadInput("folder", path_in_quotes(folder) + ": " + std::strerror(error),
                     "a folder that no other process works in");
    }
    // Whoever had it may have taken the file away since it was opened here.
  } while (::fstat(descriptor_, &status) == 0 && status.st_nlink == 0);
  file_ = Leftover::file(file);
}

FolderLock::~FolderLock() {
  file_ = {};  // before it is unlocked
  ::close(descriptor_);
}

}  // namespace plumbline
