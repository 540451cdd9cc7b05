// SPDX-License-Identifier: Apache-2.0
// What the parts of ops_runner share.
#pragma once

#include <cstdint>
#include <vector>

#include "core/device_buffer.cuh"
#include "core/host_element.cuh"

namespace plumbline::ops_runner {

inline const gpu::Stream& stream() {
  static const gpu::Stream instance;
  return instance;
}

inline std::uint64_t hash;  ///< FNV-1a of every result so far

/// Knuth's MMIX generator: enough for inputs that nobody judges.
inline float number() {
  static std::uint64_t state = 7;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<float>(state >> 33) / 1073741824.0f - 1.0f;  // in [-1, 1)
}

/// An input, or a result whose bytes count in the checksum when it goes.
template <class T>
class Array {
 public:
  explicit Array(std::size_t count, bool squares = false) : buffer_(stream(), count) {
    std::vector<T> values(count);
    for (T& value : values) {
      const float x = number();
      value = gpu::element_on_host<T>(squares ? x * x : x);
    }
    buffer_.copy_from_host(stream(), values.data(), 0, count);
    stream().wait();
  }
  ~Array() {
    std::vector<unsigned char> bytes(buffer_.size() * sizeof(T));
    buffer_.copy_to_host(stream(), bytes.data());
    stream().wait();
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211u;
  }
  operator T*() const { return buffer_.data(); }

 private:
  gpu::DeviceBuffer<T> buffer_;
};

/// Numbers of tokens, 0 to rows - 1.
class Ids {
 public:
  Ids(std::size_t count, int rows) : buffer_(stream(), count) {
    std::vector<int> values(count);
    for (int& id : values) id = static_cast<int>((number() + 1.0f) / 2.0f * 0.999f * rows);
    buffer_.copy_from_host(stream(), values.data(), 0, count);
    stream().wait();
  }
  operator const int*() const { return buffer_.data(); }

 private:
  gpu::DeviceBuffer<int> buffer_;
};

struct Operation {
  const char* name;
  void (*run)();
};

/// The operations on whole rows: norms, embeddings, the loss, prefix sums, gates.
std::vector<Operation> row_operations();

}  // namespace plumbline::ops_runner
