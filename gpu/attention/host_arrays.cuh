// SPDX-License-Identifier: Apache-2.0
// The caller's arrays on the device.
#ifndef PLUMBLINE_GPU_ATTENTION_HOST_ARRAYS_CUH
#define PLUMBLINE_GPU_ATTENTION_HOST_ARRAYS_CUH

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/device_buffer.cuh"

namespace plumbline::gpu {

/// A kernel wrote outside of its output.
class DamagedCanary : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An input on the device; null when the host has none. On a GPU, where no sanitizer watches, there
/// is NaN (or -1) before and after it, so that a read beyond an end shows in the result.
template <class T>
class Input {
 public:
  Input(const Stream& stream, const void* host, std::size_t count)
      : buffer_(stream, host ? count + 2 * kPadding : 0) {
    if (host) buffer_.copy_from_host(stream, host, kPadding, count);
  }
  const T* data() const { return buffer_.data() ? buffer_.data() + kPadding : nullptr; }

 private:
  static constexpr std::size_t kPadding = PLUMBLINE_ON_GPU ? 4096 : 0;  // elements

  DeviceBuffer<T> buffer_;
};

/// An output on the device between two canaries; null when the host asks for none. The caller's
/// content goes to the device first, so that what the kernel leaves out keeps it.
template <class T>
class Output {
 public:
  Output(const Stream& stream, void* host, std::size_t count, const char* name)
      : stream_(stream),
        host_(host),
        count_(count),
        name_(name),
        buffer_(stream, host ? count + 2 * kCanary : 0) {
    if (!host) return;
    const std::vector<unsigned char> canary(kCanaryBytes, kCanaryByte);
    buffer_.copy_from_host(stream, canary.data(), 0, kCanary);
    buffer_.copy_from_host(stream, host, kCanary, count);
    buffer_.copy_from_host(stream, canary.data(), kCanary + count, kCanary);
    buffer_.forbid(0, kCanary);
    buffer_.forbid(kCanary + count, kCanary);
  }

  T* data() const { return host_ ? buffer_.data() + kCanary : nullptr; }

  /// Starts the copy back; when the stream has come to its end, `deliver` hands it to the caller.
  void fetch() {
    if (!host_) return;
    staged_.resize(buffer_.size() * sizeof(T));
    buffer_.permit();
    buffer_.copy_to_host(stream_, staged_.data());
  }

  void deliver() {
    if (!host_) return;
    const auto begin = staged_.begin() + kCanaryBytes, end = staged_.end() - kCanaryBytes;
    const auto whole = [](unsigned char byte) { return byte == kCanaryByte; };
    if (!std::all_of(staged_.begin(), begin, whole))
      throw DamagedCanary(std::string("the kernel wrote before the start of ") + name_);
    if (!std::all_of(end, staged_.end(), whole))
      throw DamagedCanary(std::string("the kernel wrote beyond the end of ") + name_);
    std::memcpy(host_, &*begin, count_ * sizeof(T));
  }

 private:
  static constexpr std::size_t kCanaryBytes = 16384;  // 32 rows of 128 floats
  static constexpr std::size_t kCanary = kCanaryBytes / sizeof(T);
  static constexpr unsigned char kCanaryByte = 0xa5;

  const Stream& stream_;
  void* host_;
  std::size_t count_;
  const char* name_;
  std::vector<unsigned char> staged_;
  DeviceBuffer<T> buffer_;
};

}  // namespace plumbline::gpu

#endif
