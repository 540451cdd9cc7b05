// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/tensor_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
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
    case Format::e4m3:
      return Dtype::f8_e4m3;
    case Format::e5m2:
      return Dtype::f8_e5m2;
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
  const auto& formats = all_formats();
  const auto format = std::find_if(formats.begin(), formats.end(),
                                   [&](Format known) { return dtype_of(known) == view.dtype; });
  if (format == formats.end()) throw std::logic_error("a dtype that is no format");
  return widened(view.bytes, *format);
}

std::vector<std::int32_t> TensorReader::integers(const std::string& tensor, const Shape& shape) {
  return copied<std::int32_t>(take(tensor, {Dtype::i32}, shape).bytes);
}

std::vector<std::uint8_t> TensorReader::bytes(const std::string& tensor, const Shape& shape) {
  return copied<std::uint8_t>(take(tensor, {Dtype::u8, Dtype::boolean}, shape).bytes);
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
  const auto& narrow = narrowed_.emplace_back(stored_bytes(values, format));
  tensors_.push_back({name, {dtype_of(format), shape, narrow}});
}

void TensorWriter::add(const std::string& name, const Shape& shape,
                       const std::vector<std::int32_t>& values) {
  tensors_.push_back({name, {Dtype::i32, shape, std::as_bytes(std::span(values))}});
}

void TensorWriter::add(const std::string& name, const Shape& shape,
                       const std::vector<std::uint8_t>& values) {
  tensors_.push_back({name, {Dtype::u8, shape, std::as_bytes(std::span(values))}});
}

}  // namespace plumbline::cases
