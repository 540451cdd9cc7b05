// SPDX-License-Identifier: Apache-2.0
#include "kernel_process/host/windows.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace plumbline::kernel_process {

Windows::Windows() {
  struct stat inputs {
  }, outputs{};
  if (fstat(host_inputs, &inputs) != 0 || fstat(host_outputs, &outputs) != 0) _exit(1);
  bytes_ = window_bytes(static_cast<std::uint64_t>(inputs.st_size),
                        static_cast<std::uint64_t>(outputs.st_size));
  void* address = mmap(nullptr, window_count * bytes_, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) _exit(1);
  base_ = static_cast<char*>(address);
}

void* Windows::show(int window, const ArrayPlace& place) const {
  void* pages = at(window) + place.page_offset;
  const int protection = place.is_output ? PROT_READ | PROT_WRITE : PROT_READ;
  const int descriptor = place.is_output ? host_outputs : host_inputs;
  if (mmap(pages, place.page_bytes, protection, MAP_SHARED | MAP_FIXED, descriptor,
           static_cast<off_t>(place.file_offset)) != pages) {
    std::perror("plumbline-kernel-host: mmap");
    _exit(1);
  }
  return static_cast<char*>(pages) + place.begin;
}

void Windows::hide(int window) const {
  void* address = at(window);
  if (mmap(address, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) != address) {
    std::perror("plumbline-kernel-host: mmap");
    _exit(1);
  }
}

}  // namespace plumbline::kernel_process
