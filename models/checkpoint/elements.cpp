// SPDX-License-Identifier: Apache-2.0
#include "models/checkpoint/elements.hpp"

#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace plumbline::checkpoint {
namespace {

/// The bytes stand at any address, so every element is copied out before it is a number.
template <class Stored>
void widen_as(std::span<const std::byte> bytes, std::size_t begin, std::span<double> values) {
  const std::byte* from = bytes.data() + begin * sizeof(Stored);
  for (double& value : values) {
    Stored stored;
    std::memcpy(static_cast<void*>(&stored), from, sizeof stored);
    from += sizeof stored;
    value = static_cast<double>(stored);
  }
}

}  // namespace

bool is_floating_point(Dtype dtype) {
  return dtype == Dtype::f64 || dtype == Dtype::f32 || dtype == Dtype::bf16 || dtype == Dtype::f16;
}

void widen(const TensorView& tensor, std::size_t begin, std::span<double> values) {
  switch (tensor.dtype) {
    case Dtype::f64:
      return widen_as<double>(tensor.bytes, begin, values);
    case Dtype::f32:
      return widen_as<float>(tensor.bytes, begin, values);
    case Dtype::bf16:
      return widen_as<Eigen::bfloat16>(tensor.bytes, begin, values);
    case Dtype::f16:
      return widen_as<Eigen::half>(tensor.bytes, begin, values);
    default:
      throw std::logic_error("a dtype that is no floating-point number");
  }
}

}  // namespace plumbline::checkpoint
