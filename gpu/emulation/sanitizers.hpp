// SPDX-License-Identifier: Apache-2.0
// What the sanitizers must be told about fibers and barriers; nothing in an ordinary build.
// PLUMBLINE_THREAD_SANITIZER comes from the build system, because the scheduler itself is compiled
// without -fsanitize=thread: instrumented, its own fiber switches would be reported without end.
#ifndef PLUMBLINE_GPU_EMULATION_SANITIZERS_HPP
#define PLUMBLINE_GPU_EMULATION_SANITIZERS_HPP

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef PLUMBLINE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace plumbline::emulation {

/// Marks memory as out of bounds (AddressSanitizer).
inline void forbid([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(begin, bytes);
#endif
}

/// Takes back `forbid`.
inline void permit([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  ASAN_UNPOISON_MEMORY_REGION(begin, bytes);
#endif
}

/// All that this thread did comes before what a thread does after `acquire` of the same tag
/// (ThreadSanitizer).
inline void release([[maybe_unused]] void* tag) {
#ifdef PLUMBLINE_THREAD_SANITIZER
  __tsan_release(tag);
#endif
}

/// See `release`.
inline void acquire([[maybe_unused]] void* tag) {
#ifdef PLUMBLINE_THREAD_SANITIZER
  __tsan_acquire(tag);
#endif
}

}  // namespace plumbline::emulation

#endif
