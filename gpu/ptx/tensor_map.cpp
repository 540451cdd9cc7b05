// SPDX-License-Identifier: Apache-2.0
#include "ptx/tensor_map.hpp"

#include <algorithm>
#include <cstring>

#include "ptx/device.hpp"

namespace plumbline::ptx {
namespace {

constexpr unsigned bytes_of_type[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr unsigned types = 16, plain_types = 13;
constexpr std::uint64_t most_stride = std::uint64_t{1} << 40;
constexpr std::uint64_t most_size = std::uint64_t{1} << 32;
/// Of CU_TENSOR_MAP_SWIZZLE_*: the bytes within which chunks change their places.
constexpr unsigned spans[] = {0, 32, 64, 128, 128, 128, 128};

bool is_float(std::uint8_t type) {
  return type >= static_cast<std::uint8_t>(TensorType::f16) && type < plain_types;
}

std::string at(const char* argument, unsigned dimension, std::uint64_t value) {
  return std::string(argument) + "[" + std::to_string(dimension) + "] is " + std::to_string(value);
}

std::string is(const char* argument, std::uint64_t value) {
  return std::string(argument) + " is " + std::to_string(value);
}

}  // namespace

unsigned TensorMap::element_bytes() const { return type < plain_types ? bytes_of_type[type] : 1; }

std::uint32_t TensorMap::count(unsigned dimension) const {
  // "the first element of this array is ignored since TMA doesn't support the stride for dimension
  // zero"
  const std::uint32_t by = dimension == 0 || step[dimension] == 0 ? 1 : step[dimension];
  return (box[dimension] + by - 1) / by;
}

std::uint32_t TensorMap::box_bytes() const {
  std::uint64_t bytes = element_bytes();
  for (unsigned i = 0; i < rank; ++i) bytes *= count(i);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, ~std::uint32_t{0}));
}

std::string TensorMap::wrong() const {
  if (type >= types) return is("tensorDataType", type) + ", which is no CUtensorMapDataType";
  if (rank == 0 || rank > 5) return is("tensorRank", rank) + ": it must be 1 to 5";
  if (interleave > 2) return is("interleave", interleave) + ", which is no CUtensorMapInterleave";
  if (interleave != 0 && rank < 3)
    return is("tensorRank", rank) + ": an interleaved layout needs 3 or more";
  if (swizzle > 6) return is("swizzle", swizzle) + ", which is no CUtensorMapSwizzle";
  if (l2_promotion > 3)
    return is("l2Promotion", l2_promotion) + ", which is no CUtensorMapL2promotion";
  if (fill > 1) return is("oobFill", fill) + ", which is no CUtensorMapFloatOOBfill";
  if (interleave == 2 && swizzle != 1)
    return is("swizzle", swizzle) + ": CU_TENSOR_MAP_INTERLEAVE_32B needs SWIZZLE_32B";
  if (fill == 1 && !is_float(type))
    return "oobFill asks for NaN, which tensorDataType " + std::to_string(type) + " does not have";
  const unsigned align = interleave == 2 || type > 13 ? 32 : 16;
  if (address % align != 0)
    return "globalAddress is no multiple of " + std::to_string(align) + " bytes";
  for (unsigned i = 0; i < rank; ++i)
    if (size[i] == 0 || size[i] > most_size)
      return at("globalDim", i, size[i]) + ": it must be 1 to 2^32";
  for (unsigned i = 0; i + 1 < rank; ++i)
    if (stride[i] % align != 0 || stride[i] >= most_stride)
      return at("globalStrides", i, stride[i]) + ": it must be a multiple of " +
             std::to_string(align) + " below 2^40";
  for (unsigned i = 0; i < rank; ++i) {
    if (box[i] == 0 || box[i] > 256) return at("boxDim", i, box[i]) + ": it must be 1 to 256";
    if (step[i] == 0 || step[i] > 8)
      return at("elementStrides", i, step[i]) + ": it must be 1 to 8";
  }
  const unsigned inner = box[0] * element_bytes();
  if (interleave == 0 && type < plain_types && inner % 16 != 0)
    return at("boxDim", 0, box[0]) + ": its " + std::to_string(inner) +
           " bytes are no multiple of 16";
  if (interleave == 0 && type < plain_types && swizzle != 0 && inner > spans[swizzle])
    return at("boxDim", 0, box[0]) + ": its " + std::to_string(inner) +
           " bytes are more than the " + std::to_string(spans[swizzle]) + " of the swizzle";
  return "";
}

std::string TensorMap::lacking() const {
  if (interleave != 0) return "an interleaved layout";
  if (type >= plain_types) return "elements of 4 or 6 bits";
  if (swizzle > 3) return "a swizzle of chunks other than 16 bytes";
  if (swizzle != 0 && box[0] * element_bytes() != spans[swizzle])
    return "a box whose inner dimension has " + std::to_string(box[0] * element_bytes()) +
           " bytes, fewer than the " + std::to_string(spans[swizzle]) + " of the swizzle";
  return "";
}

void encode_tiled(void* to, std::uint32_t type, std::uint32_t rank, void* global_address,
                  const std::uint64_t* global_dim, const std::uint64_t* global_strides,
                  const std::uint32_t* box_dim, const std::uint32_t* element_strides,
                  std::uint32_t interleave, std::uint32_t swizzle, std::uint32_t l2_promotion,
                  std::uint32_t oob_fill) {
  const auto refuse = [](const std::string& text) {
    throw Refused(Refused::Reason::invalid_value, "cuTensorMapEncodeTiled: " + text);
  };
  if (to == nullptr || reinterpret_cast<std::uintptr_t>(to) % 64 != 0)
    refuse("tensorMap is null or no multiple of 64");
  if (global_address == nullptr) refuse("globalAddress is null");
  if (rank == 0 || rank > 5) refuse(is("tensorRank", rank) + ": it must be 1 to 5");
  if (global_dim == nullptr) refuse("globalDim is null");
  if (global_strides == nullptr && rank > 1) refuse("globalStrides is null");
  if (box_dim == nullptr) refuse("boxDim is null");
  if (element_strides == nullptr) refuse("elementStrides is null");
  // Beyond the fields' bits: to a number that is wrong, too.
  const auto small = [](std::uint32_t value) {
    return static_cast<std::uint8_t>(value > 0xff ? 0xff : value);
  };
  TensorMap map;
  map.mark = TensorMap::valid_mark;
  map.type = small(type);
  map.rank = small(rank);
  map.interleave = small(interleave);
  map.swizzle = small(swizzle);
  map.l2_promotion = small(l2_promotion);
  map.fill = small(oob_fill);
  map.address = reinterpret_cast<std::uintptr_t>(global_address);
  for (std::uint32_t i = 0; i < rank; ++i) {
    map.size[i] = global_dim[i];
    map.box[i] = static_cast<std::uint16_t>(box_dim[i] > 0xffff ? 0xffff : box_dim[i]);
    map.step[i] = small(element_strides[i]);
    if (i + 1 < rank) map.stride[i] = global_strides[i];
  }
  if (const std::string text = map.wrong(); !text.empty()) refuse(text);
  if (const std::string text = map.lacking(); !text.empty())
    throw Refused(Refused::Reason::not_supported,
                  "cuTensorMapEncodeTiled: this device does not have " + text);
  std::memcpy(to, &map, sizeof map);
}

}  // namespace plumbline::ptx
