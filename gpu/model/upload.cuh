// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_MODEL_UPLOAD_CUH
#define PLUMBLINE_GPU_MODEL_UPLOAD_CUH

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/host_element.cuh"
#include "core/launch.cuh"

namespace plumbline::gpu {

/// Copies to device memory, in the order of the stream. Host memory that is not pinned, as none of
/// ours is, has been read when it returns.
template <class T>
void upload([[maybe_unused]] const Stream& stream, const T* host, std::size_t count, T* device) {
#if PLUMBLINE_ON_GPU
  stream.check(
      cudaMemcpyAsync(device, host, count * sizeof(T), cudaMemcpyHostToDevice, stream.get()));
#else
  std::memcpy(device, host, count * sizeof(T));
#endif
}

template <class T>
void upload(const Stream& stream, const std::vector<T>& host, T* device) {
  upload(stream, host.data(), host.size(), device);
}

/// Copies to host memory, and waits for it.
template <class T>
void download(const Stream& stream, const T* device, std::size_t count, T* host) {
#if PLUMBLINE_ON_GPU
  stream.check(
      cudaMemcpyAsync(host, device, count * sizeof(T), cudaMemcpyDeviceToHost, stream.get()));
#else
  std::memcpy(host, device, count * sizeof(T));
#endif
  stream.wait();
}

/// Numbers of any format as fp32.
template <class Element>
void download_floats(const Stream& stream, const Element* device, std::size_t count, float* host) {
  std::vector<Element> numbers(count);
  download(stream, device, count, numbers.data());
  std::ranges::transform(numbers, host, [](const Element& x) { return float_on_host(x); });
}

/// Between places of device memory that do not overlap, in the order of the stream.
template <class T>
void copy_on_device([[maybe_unused]] const Stream& stream, const T* from, std::size_t count,
                    T* to) {
  if (count == 0) return;
#if PLUMBLINE_ON_GPU
  stream.check(
      cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToDevice, stream.get()));
#else
  std::memcpy(to, from, count * sizeof(T));
#endif
}

}  // namespace plumbline::gpu

#endif
