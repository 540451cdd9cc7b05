// SPDX-License-Identifier: Apache-2.0
// Between vectors of numbers and tensors in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "support/safetensors.hpp"
#include "verdict/cases/case.hpp"
#include "verdict/cases/tensor_shapes.hpp"

namespace plumbline::cases {

/// Of case files and of files of outputs: the JSON that says what the tensors are stands in the
/// metadata under this key, as a text.
inline constexpr const char* metadata_key = "plumbline";
inline constexpr int format_version = 1;

Dtype dtype_of(Format);

/// Takes tensors out of a parsed file one by one, and knows in the end which were left over.
class TensorReader {
 public:
  explicit TensorReader(const SafetensorsView& view) : left_(view.tensors) {}

  bool has(const std::string& name) const { return left_.contains(name); }
  /// @throws BadInput if the tensor is missing.
  const TensorView& peek(const std::string& name) const;

  /// The numbers, widened. @throws BadInput if the tensor is missing, has a dtype that is not among
  /// `dtypes`, or has another shape.
  std::vector<float> floats(const std::string& name, const std::vector<Dtype>& dtypes,
                            const Shape& shape);
  std::vector<std::int32_t> integers(const std::string& name, const Shape& shape);
  /// Of U8 or BOOL.
  std::vector<std::uint8_t> bytes(const std::string& name, const Shape& shape);

  /// @throws BadInput naming a tensor that was not taken. `reader` says who does not use it.
  void finish(const std::string& reader) const;

 private:
  TensorView take(const std::string& name, const std::vector<Dtype>& dtypes, const Shape& shape);

  std::map<std::string, TensorView> left_;
};

/// Collects tensors for write_safetensors and keeps the narrowed copies alive until then.
class TensorWriter {
 public:
  void add(const std::string& name, const Shape&, const std::vector<float>&, Format = Format::fp32);
  void add(const std::string& name, const Shape&, const std::vector<std::int32_t>&);
  /// As U8.
  void add(const std::string& name, const Shape&, const std::vector<std::uint8_t>&);
  const std::vector<NamedTensor>& tensors() const { return tensors_; }

 private:
  std::vector<NamedTensor> tensors_;
  std::deque<std::vector<std::byte>> narrowed_;  // a deque leaves its elements where they are
};

}  // namespace plumbline::cases
