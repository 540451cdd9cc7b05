// SPDX-License-Identifier: Apache-2.0
#include "support/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "support/error.hpp"
#include "support/strict_json.hpp"
#include "support/text.hpp"

namespace plumbline {
namespace {

using nlohmann::json;

// The format is little-endian; so is every machine with CUDA. Bytes are copied as they are.
static_assert(std::endian::native == std::endian::little);

constexpr std::pair<Dtype, std::string_view> dtype_names[] = {
    {Dtype::f32, "F32"},     {Dtype::f64, "F64"},         {Dtype::bf16, "BF16"},
    {Dtype::f16, "F16"},     {Dtype::f8_e4m3, "F8_E4M3"}, {Dtype::f8_e5m2, "F8_E5M2"},
    {Dtype::i32, "I32"},     {Dtype::i64, "I64"},         {Dtype::u8, "U8"},
    {Dtype::boolean, "BOOL"}};

Dtype dtype_from(const json& value, const std::string& tensor) {
  for (const auto& [dtype, text] : dtype_names) {
    if (value == text) return dtype;
  }
  throw BadInput(tensor + ": dtype", shown(value),
                 "one of F32, F64, BF16, F16, F8_E4M3, F8_E5M2, I32, I64, U8, BOOL");
}

std::vector<std::int64_t> shape_from(const json& value, const std::string& tensor) {
  constexpr std::size_t largest_rank = 8;
  const auto reject = [&] {
    throw BadInput(tensor + ": shape", shown(value), "an array of at most 8 sizes from 0 to 2^40");
  };
  if (!value.is_array() || value.size() > largest_rank) reject();
  std::vector<std::int64_t> shape;
  for (const json& size : value) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > (std::uint64_t{1} << 40))
      reject();
    shape.push_back(size.get<std::int64_t>());
  }
  return shape;
}

struct Range {
  std::uint64_t begin, end;
};

Range offsets_from(const json& value, const std::string& tensor) {
  const bool pair = value.is_array() && value.size() == 2 && value[0].is_number_unsigned() &&
                    value[1].is_number_unsigned();
  const Range range =
      pair ? Range{value[0].get<std::uint64_t>(), value[1].get<std::uint64_t>()} : Range{1, 0};
  if (range.begin > range.end)
    throw BadInput(tensor + ": data_offsets", shown(value), "[begin, end] with begin <= end");
  return range;
}

void require_bytes(const TensorView& view, const Range& range, const std::string& tensor) {
  // Eight sizes of up to 2^40 overflow, so the product is checked at each step.
  std::uint64_t bytes = size_of(view.dtype);
  bool overflow = false;
  for (const std::int64_t size : view.shape) {
    overflow |= __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes);
  }
  if (overflow || bytes != range.end - range.begin) {
    throw BadInput(tensor + ": data_offsets", fmt::format("[{}, {}]", range.begin, range.end),
                   overflow ? fmt::format("a shape whose bytes can be counted, not [{}]",
                                          fmt::join(view.shape, ", "))
                            : fmt::format("{} bytes for {} of shape [{}]", bytes, name(view.dtype),
                                          fmt::join(view.shape, ", ")));
  }
}

/// The tensors in the order of their bytes must cover the data exactly: two that overlap would be
/// one hiding in the other, and bytes of no tensor could hide anything.
void require_tiling(std::vector<std::pair<Range, std::string>> ranges, std::uint64_t data_size) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.begin, a.first.end) < std::pair(b.first.begin, b.first.end);
  });
  // First of all: a file that was cut short is that, and no quarrel between its tensors.
  std::uint64_t told = 0;
  for (const auto& [range, tensor] : ranges) told = std::max(told, range.end);
  if (told > data_size) {
    throw BadInput("length of the data", fmt::format("{} bytes", data_size),
                   fmt::format("{} bytes, where the last tensor ends: the file is damaged or was "
                               "cut short",
                               told));
  }
  std::uint64_t covered = 0;
  for (const auto& [range, tensor] : ranges) {
    if (range.begin != covered) {
      throw BadInput(tensor + ": data_offsets", fmt::format("[{}, {}]", range.begin, range.end),
                     fmt::format("begin {}, where the tensor before it ends ({})", covered,
                                 range.begin < covered ? "the two overlap" : "bytes of no tensor"));
    }
    covered = range.end;
  }
  if (covered != data_size) {
    throw BadInput(
        "length of the data", fmt::format("{} bytes", data_size),
        fmt::format("{} bytes, where the last tensor ends: the file is damaged", covered));
  }
}

/// @throws BadInput for what is no such file, or ends within its header.
std::uint64_t header_size_of(std::span<const std::byte> file) {
  constexpr std::size_t begin = sizeof(std::uint64_t);
  const std::string has = counted(file.size(), "byte");
  if (file.size() < begin)
    throw BadInput("file length", has,
                   "at least the 8 bytes of header length that a safetensors file begins with");
  std::uint64_t size = 0;
  std::memcpy(&size, file.data(), begin);
  if (size <= std::min<std::uint64_t>(largest_header, file.size() - begin)) return size;
  // Every header is a JSON object: section "Format".
  if (file.size() == begin ? size > largest_header : file[begin] != std::byte{'{'}) {
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    throw BadInput("file", "no safetensors file: it begins with " + in_quotes(text, 16),
                   "8 bytes of header length, then a header in JSON");
  }
  if (size > largest_header)
    throw BadInput("header length", fmt::format("{} bytes", size),
                   fmt::format("at most {}", largest_header));
  throw BadInput("file length", has,
                 fmt::format("at least {} bytes, where the header ends: the file is damaged or was "
                             "cut short",
                             begin + size));
}

std::map<std::string, std::string> metadata_from(const json& value) {
  if (!value.is_object()) throw BadInput("__metadata__", shown(value), "a map of texts");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) {
      throw BadInput("__metadata__: " + in_quotes(key), shown(text),
                     "a text (JSON inside it must be written as one string)");
    }
    metadata.emplace(key, text.get<std::string>());
  }
  return metadata;
}

}  // namespace

std::string_view name(Dtype dtype) { return dtype_names[static_cast<int>(dtype)].second; }

std::size_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
    case Dtype::i64:
      return 8;
    case Dtype::f32:
    case Dtype::i32:
      return 4;
    case Dtype::bf16:
    case Dtype::f16:
      return 2;
    case Dtype::f8_e4m3:
    case Dtype::f8_e5m2:
    case Dtype::u8:
    case Dtype::boolean:
      return 1;
  }
  throw std::logic_error("a dtype without size");
}

SafetensorsView parse_safetensors(std::span<const std::byte> file) {
  const std::uint64_t header_size = header_size_of(file);
  const std::span<const std::byte> data = file.subspan(sizeof header_size + header_size);
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + sizeof header_size,
                              header_size);
  const json header = parse_strict_json(text, "header");
  if (!header.is_object()) throw BadInput("header", shown(header), "a JSON object");

  SafetensorsView view;
  std::vector<std::pair<Range, std::string>> ranges;
  for (const auto& [key, value] : header.items()) {
    if (key == "__metadata__") {
      view.metadata = metadata_from(value);
      continue;
    }
    const std::string what = "tensor " + in_quotes(key);
    Fields fields(value, what);
    const auto required = [&](const char* field) -> const json& {
      const json* found = fields.any(field);
      if (!found) throw BadInput(fields.place(field), "missing", "a value");
      return *found;
    };
    TensorView tensor;
    tensor.dtype = dtype_from(required("dtype"), what);
    tensor.shape = shape_from(required("shape"), what);
    const Range range = offsets_from(required("data_offsets"), what);
    fields.finish();
    require_bytes(tensor, range, what);
    if (range.end <= data.size())  // if not, no view is returned
      tensor.bytes = data.subspan(range.begin, range.end - range.begin);
    ranges.emplace_back(range, what);
    view.tensors.emplace(key, std::move(tensor));
  }
  require_tiling(std::move(ranges), data.size());
  return view;
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     const std::vector<TensorHeader>& tensors,
                                     const std::map<std::string, std::string>& metadata)
    : file_(path) {
  json header = {{"__metadata__", metadata}};
  for (const auto& [tensor, dtype, shape] : tensors) {
    std::uint64_t bytes = size_of(dtype);
    for (const std::int64_t size : shape) bytes *= static_cast<std::uint64_t>(size);
    header[tensor] = {
        {"dtype", name(dtype)}, {"shape", shape}, {"data_offsets", {left_, left_ + bytes}}};
    left_ += bytes;
  }
  // A kernel's name comes from a library of others: text that is no UTF-8 is replaced, not thrown
  // at.
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t header_size = text.size();
  file_.write(std::as_bytes(std::span(&header_size, 1)));
  file_.write(text);
}

void SafetensorsWriter::write(std::span<const std::byte> bytes) {
  if (bytes.size() > left_) throw std::logic_error("more bytes than the header tells");
  file_.write(bytes);
  left_ -= bytes.size();
}

void SafetensorsWriter::commit() {
  if (left_ != 0) throw std::logic_error("fewer bytes than the header tells");
  file_.commit();
}

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<TensorHeader> headers;
  for (const auto& [tensor, view] : tensors) headers.push_back({tensor, view.dtype, view.shape});
  SafetensorsWriter writer(path, headers, metadata);
  for (const auto& [tensor, view] : tensors) writer.write(view.bytes);
  writer.commit();
}

}  // namespace plumbline
