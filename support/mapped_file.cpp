// SPDX-License-Identifier: Apache-2.0
#include "support/mapped_file.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "support/regular_file.hpp"

namespace plumbline {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const RegularFile file(path);
  if (file.size() == 0) return;  // mmap forbids a length of 0
  void* address = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED) fail_to_read(path, errno);
  bytes_ = {static_cast<const std::byte*>(address), file.size()};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace plumbline
