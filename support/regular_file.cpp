// SPDX-License-Identifier: Apache-2.0
#include "support/regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "support/error.hpp"
#include "support/files_in_use.hpp"
#include "support/text.hpp"

namespace plumbline {

void fail_to_read(const std::filesystem::path& path, int error) {
  throw BadInput(
      "file " + path_in_quotes(path),
      fmt::format("not readable ({})", std::error_code(error, std::generic_category()).message()),
      "a regular file that can be read");
}

int open_retrying(const std::filesystem::path& path, int flags) {
  int descriptor;
  do {
    // The kernel applies the user's umask to 0666; mkstemp's 0600 would hide the file from others.
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

RegularFile::RegularFile(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait for ever.
  descriptor_ = open_retrying(path, O_RDONLY | O_NONBLOCK);
  if (descriptor_ < 0) fail_to_read(path, errno);
  struct stat status {};
  const int error = ::fstat(descriptor_, &status) != 0 ? errno
                    : S_ISDIR(status.st_mode)          ? EISDIR
                    : !S_ISREG(status.st_mode)         ? ENOTSUP
                                                       : 0;
  if (error != 0) {
    ::close(descriptor_);  // no destructor runs for an object that was never made
    fail_to_read(path, error);
  }
  size_ = static_cast<std::size_t>(status.st_size);
  try {
    is_read(path, status);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

RegularFile::~RegularFile() { ::close(descriptor_); }

}  // namespace plumbline
