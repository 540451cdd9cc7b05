// SPDX-License-Identifier: Apache-2.0
// Copies of boxes of tensors, in tiled mode: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor,
// cp.async.bulk.prefetch.tensor and tensormap.replace (sections 5.5 and 9.7.9.27 of the PTX ISA).
#include <fmt/format.h>

#include <algorithm>

#include "tests/gpu/ptx/conformance/families.hpp"
#include "tests/gpu/ptx/conformance/tensor_boxes.hpp"

namespace plumbline::ptx::conformance {
namespace {

using namespace tensor_types;

constexpr bool is_float[] = {false, false, false, false, false, false, true,
                             true,  true,  true,  true,  true,  true};

std::string form_of(const std::string& how, const Map& map) {
  std::string form = fmt::format("{} of {} bytes", how, bytes_of_type[map.type]);
  if (map.swizzle) form += fmt::format(", swizzle {}", 16 << map.swizzle);
  return form;
}

/// A tensor of this rank: sizes that the box does not divide, rows with bytes between them.
Map shaped(std::uint32_t type, unsigned rank, std::uint32_t swizzle = 0) {
  Map map;
  map.type = type;
  map.rank = rank;
  map.swizzle = swizzle;
  const unsigned element = bytes_of_type[type], inner = swizzle ? 16u << swizzle : 48u;
  map.box[0] = inner / element;
  map.size[0] = map.box[0] * 2 + 3;
  const unsigned sizes[] = {0, 19, 5, 4, 3}, boxes[] = {0, rank > 3 ? 5u : 9u, 3, 2, 2};
  std::uint64_t stride = (map.size[0] * element + 31) / 16 * 16;
  for (unsigned d = 1; d < rank; ++d) {
    map.size[d] = sizes[d];
    map.box[d] = boxes[d];
    map.strides[d - 1] = stride;
    stride *= sizes[d];
  }
  return map;
}

Start from(unsigned rank, std::initializer_list<int> first) {
  Start start(first);
  start.resize(rank, 1);
  return start;
}

void loads(Family& family) {
  const std::string load = "cp.async.bulk.tensor.{}d.shared::cluster.global";
  for (unsigned rank = 1; rank <= 5; ++rank)
    for (const std::uint32_t type : {u8, u16, u32, u64})
      for (const std::uint32_t swizzle : {0u, 1u, 2u, 3u}) {
        const Map map = shaped(type, rank, swizzle);
        const std::string form = form_of(fmt::format(fmt::runtime(load), rank), map);
        add_load(family, form, map, from(rank, {2, 4}));
        // Beyond the ends, and before the begin.
        const int end = static_cast<int>(map.size[0]) - 3;
        add_load(family, form + " beyond the end", map, from(rank, {end, 14, 4, 3, 2}));
        add_load(family, form + " before the begin", map, from(rank, {-2, -3, -1, -1, -1}));
      }
  for (const std::uint32_t type : {s32, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz}) {
    Map map = shaped(type, 2);
    const std::string form = fmt::format("cp.async.bulk.tensor.2d of type {}", type);
    add_load(family, form, map, {-1, 14});
    map.fill = is_float[type];
    if (map.fill) add_load(family, form + " with NaN outside", map, {-1, 14});
  }
  Map outside = shaped(u32, 2);
  add_load(family, "cp.async.bulk.tensor.2d outside alone", outside, {1000, -1000});
  add_load(family, "cp.async.bulk.tensor.2d far outside", outside, {2147483647, -2147483647});
  for (unsigned step = 2; step <= 8; ++step) {
    Map map = shaped(u16, 3);
    map.steps[0] = 3;  // ignored
    map.steps[1] = step;
    map.steps[2] = 2;
    add_load(family, fmt::format("cp.async.bulk.tensor.3d with a step of {}", step), map,
             {1, 3, -1});
  }
}

void stores(Family& family) {
  const std::string store = "cp.async.bulk.tensor.{}d.global.shared::cta.bulk_group";
  for (unsigned rank = 1; rank <= 5; ++rank)
    for (const std::uint32_t swizzle : {0u, 1u, 2u, 3u}) {
      const Map map = shaped(u16, rank, swizzle);
      const auto update = [](std::byte* there, const std::byte* here) {
        std::memcpy(there, here, 2);
      };
      const std::string instruction = fmt::format(fmt::runtime(store), rank);
      const std::string form = form_of(instruction, map);
      add_store(family, form, instruction, map, from(rank, {2, 4}), update);
      const int end = static_cast<int>(map.size[0]) - 3;
      add_store(family, form + " beyond the end", instruction, map, from(rank, {end, 14, 4, 3, 2}),
                update);
      add_store(family, form + " before the begin", instruction, map,
                from(rank, {-2, -3, -1, -1, -1}), update);
    }
  Map step = shaped(u32, 2);
  step.steps[1] = 2;
  add_store(family, "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group with a step of 2",
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", step, {2, 1},
            [](std::byte* there, const std::byte* here) { std::memcpy(there, here, 4); });
}

template <class T, class F>
void reduction(Family& family, const std::string& op, std::uint32_t type, F f,
               const std::vector<T>& values) {
  const Map map = shaped(type, 2, 2);
  const std::string instruction =
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta." + op + ".bulk_group";
  std::vector<T> tensor((tensor_bytes(map) + 3) / 4 * 4 / sizeof(T)),
      box(box_bytes(map) / sizeof(T));
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor[i] = values[i % values.size()];
  for (std::size_t i = 0; i < box.size(); ++i) box[i] = values[(i * 7 + 3) % values.size()];
  add_store(
      family, fmt::format("{} of type {}", instruction, type), instruction, map, {-2, 14},
      [=](std::byte* there, const std::byte* here) {
        T x, y;
        std::memcpy(&x, there, sizeof x);
        std::memcpy(&y, here, sizeof y);
        x = f(x, y);
        std::memcpy(there, &x, sizeof x);
      },
      buffer_of(tensor), buffer_of(box));
}

void reductions(Family& family) {
  const std::vector<std::uint32_t> words = {
      0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 77, 12345, 0xdeadbeef, 3, 5};
  using W = std::uint32_t;
  const auto as_signed = [](W x) { return static_cast<std::int32_t>(x); };
  reduction(
      family, "add", u32, [](W x, W y) { return x + y; }, words);
  reduction(
      family, "add", s32, [](W x, W y) { return x + y; }, words);
  reduction(
      family, "min", u32, [](W x, W y) { return std::min(x, y); }, words);
  reduction(
      family, "max", u32, [](W x, W y) { return std::max(x, y); }, words);
  reduction(
      family, "min", s32, [=](W x, W y) { return as_signed(x) < as_signed(y) ? x : y; }, words);
  reduction(
      family, "max", s32, [=](W x, W y) { return as_signed(x) > as_signed(y) ? x : y; }, words);
  reduction(
      family, "inc", u32, [](W x, W y) { return x >= y ? 0 : x + 1; }, words);
  reduction(
      family, "dec", u32, [](W x, W y) { return x == 0 || x > y ? y : x - 1; }, words);
  reduction(
      family, "and", u32, [](W x, W y) { return x & y; }, words);
  reduction(
      family, "or", u32, [](W x, W y) { return x | y; }, words);
  reduction(
      family, "xor", u32, [](W x, W y) { return x ^ y; }, words);
  const std::vector<std::uint64_t> wide = {0, 1, ~0ull, 1ull << 63, 0x123456789abcdef0, 42, 7};
  reduction(
      family, "add", u64, [](std::uint64_t x, std::uint64_t y) { return x + y; }, wide);
  // Floating point: numbers whose sums are exact, and ties to even of the narrow ones.
  const auto floats = [&](std::uint32_t type, const Format& format, auto sample) {
    using T = decltype(sample);
    std::vector<T> values;
    for (const double x : {0.0, -0.0, 1.0, -1.0, 2048.0, 3.0, 0.5, 1024.5, 2049.0, -77.0})
      values.push_back(static_cast<T>(converted(format, Rounding::rn, x)));
    reduction(
        family, "add", type,
        [&format](T x, T y) { return static_cast<T>(sum(format, Rounding::rn, x, y)); }, values);
    if (sizeof(T) != 2) return;
    const auto less = [&format](T x, T y) {
      const double a = value(format, x), b = value(format, y);
      return a < b || (a == b && x >> 15 > y >> 15);
    };
    reduction(
        family, "min", type, [=](T x, T y) { return less(y, x) ? y : x; }, values);
    reduction(
        family, "max", type, [=](T x, T y) { return less(x, y) ? y : x; }, values);
  };
  floats(f16, formats::f16, std::uint16_t{});
  floats(bf16, formats::bf16, std::uint16_t{});
  floats(f32, formats::f32, std::uint32_t{});
}

/// A map that the kernel itself changes: in shared memory, published by tensormap.cp_fenceproxy, or
/// in global memory.
void add_replaced(Family& family, const std::string& fields, const std::string& text,
                  const Map& map, const Map& changed, const Start& start) {
  for (const bool shared : {true, false}) {
    std::string replace = text;
    const std::string space = shared ? ".shared::cta.b1024" : ".global.b1024";
    for (std::size_t at = 0; (at = replace.find("SPACE", at)) != std::string::npos;)
      replace.replace(at, 5, space);
    for (std::size_t at = 0; (at = replace.find("STATE", at)) != std::string::npos;)
      replace.replace(at, 5, shared ? "shared" : "global");
    const std::string change =
        fmt::format(R"(
  .shared .align 128 .b8 kept[128];
  mov.u64 %l6, kept;
  mov.u64 %l7, KERNEL_map;
  setp.ge.u32 %p3, %t, 32;
  @%p3 bra CHANGED;
  mul.wide.u32 %l8, %t, 4;
  add.s64 %l9, %m0, %l8;
  add.s64 %l10, {0}, %l8;
  ld.b32 %r3, [%l9];
  st.{1}.b32 [%l10], %r3;
  bar.warp.sync -1;
  setp.ne.u32 %p4, %t, 0;
  @%p4 bra REPLACED;
  mov.b64 %l10, {0};
  {2}
REPLACED:
  bar.warp.sync -1;
  {3}
  fence.proxy.tensormap::generic.acquire.gpu [%l7], 128;
CHANGED:
  cvta.global.u64 %m0, %l7;)",
                    shared ? "%l6" : "%l7", shared ? "shared" : "global", replace,
                    shared ? "tensormap.cp_fenceproxy.global.shared::cta."
                             "tensormap::generic.release.gpu.sync.aligned "
                             "[%l7], [%l6], 128;"
                           : "fence.proxy.tensormap::generic.release.gpu;");
    add_load(family,
             fmt::format("tensormap.replace.tile.{} {}", fields, shared ? "shared::cta" : "global"),
             map, start, change, &changed);
    family.experiments.back().text =
        ".global .align 128 .b8 KERNEL_map[128];\n" + family.experiments.back().text;
  }
}

void replaced(Family& family) {
  const Map map = shaped(u16, 3, 1);
  const Start start = {1, 2, 1};
  Map changed = map;
  changed.rank = 2;
  add_replaced(family, "rank", "tensormap.replace.tile.rankSPACE.b32 [%l10], 1;", map, changed,
               {1, 2});
  changed = map;
  changed.box[1] = 4;
  changed.box[2] = 1;
  add_replaced(family, "box_dim",
               "tensormap.replace.tile.box_dimSPACE.b32 [%l10], 1, 4;\n"
               "  tensormap.replace.tile.box_dimSPACE.b32 [%l10], 2, 1;",
               map, changed, start);
  changed = map;
  changed.size[0] = 9;
  changed.size[2] = 2;
  add_replaced(family, "global_dim",
               "tensormap.replace.tile.global_dimSPACE.b32 [%l10], 0, 9;\n"
               "  tensormap.replace.tile.global_dimSPACE.b32 [%l10], 2, 2;",
               map, changed, start);
  changed = map;
  changed.strides[0] = 48;
  changed.strides[1] = 160;
  add_replaced(family, "global_stride",
               "mov.u64 %l11, 48;\n  tensormap.replace.tile.global_strideSPACE.b64 [%l10], 0, "
               "%l11;\n  mov.u64 %l11, 160;\n"
               "  tensormap.replace.tile.global_strideSPACE.b64 [%l10], 1, %l11;",
               map, changed, start);
  changed = map;
  changed.steps[1] = 3;
  add_replaced(family, "element_stride",
               "tensormap.replace.tile.element_strideSPACE.b32 [%l10], 1, 3;", map, changed, start);
  changed = map;
  changed.swizzle = 0;
  add_replaced(family, "swizzle_mode", "tensormap.replace.tile.swizzle_modeSPACE.b32 [%l10], 0;",
               map, changed, start);
  // bf16 is 10 there; with it numbers outside of the tensor may be NaN.
  changed = map;
  changed.type = bf16;
  changed.fill = 1;
  add_replaced(family, "elemtype and fill_mode",
               "tensormap.replace.tile.elemtypeSPACE.b32 [%l10], 10;\n"
               "  tensormap.replace.tile.fill_modeSPACE.b32 [%l10], 1;\n"
               "  tensormap.replace.tile.interleave_layoutSPACE.b32 [%l10], 0;",
               map, changed, {-3, 2, 1});
  // From 128 zeros: all that it is.
  std::string zeros;
  for (int i = 0; i < 16; ++i) zeros += fmt::format("st.STATE.b64 [%l10+{}], %l11;\n  ", 8 * i);
  const auto replace = [](const std::string& field, const std::string& type,
                          const std::string& operands) {
    return fmt::format("tensormap.replace.tile.{}SPACE.{} [%l10], {};\n  ", field, type, operands);
  };
  std::string all = "mov.u64 %l11, 0;\n  " + zeros + replace("global_address", "b64", "%b1") +
                    replace("rank", "b32", "2");
  for (unsigned d = 0; d < 3; ++d)
    all += replace("box_dim", "b32", fmt::format("{}, {}", d, map.box[d])) +
           replace("global_dim", "b32", fmt::format("{}, {}", d, map.size[d])) +
           replace("element_stride", "b32", fmt::format("{}, 1", d));
  for (unsigned d = 0; d < 2; ++d)
    all += fmt::format("mov.u64 %l11, {};\n  ", map.strides[d]) +
           replace("global_stride", "b64", fmt::format("{}, %l11", d));
  all += replace("elemtype", "b32", "1") + replace("interleave_layout", "b32", "0") +
         replace("swizzle_mode", "b32", "1") + replace("fill_mode", "b32", "0");
  add_replaced(family, "all fields", all, map, map, start);
  // From another row on.
  changed = map;
  changed.offset = map.strides[0];
  add_replaced(family, "global_address",
               fmt::format("add.s64 %l11, %b1, {};\n"
                           "  tensormap.replace.tile.global_addressSPACE.b64 [%l10], %l11;",
                           map.strides[0]),
               map, changed, start);
}

void prefetches(Family& family) {
  for (unsigned rank = 1; rank <= 5; ++rank) {
    const Start start = from(rank, {2, 3});
    add_load(family, fmt::format("cp.async.bulk.prefetch.tensor.{}d.L2.global", rank),
             shaped(u32, rank), start,
             fmt::format("  cp.async.bulk.prefetch.tensor.{}d.L2.global.tile [%m0, {}];", rank,
                         coordinates(start)));
  }
}

}  // namespace

Family tensor_copies() {
  Family family{"tensor_copies", {}, {}};
  loads(family);
  stores(family);
  reductions(family);
  replaced(family);
  prefetches(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
