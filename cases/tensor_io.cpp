// SPDX-License-Identifier: Apache-2.0
#include "cases/tensor_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::cases {
namespace {

template <class T>
std::vector<T> copied(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  // Not into the null pointer of an empty vector: memcpy forbids it even for no bytes.
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

Dtype dtype_of(Format format) {
  switch (format) {
    case Format::bf16:
      return Dtype::bf16;
    case Format::fp16:
      return Dtype::f16;
    case Format::fp32:
    case Format::tf32:
      return Dtype::f32;
  }
  return Dtype::f32;
}

const TensorView& TensorReader::peek(const std::string& name) const {
  const auto found = left_.find(name);
  if (found == left_.end()) {
    throw BadInput("tensor " + in_quotes(name), "missing", "a tensor of that name");
  }
  return found->second;
}

TensorView TensorReader::take(const std::string& tensor, const std::vector<Dtype>& dtypes,
                              const Shape& shape) {
  TensorView view = peek(tensor);
  const std::string what = "tensor " + in_quotes(tensor);
  if (std::find(dtypes.begin(), dtypes.end(), view.dtype) == dtypes.end()) {
    std::vector<std::string_view> names;
    for (const Dtype dtype : dtypes) names.push_back(name(dtype));
    throw BadInput(what + ": dtype", in_quotes(name(view.dtype)),
                   fmt::format("{}", fmt::join(names, " or ")));
  }
  if (view.shape != shape) {
    throw BadInput(what + ": shape", fmt::format("[{}]", fmt::join(view.shape, ", ")),
                   fmt::format("[{}]", fmt::join(shape, ", ")));
  }
  left_.erase(tensor);
  return view;
}

std::vector<float> TensorReader::floats(const std::string& tensor, const std::vector<Dtype>& dtypes,
                                        const Shape& shape) {
  const TensorView view = take(tensor, dtypes, shape);
  if (view.dtype == Dtype::f32) return copied<float>(view.bytes);
  const auto narrow = copied<std::uint16_t>(view.bytes);
  std::vector<float> values(narrow.size());
  std::transform(narrow.begin(), narrow.end(), values.begin(),
                 view.dtype == Dtype::bf16 ? from_bf16 : from_fp16);
  return values;
}

std::vector<std::int32_t> TensorReader::integers(const std::string& tensor, const Shape& shape) {
  return copied<std::int32_t>(take(tensor, {Dtype::i32}, shape).bytes);
}

void TensorReader::finish(const std::string& reader) const {
  if (left_.empty()) return;
  throw BadInput("tensor " + in_quotes(left_.begin()->first), "unknown",
                 "only tensors that " + reader + " uses");
}

void TensorWriter::add(const std::string& name, const Shape& shape,
                       const std::vector<float>& values, Format format) {
  if (dtype_of(format) == Dtype::f32) {
    tensors_.push_back({name, {Dtype::f32, shape, std::as_bytes(std::span(values))}});
    return;
  }
  auto& narrow = narrowed_.emplace_back(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(),
                 format == Format::bf16 ? to_bf16 : to_fp16);
  tensors_.push_back({name, {dtype_of(format), shape, std::as_bytes(std::span(narrow))}});
}

void TensorWriter::add(const std::string& name, const Shape& shape,
                       const std::vector<std::int32_t>& values) {
  tensors_.push_back({name, {Dtype::i32, shape, std::as_bytes(std::span(values))}});
}

}  // namespace plumbline::cases
