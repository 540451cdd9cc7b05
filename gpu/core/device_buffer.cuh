// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_DEVICE_BUFFER_CUH
#define PLUMBLINE_GPU_CORE_DEVICE_BUFFER_CUH

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// Owns `count` values of device memory. Emulated, it is a block of malloc, so that
/// AddressSanitizer sees accesses beyond it.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;

  explicit DeviceBuffer(std::size_t count) : count_(count) {
    if (count == 0) return;
    void* memory = nullptr;
#if PLUMBLINE_ON_GPU
    check(cudaMalloc(&memory, bytes()));
#else
    memory = std::malloc(bytes());
    if (!memory) throw std::bad_alloc();
#endif
    data_ = static_cast<T*>(memory);
  }

  ~DeviceBuffer() {
#if PLUMBLINE_ON_GPU
    cudaFree(data_);
#else
    std::free(data_);
#endif
  }

  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  T* data() const { return data_; }
  std::size_t size() const { return count_; }

  /// Copies the whole buffer from or to host memory, in the order of `stream`.
  void copy_from_host([[maybe_unused]] const Stream& stream, const void* host) {
    if (count_ == 0) return;
#if PLUMBLINE_ON_GPU
    check(cudaMemcpyAsync(data_, host, bytes(), cudaMemcpyHostToDevice, stream.get()));
#else
    std::memcpy(data_, host, bytes());
#endif
  }

  void copy_to_host([[maybe_unused]] const Stream& stream, void* host) const {
    if (count_ == 0) return;
#if PLUMBLINE_ON_GPU
    check(cudaMemcpyAsync(host, data_, bytes(), cudaMemcpyDeviceToHost, stream.get()));
#else
    std::memcpy(host, data_, bytes());
#endif
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }

  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace plumbline::gpu

#endif
