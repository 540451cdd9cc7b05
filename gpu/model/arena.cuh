// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_MODEL_ARENA_CUH
#define PLUMBLINE_GPU_MODEL_ARENA_CUH

#include <cstddef>

namespace plumbline::gpu {

/// Hands out pieces of one device buffer, one after the other, at multiples of 256 bytes. Without a
/// buffer it only counts: whatever takes its memory from an arena is built twice, first to know how
/// much there must be.
class Arena {
 public:
  explicit Arena(unsigned char* memory = nullptr) : memory_(memory) {}

  template <class T>
  T* take(std::size_t count) {
    unsigned char* const piece = memory_ ? memory_ + used_ : nullptr;
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return reinterpret_cast<T*>(piece);
  }
  std::size_t bytes() const { return used_; }

 private:
  unsigned char* memory_;
  std::size_t used_ = 0;
};

}  // namespace plumbline::gpu

#endif
