// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/ptx/conformance/tensor_boxes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace plumbline::ptx::conformance {
namespace {

using namespace tensor_types;

unsigned count(const Map& map, unsigned d) {
  const unsigned step = d ? map.steps[d] : 1;
  return (map.box[d] + step - 1) / step;
}

/// Where byte `at` of the box without a swizzle stands, by the figures of "Swizzling Modes": rows
/// of the span's length, of which several make 128 bytes; chunks of 16 bytes are turned by the
/// number of the row, which counts every row, every second or every fourth.
unsigned swizzled(const Map& map, unsigned at) {
  if (map.swizzle == 0) return at;
  const unsigned span = 16u << map.swizzle, row = at / span, chunk = at % span / 16;
  const unsigned turn = row / (128 / span) % (span / 16);
  return row * span + (chunk ^ turn) * 16 + at % 16;
}

/// Calls f(byte of the box, byte of the tensor, or -1 outside of it) for each element.
template <class F>
void for_elements(const Map& map, const Start& start, F f) {
  const unsigned element = bytes_of_type[map.type], all = box_bytes(map) / element;
  for (unsigned e = 0; e < all; ++e) {
    unsigned rest = e;
    long there = static_cast<long>(map.offset);
    bool inside = true;
    for (unsigned d = 0; d < map.rank; ++d) {
      const long x = start[d] + long(rest % count(map, d)) * long(d ? map.steps[d] : 1);
      rest /= count(map, d);
      inside = inside && x >= 0 && x < long(map.size[d]);
      there += x * long(d ? map.strides[d - 1] : element);
    }
    f(swizzled(map, e * element), inside ? there : -1);
  }
}

Buffer noise(std::size_t bytes, std::uint32_t seed) {
  Buffer buffer(bytes);
  for (std::byte& byte : buffer) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<std::byte>(seed >> 24);
  }
  return buffer;
}

/// Shared memory `box` of 32 KiB at %l1, the mbarrier at %l0; thread 0 alone falls through to
/// COPY, all wait for the mbarrier's phase 0.
std::string loading(const std::string& copy, unsigned bytes) {
  return fmt::format(R"(
  .shared .align 8 .b64 barrier;
  .shared .align 1024 .b8 box[32768];
  mov.u64 %l0, barrier;
  mov.u64 %l1, box;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra READY;
  mbarrier.init.shared.b64 [%l0], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
READY:
  bar.sync 0;
  @%p0 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [%l0], {};
  {}
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [%l0], 0;
  @!%p1 bra WAIT;
)",
                     bytes, copy);
}

/// Shared memory of `bytes` bytes to or from %b2, by words, all threads together.
std::string words(unsigned bytes, bool to_shared) {
  return fmt::format(R"(
  mov.u32 %r1, %t;
  setp.ge.u32 %p2, %r1, {0};
  @%p2 bra {1}_DONE;
{1}_NEXT:
  mul.wide.u32 %l3, %r1, 4;
  add.s64 %l4, %l1, %l3;
  add.s64 %l5, %b2, %l3;
  {2}
  add.u32 %r1, %r1, 128;
  setp.lt.u32 %p2, %r1, {0};
  @%p2 bra {1}_NEXT;
{1}_DONE:
)",
                     bytes / 4, to_shared ? "IN" : "OUT",
                     to_shared ? "ld.global.u32 %r2, [%l5];\n  st.shared.u32 [%l4], %r2;"
                               : "ld.shared.u32 %r2, [%l4];\n  st.global.u32 [%l5], %r2;");
}

}  // namespace

unsigned box_bytes(const Map& map) {
  unsigned all = bytes_of_type[map.type];
  for (unsigned d = 0; d < map.rank; ++d) all *= count(map, d);
  return all;
}

std::size_t tensor_bytes(const Map& map) {
  std::size_t all = map.size[0] * bytes_of_type[map.type];
  for (unsigned d = 1; d < map.rank; ++d)
    all = std::max<std::size_t>(all, map.size[d] * map.strides[d - 1]);
  return map.offset + all;
}

std::string coordinates(const Start& start) {
  std::string text;
  for (const int x : start) text += fmt::format("{}{}", text.empty() ? "" : ", ", x);
  return "{" + text + "}";
}

Experiment& add_load(Family& family, const std::string& form, const Map& map, const Start& start,
                     const std::string& change, const Map* changed) {
  const Map& used = changed ? *changed : map;
  const unsigned bytes = box_bytes(used);
  Program program;
  program.target = Target::sm_90a;
  program.version = "8.6";
  Buffer tensor = noise(std::max(tensor_bytes(map), tensor_bytes(used)), 7);
  if (used.type == f32_ftz || used.type == tf32_ftz)  // subnormal numbers among them
    for (std::size_t i = 0; i + 3 < tensor.size(); i += 8) {
      tensor[i + 3] &= std::byte{0x80};
      tensor[i + 2] &= std::byte{0x7f};
    }
  program.more = {tensor, Buffer(bytes)};
  program.maps = {map};
  program.maps[0].buffer = 1;
  const std::string copy = fmt::format(
      "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%l1], "
      "[%m0, {}], [%l0];",
      used.rank, coordinates(start));
  program.body = change + loading(copy, bytes) + words(bytes, false) + "  mov.u32 %r0, 1;";
  Experiment& e = add_program(family, form, program, [](unsigned, unsigned) { return 1u; });
  Buffer expected(bytes);
  std::vector<unsigned> nans;
  const unsigned element = bytes_of_type[used.type];
  for_elements(used, start, [&](unsigned box, long there) {
    if (there < 0) {
      if (used.fill) nans.push_back(box);
      return;
    }
    std::memcpy(expected.data() + box, tensor.data() + there, element);
    if (used.type == f32_ftz || used.type == tf32_ftz) {
      std::uint32_t x = 0;
      std::memcpy(&x, expected.data() + box, 4);
      if ((x & 0x7f800000) == 0) x &= 0x80000000;
      std::memcpy(expected.data() + box, &x, 4);
    }
  });
  // Which NaN it is, the documentation does not say.
  e.judge = [=](const std::vector<Buffer>& after) {
    Buffer got = after[2], want = expected;
    for (const unsigned at : nans) {
      std::uint64_t x = 0;
      std::memcpy(&x, got.data() + at, element);
      const std::uint64_t exponent = used.type == bf16 || element == 4 ? 0x7f80 : 0x7c00;
      const std::uint64_t top = element == 8 ? x >> 48 : element == 4 ? x >> 16 : x;
      const std::uint64_t infinite = element == 8 ? 0x7ff0 : exponent;
      const bool nan = (top & infinite) == infinite && (x & 0x7f) != 0;
      std::memset(want.data() + at, nan ? 1 : 0, element);
      std::memset(got.data() + at, 1, element);
    }
    return holds<std::uint32_t>(0, values_of<std::uint32_t>(want))({got});
  };
  return e;
}

Experiment& add_store(Family& family, const std::string& form, const std::string& instruction,
                      const Map& map, const Start& start, const Update& update, Buffer tensor,
                      Buffer box) {
  const unsigned bytes = box_bytes(map);
  Program program;
  program.target = Target::sm_90a;
  program.version = "8.6";
  if (tensor.empty()) tensor = noise(tensor_bytes(map), 77);
  if (box.empty()) box = noise(bytes, 99);
  program.more = {tensor, box};
  program.maps = {map};
  program.maps[0].buffer = 1;
  program.body = R"(
  .shared .align 1024 .b8 box[32768];
  mov.u64 %l1, box;)" +
                 words(bytes, true) +
                 fmt::format(R"(
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra END;
  {} [%m0, {}], [%l1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
END:
  mov.u32 %r0, 1;)",
                             instruction, coordinates(start));
  Experiment& e = add_program(family, form, program, [](unsigned, unsigned) { return 1u; });
  Buffer expected = tensor;
  for_elements(map, start, [&](unsigned at, long there) {
    if (there >= 0) update(expected.data() + there, box.data() + at);
  });
  expected.resize(expected.size() / 4 * 4);
  e.judge = holds<std::uint32_t>(1, values_of<std::uint32_t>(expected));
  return e;
}

}  // namespace plumbline::ptx::conformance
