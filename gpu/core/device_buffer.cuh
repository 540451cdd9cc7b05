// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_DEVICE_BUFFER_CUH
#define PLUMBLINE_GPU_CORE_DEVICE_BUFFER_CUH

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "core/launch.cuh"
#include "support/out_of_memory.hpp"

#if !PLUMBLINE_ON_GPU
#include "emulation/sanitizers.hpp"
#endif

namespace plumbline::gpu {

/// Bytes that all device buffers of the process hold, and the most that they held at once.
struct DeviceMemory {
  static inline std::atomic<std::size_t> used{0}, peak{0};

  static void add(std::size_t bytes) {
    const std::size_t now = used += bytes;
    std::size_t most = peak;
    while (now > most && !peak.compare_exchange_weak(most, now)) {
    }
  }
};

/// Owns `count` values of device memory. Every byte of it is 0xff at first, which is NaN in any
/// format of ours and -1 as an integer: what a kernel forgets to write does not look right by
/// chance. Emulated, it is a block of malloc, so that AddressSanitizer sees accesses beyond it.
template <class T>
class DeviceBuffer {
 public:
  /// The poison is written in the order of `stream`. @throws OutOfMemory naming the bytes.
  DeviceBuffer([[maybe_unused]] const Stream& stream, std::size_t count) : count_(count) {
    if (count == 0) return;
      // The pointer owns the memory before the next call can throw.
#if PLUMBLINE_ON_GPU
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes());
    if (status == cudaErrorMemoryAllocation) throw out_of_memory();
    stream.check(status);
    memory_ = {static_cast<T*>(memory), Free{bytes()}};
    DeviceMemory::add(bytes());
    stream.check(cudaMemsetAsync(memory, kPoison, bytes(), stream.get()));
#else
    memory_ = {static_cast<T*>(std::malloc(bytes())), Free{bytes()}};
    if (!memory_) throw out_of_memory();
    DeviceMemory::add(bytes());
    std::memset(static_cast<void*>(data()), kPoison, bytes());
#endif
  }

  T* data() const { return memory_.get(); }
  std::size_t size() const { return count_; }

  /// Copies host memory to the values first .. first + count - 1, in the order of `stream`.
  void copy_from_host([[maybe_unused]] const Stream& stream, const void* host, std::size_t first,
                      std::size_t count) {
    if (count == 0) return;
#if PLUMBLINE_ON_GPU
    stream.check(cudaMemcpyAsync(data() + first, host, count * sizeof(T), cudaMemcpyHostToDevice,
                                 stream.get()));
#else
    std::memcpy(static_cast<void*>(data() + first), host, count * sizeof(T));
#endif
  }

  /// Copies the whole buffer to host memory, in the order of `stream`.
  void copy_to_host([[maybe_unused]] const Stream& stream, void* host) const {
    if (count_ == 0) return;
#if PLUMBLINE_ON_GPU
    stream.check(cudaMemcpyAsync(host, data(), bytes(), cudaMemcpyDeviceToHost, stream.get()));
#else
    std::memcpy(host, data(), bytes());
#endif
  }

  /// To AddressSanitizer the values first .. first + count - 1 are out of bounds from now on, where
  /// it watches: under emulation.
  void forbid([[maybe_unused]] std::size_t first, [[maybe_unused]] std::size_t count) const {
#if !PLUMBLINE_ON_GPU
    emulation::forbid(data() + first, count * sizeof(T));
#endif
  }

  /// Takes back every `forbid`.
  void permit() const {
#if !PLUMBLINE_ON_GPU
    emulation::permit(data(), bytes());
#endif
  }

 private:
  static constexpr int kPoison = 0xff;

  struct Free {
    std::size_t bytes = 0;
    void operator()(T* memory) const {
      DeviceMemory::used -= bytes;
#if PLUMBLINE_ON_GPU
      cudaFree(memory);
#else
      std::free(memory);
#endif
    }
  };

  std::size_t bytes() const { return count_ * sizeof(T); }

  OutOfMemory out_of_memory() const {
    const std::string asked = std::to_string(bytes()) + " bytes more were asked for";
#if PLUMBLINE_ON_GPU
    cudaGetLastError();  // else the next launch would take this error for its own
    std::size_t free = 0, all = 0;
    check(cudaMemGetInfo(&free, &all));
    return OutOfMemory("not enough GPU memory for this input: " + asked + ", " +
                       std::to_string(free) + " of " + std::to_string(all) + " are free");
#else
    return OutOfMemory("not enough memory for this input: " + asked);
#endif
  }

  std::unique_ptr<T, Free> memory_;
  std::size_t count_;
};

}  // namespace plumbline::gpu

#endif
