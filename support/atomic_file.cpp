// SPDX-License-Identifier: Apache-2.0
#include "support/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "support/error.hpp"
#include "support/files_in_use.hpp"
#include "support/regular_file.hpp"
#include "support/text.hpp"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  const std::string reason = std::error_code(error, std::generic_category()).message();
  throw BadInput("file " + path_in_quotes(path), fmt::format("not writable ({})", reason),
                 "a path that can be written to");
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : shown_(path), final_(behind_links(path)) {
  std::error_code error;
  const fs::file_status status = fs::status(final_, error);
  if (status.type() == fs::file_type::none) fail_to_write(shown_, error.value());
  if (fs::is_directory(status)) fail_to_write(shown_, EISDIR);
  if (final_.empty() || !final_.has_filename()) fail_to_write(shown_, ENOENT);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    // Without O_NONBLOCK, opening a pipe waits, silently, for somebody who reads from it.
    descriptor_ = open_retrying(final_, O_WRONLY | O_NONBLOCK);
    if (descriptor_ < 0 && errno == ENXIO && fs::is_fifo(status)) {
      throw BadInput("file " + path_in_quotes(shown_), "a pipe that nobody reads from",
                     "a file, or a pipe with a reader");
    }
    if (descriptor_ < 0) fail_to_write(shown_, errno);
    ::fcntl(descriptor_, F_SETFL, 0);  // writing waits for the reader
    return;
  }
  // A read-only file in a writable folder could be replaced by renaming, but its owner said no.
  if (fs::exists(status) && ::access(final_.c_str(), W_OK) != 0) fail_to_write(shown_, errno);
  static std::atomic<unsigned> count{0};
  const MakingLeftovers making;
  do {
    temporary_ = final_;
    // At most 200 bytes of the name: with the suffix it stays below the usual limit of 255.
    temporary_.replace_filename(fmt::format(
        ".{}.{}.{}.partial", final_.filename().string().substr(0, 200), ::getpid(), count++));
    descriptor_ = open_retrying(temporary_, O_WRONLY | O_CREAT | O_EXCL);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    const int reason = errno;
    temporary_.clear();
    fail_to_write(shown_, reason);
  }
  leftover_ = Leftover::file(temporary_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2^31 - 4096 bytes a call; 1 GiB keeps clear of it.
    const std::size_t wanted = std::min(bytes.size(), std::size_t{1} << 30);
    const ssize_t written = ::write(descriptor_, bytes.data(), wanted);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_to_write(shown_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit() {
  if (temporary_.empty()) {  // a device: nothing to flush or to rename
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail_to_write(shown_, errno);
    return;
  }
  if (::fsync(descriptor_) != 0) fail_to_write(shown_, errno);
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) fail_to_write(shown_, errno);
  if (::rename(temporary_.c_str(), final_.c_str()) != 0) fail_to_write(shown_, errno);
  leftover_.keep();
  // The name itself is on the disk only once the folder is. Some file systems cannot flush a folder
  // and say EINVAL; the file is complete all the same, so that is no error.
  const fs::path folder = final_.has_parent_path() ? final_.parent_path() : fs::path(".");
  const int folder_descriptor = open_retrying(folder, O_RDONLY | O_DIRECTORY);
  if (folder_descriptor >= 0) {
    ::fsync(folder_descriptor);
    ::close(folder_descriptor);
  }
}

void write_file(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::string read_file(const fs::path& path) {
  const RegularFile file(path);
  std::string text(file.size(), '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.descriptor(), text.data() + size,
                               std::min(text.size() - size, std::size_t{1} << 30));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(path, errno);
    if (got == 0) break;  // it was shortened meanwhile; what reads the text finds it truncated
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace plumbline
