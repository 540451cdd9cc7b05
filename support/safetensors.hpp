// SPDX-License-Identifier: Apache-2.0
// The safetensors container: eight bytes of header length, a JSON header, the tensors' bytes.
// https://github.com/huggingface/safetensors, section "Format"; read strictly, within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/atomic_file.hpp"

namespace plumbline {

/// The element types of our files and of published models, out of those that the format knows.
enum class Dtype { f32, f64, bf16, f16, f8_e4m3, f8_e5m2, i32, i64, u8, boolean };
/// As in the header: F32, F64, BF16, F16, F8_E4M3, F8_E5M2, I32, I64, U8, BOOL.
std::string_view name(Dtype);
std::size_t size_of(Dtype);

/// A tensor inside a file's bytes. The bytes may stand at any address: copy them out by memcpy.
struct TensorView {
  Dtype dtype = Dtype::f32;
  std::vector<std::int64_t> shape;  ///< row-major
  std::span<const std::byte> bytes;
};

/// A parsed file; it points into the bytes that were parsed.
struct SafetensorsView {
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorView> tensors;
};

/// The format allows 100 MB of header. A case has a dozen tensors, GPT-2 medium 292 of about 100
/// bytes each; a hundred layers more would fit.
inline constexpr std::uint64_t largest_header = 1 << 20;

/// @throws BadInput naming the field, what it says and what was expected, when: the file is no
/// safetensors file or shorter than its header says, which is told as damage; the header is longer
/// than `largest_header`, is no JSON object, nests too deeply, or has a key twice; metadata is no
/// map of texts; a tensor has another dtype than those above, a negative or overflowing shape,
/// offsets out of range, or bytes that do not match shape and dtype; tensors overlap, or leave
/// bytes that belong to none.
SafetensorsView parse_safetensors(std::span<const std::byte> file);

/// What the header says of a tensor.
struct TensorHeader {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<std::int64_t> shape;
};

/// A file under construction, whole or not at all, whose tensors need not be in memory together.
/// Data begins at a multiple of eight bytes.
class SafetensorsWriter {
 public:
  /// Writes the header. @throws BadInput naming the path if it cannot be written.
  SafetensorsWriter(const std::filesystem::path&, const std::vector<TensorHeader>&,
                    const std::map<std::string, std::string>& metadata);
  /// The next bytes of the tensors, which follow each other in the order of the header.
  void write(std::span<const std::byte>);
  /// @throws std::logic_error unless all bytes were written, and none beyond them.
  void commit();

 private:
  AtomicFile file_;
  std::uint64_t left_ = 0;  ///< bytes
};

struct NamedTensor {
  std::string name;
  TensorView tensor;
};

/// Writes whole or not at all; data begins at a multiple of eight bytes.
/// @throws BadInput naming the path if it cannot be written.
void write_safetensors(const std::filesystem::path&, const std::vector<NamedTensor>&,
                       const std::map<std::string, std::string>& metadata);

}  // namespace plumbline
