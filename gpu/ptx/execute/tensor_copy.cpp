// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk.tensor in tiled mode: a box of a tensor in global memory, of which shared memory
// has the elements one behind the other, the innermost dimension first; tensormap.replace.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "ptx/execute/bulk.hpp"
#include "ptx/execute/faults.hpp"
#include "ptx/execute/memory_flags.hpp"
#include "ptx/execute/warp_lanes.hpp"
#include "ptx/profile/probe.hpp"
#include "ptx/tensor_map.hpp"

namespace plumbline::ptx {
namespace {

TensorMap map_of(Warp& w, const Operation& o, const BulkCopy& copy, std::uint32_t lane) {
  const std::uint64_t at = address_of(w, o, copy.map, lane);
  if (at % 64 != 0) fault_misaligned(w, o, lane, at, 64);
  const Allocation* last = nullptr;
  TensorMap map;
  std::memcpy(&map, global_bytes(w, o, lane, at, sizeof map, false, true, last), sizeof map);
  const auto bad = [&](const std::string& text) {
    fault(w, o, lane, Fault::Kind::bad_instruction, "its tensor map " + text);
  };
  if (map.mark != TensorMap::valid_mark)
    bad("is none that cuTensorMapEncodeTiled or tensormap.replace made");
  if (const std::string text = map.wrong(); !text.empty()) bad("is not valid: " + text);
  if (const std::string text = map.lacking(); !text.empty())
    bad("has " + text + ", which this device lacks");
  if (map.rank != copy.rank)
    bad("is of a tensor of " + std::to_string(map.rank) + " dimensions, not " +
        std::to_string(copy.rank));
  return map;
}

/// The chunk of 16 bytes that holds this one of an unswizzled box in shared memory: bits 4 to 6 of
/// the address are turned by bits 7 to 9; of narrower spans fewer of them (PTX ISA, "Swizzling
/// modes").
std::uint32_t swizzled(std::uint32_t at, std::uint8_t swizzle) {
  const std::uint32_t bits = (1u << swizzle) - 1;
  return at ^ ((at >> 7 & bits) << 4);
}

/// The bits of an element outside of the tensor: 0, or a NaN.
std::uint64_t filler(const TensorMap& map) {
  if (map.fill == 0) return 0;
  return map.element_bytes() == 2   ? 0x7fff
         : map.element_bytes() == 4 ? 0x7fffffff
                                    : 0x7fffffffffffffff;
}

bool flushes(const TensorMap& map) {
  return map.type == static_cast<std::uint8_t>(TensorType::f32_ftz) ||
         map.type == static_cast<std::uint8_t>(TensorType::tf32_ftz);
}

void flush(std::byte* elements, std::uint32_t bytes) {
  for (std::uint32_t k = 0; k < bytes; k += 4) {
    std::uint32_t x = 0;
    std::memcpy(&x, elements + k, 4);
    if ((x & 0x7f800000) == 0) x &= 0x80000000;
    std::memcpy(elements + k, &x, 4);
  }
}

Type element_type(const TensorMap& map) {
  constexpr Type types[] = {Type::none, Type::none, Type::u32, Type::s32, Type::u64,
                            Type::s64,  Type::f16,  Type::f32, Type::f64, Type::bf16,
                            Type::f32,  Type::none, Type::none};
  return types[map.type];
}

/// A row of the box: its elements in shared memory, and those of them that the tensor has.
struct Row {
  std::uint32_t at = 0;              ///< bytes from the box's first
  std::uint32_t begin = 0, end = 0;  ///< bytes of the row that are in the tensor
  Address address = 0;               ///< of the first of these
};

/// Calls f(Row) for each row of the box at these coordinates.
template <class F>
void for_rows(const TensorMap& map, const std::array<std::int32_t, 5>& coordinates, F f) {
  const std::uint32_t element = map.element_bytes(), row = map.count(0) * element;
  const std::int64_t first = coordinates[0], size = static_cast<std::int64_t>(map.size[0]);
  const auto within = [&](std::int64_t x) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(x - first, 0, static_cast<std::int64_t>(map.count(0))));
  };
  std::uint32_t index[5] = {}, rows = 1;
  for (unsigned d = 1; d < map.rank; ++d) rows *= map.count(d);
  for (std::uint32_t r = 0; r < rows; ++r) {
    Row one;
    one.at = r * row;
    bool inside = true;
    one.address = map.address;
    for (unsigned d = 1; d < map.rank; ++d) {
      const std::int64_t x = coordinates[d] + std::int64_t{index[d]} * map.step[d];
      inside &= x >= 0 && x < static_cast<std::int64_t>(map.size[d]);
      one.address += static_cast<std::uint64_t>(x) * map.stride[d - 1];
    }
    if (inside) {
      one.begin = within(0) * element;
      one.end = within(size) * element;
      one.address += static_cast<std::uint64_t>(std::max<std::int64_t>(first, 0)) * element;
    }
    f(one);
    for (unsigned d = 1; d < map.rank && ++index[d] == map.count(d); ++d) index[d] = 0;
  }
}

}  // namespace

Outcome tensor_copy(Warp& w, const Operation& o) {
  const auto& copy = *static_cast<const BulkCopy*>(o.extra);
  for_lanes(w, [&](std::uint32_t lane) {
    const TensorMap map = map_of(w, o, copy, lane);
    if (copy.prefetches) return;
    std::array<std::int32_t, 5> coordinates{};
    for (std::uint8_t d = 0; d < map.rank; ++d)
      coordinates[d] = static_cast<std::int32_t>(
          word_of(w, o, static_cast<std::uint8_t>(copy.coordinates + d), lane));
    const std::uint32_t bytes = map.box_bytes(), row = map.count(0) * map.element_bytes();
    const BulkCopy::Address& shared_side = copy.loads ? copy.to : copy.from;
    const SharedPlace shared = place_of(w, o, shared_side, lane, bytes, 128);
    const Allocation* last = nullptr;
    std::vector<std::byte> box(bytes);
    if (copy.loads) {
      std::vector<std::byte> outside(row);
      const std::uint64_t fill = filler(map);
      for (std::uint32_t k = 0; k < row; k += map.element_bytes())
        std::memcpy(outside.data() + k, &fill, map.element_bytes());
      std::vector<std::byte> line(row);
      for_rows(map, coordinates, [&](const Row& r) {
        line = outside;
        if (r.begin < r.end) {
          std::memcpy(line.data() + r.begin,
                      global_bytes(w, o, lane, r.address, r.end - r.begin, false, true, last),
                      r.end - r.begin);
          count_global(w, r.address, r.end - r.begin, true, false);
          if (flushes(map)) flush(line.data() + r.begin, r.end - r.begin);
        }
        for (std::uint32_t k = 0; k < row; k += 16)
          std::memcpy(box.data() + swizzled(shared.at + r.at + k, map.swizzle) - shared.at,
                      line.data() + k, 16);
      });
      bring(w, o, lane, copy, shared, box, 0, false);
      return;
    }
    Combine how = nullptr;
    if (copy.reduces) {
      how = combination(copy.op, element_type(map));
      if (!how)
        fault(w, o, lane, Fault::Kind::bad_instruction,
              "a reduction that the type of its tensor map does not have");
    }
    const std::byte* const from = w.block->shared.bytes;
    for_rows(map, coordinates, [&](const Row& r) {
      for (std::uint32_t k = 0; k < row; k += 16)
        std::memcpy(box.data() + r.at + k, from + swizzled(shared.at + r.at + k, map.swizzle), 16);
    });
    read_in_group(w, o, lane, shared.at, bytes);
    for_rows(map, coordinates, [&](const Row& r) {
      if (r.begin >= r.end) return;
      std::byte* const to =
          global_bytes(w, o, lane, r.address, r.end - r.begin, true, copy.reduces, last);
      count_global(w, r.address, r.end - r.begin, copy.reduces, true);
      std::byte* const line = box.data() + r.at + r.begin;
      if (flushes(map)) flush(line, r.end - r.begin);
      if (how)
        combine(to, line, r.end - r.begin, map.element_bytes(), how);
      else
        std::memcpy(to, line, r.end - r.begin);
    });
  });
  return Outcome::next;
}

namespace {

/// The 128 bytes of a map to be changed, in global or shared memory.
std::byte* map_bytes(Warp& w, const Operation& o, std::uint32_t lane, std::uint64_t at,
                     bool writes) {
  if (at % 64 != 0) fault_misaligned(w, o, lane, at, 64);
  const std::uint32_t space = o.c & memory_space;
  if (space == memory_shared || (space == memory_generic && at - shared_window < window_bytes)) {
    const SharedPlace place = shared_place(w, o, lane, at, space, sizeof(TensorMap));
    return place.block->shared.bytes + place.at;
  }
  const Allocation* last = nullptr;
  return global_bytes(w, o, lane, at, sizeof(TensorMap), writes, true, last);
}

}  // namespace

Outcome tensor_map_replace(Warp& w, const Operation& o) {
  const auto field = static_cast<TensorField>(w.lists[o.list]);
  const std::uint32_t ordinal = w.lists[o.list + 1];
  const bool wide = field == TensorField::global_address || field == TensorField::global_stride ||
                    field == TensorField::global_stride_16;
  for_lanes(w, [&](std::uint32_t lane) {
    std::uint64_t at = static_cast<std::uint64_t>(o.immediate);
    if (o.flags & memory_wide)
      at += reinterpret_cast<const std::uint64_t*>(w.registers + o.a)[lane];
    else
      at += reinterpret_cast<const std::uint32_t*>(w.registers + o.a)[lane];
    const std::uint64_t value =
        wide ? reinterpret_cast<const std::uint64_t*>(w.registers + o.b)[lane]
             : std::uint64_t{reinterpret_cast<const std::uint32_t*>(w.registers + o.b)[lane]};
    std::byte* const p = map_bytes(w, o, lane, at, true);
    TensorMap map;
    std::memcpy(&map, p, sizeof map);
    // Compilers make maps of zeros, all of whose fields they replace.
    if (std::all_of(p, p + sizeof map, [](std::byte b) { return b == std::byte{0}; }))
      map.mark = TensorMap::valid_mark;
    if (map.mark != TensorMap::valid_mark)
      fault(w, o, lane, Fault::Kind::bad_instruction,
            "128 bytes that are neither zeros nor a tensor map of cuTensorMapEncodeTiled");
    // What is wrong then is found by the copies that use it.
    const auto small = [&](std::uint64_t most) { return std::min(value, most); };
    switch (field) {
      case TensorField::global_address:
        map.address = value;
        break;
      case TensorField::rank:
        map.rank = static_cast<std::uint8_t>(small(0xfe) + 1);
        break;
      case TensorField::box_dim:
        map.box[ordinal] = static_cast<std::uint16_t>(small(0xffff));
        break;
      case TensorField::global_dim:
        map.size[ordinal] = value;
        break;
      case TensorField::global_stride:
        map.stride[ordinal] = value;
        break;
      case TensorField::global_stride_16:
        map.stride[ordinal] = value << 4;
        break;
      case TensorField::element_stride:
        map.step[ordinal] = static_cast<std::uint8_t>(small(0xff));
        break;
      case TensorField::elemtype: {
        // The PTX ISA numbers f32.ftz before f64 and bf16, CUDA after them.
        constexpr std::uint8_t of_cuda[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12, 13, 14, 15};
        map.type = value < 16 ? of_cuda[value] : std::uint8_t{0xff};
        break;
      }
      case TensorField::interleave_layout:
        map.interleave = static_cast<std::uint8_t>(small(0xff));
        break;
      case TensorField::swizzle_mode:
        map.swizzle = static_cast<std::uint8_t>(small(0xff));
        break;
      case TensorField::fill_mode:
        map.fill = static_cast<std::uint8_t>(small(0xff));
        break;
    }
    std::memcpy(p, &map, sizeof map);
  });
  return Outcome::next;
}

Outcome tensor_map_copy(Warp& w, const Operation& o) {
  if (w.mask != w.live) return Outcome::wait;
  const auto lane = static_cast<std::uint32_t>(__builtin_ctz(w.mask));
  const auto& copy = *static_cast<const BulkCopy*>(o.extra);
  const SharedPlace from = place_of(w, o, copy.from, lane, sizeof(TensorMap), 128);
  const std::uint64_t to = address_of(w, o, copy.to, lane);
  if (to % 128 != 0) fault_misaligned(w, o, lane, to, 128);
  const Allocation* last = nullptr;
  std::memcpy(global_bytes(w, o, lane, to, sizeof(TensorMap), true, false, last),
              w.block->shared.bytes + from.at, sizeof(TensorMap));
  return Outcome::next;
}

}  // namespace plumbline::ptx
