// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/windows.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace plumbline::kernel_process {

namespace {

/// Moves a descriptor to where no kernel meets it by mistake, where the system has so many.
int moved(int descriptor) {
  constexpr int far = 500;
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, far);
  if (copy < 0) return descriptor;
  close(descriptor);
  return copy;
}

}  // namespace

Windows::Windows() : inputs_(moved(host_inputs)), outputs_(moved(host_outputs)) {
  struct stat inputs {
  }, outputs{};
  if (fstat(inputs_, &inputs) != 0 || fstat(outputs_, &outputs) != 0) _exit(1);
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
  const int descriptor = place.is_output ? outputs_ : inputs_;
  if (mmap(pages, place.page_bytes, protection, MAP_SHARED | MAP_FIXED, descriptor,
           static_cast<off_t>(place.file_offset)) != pages) {
    const bool ours = errno != EBADF && errno != EACCES && errno != ENODEV;
    if (ours) std::perror("plumbline-kernel-host: mmap");
    _exit(ours ? 1 : status_without_descriptors);
  }
  // A process that the kernel forks would write to what later calls have there.
  madvise(pages, place.page_bytes, MADV_DONTFORK);
  return static_cast<char*>(pages) + place.begin;
}

std::optional<OpenedGuard> Windows::opened_guard(int window,
                                                 std::span<const ArrayPlace> places) const {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  static unsigned char pages[guard_span / 4096];
  // One guard before every array, and one after the last.
  for (std::size_t n = 0; !places.empty() && n <= places.size(); ++n) {
    char* guard = at(window);
    if (n > 0) guard += places[n - 1].page_offset + places[n - 1].page_bytes;
    unsigned char* const end = pages + guard_span / page;
    if (mincore(guard, guard_span, pages) != 0) continue;
    const auto first = std::find_if(pages, end, [](unsigned char one) { return (one & 1U) != 0; });
    if (first == end) continue;
    const std::uint64_t in_guard = static_cast<std::uint64_t>(first - pages) * page;
    const bool nearer_to_next = n == 0 || (n < places.size() && in_guard >= guard_span / 2);
    const std::size_t array = nearer_to_next ? n : n - 1;
    char* touched = guard + in_guard;
    mprotect(touched, page, PROT_READ);
    const auto written = std::find_if(touched, touched + page, [](char byte) { return byte != 0; });
    const bool is_written = written != touched + page;
    const char* start = at(window) + places[array].page_offset + places[array].begin;
    return OpenedGuard{array, (is_written ? written : touched) - start, is_written};
  }
  return std::nullopt;
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
