// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ptx/execute/calls.hpp"

namespace plumbline::ptx {

Outcome pack_saturated(Warp& w, const Operation& o) {
  const auto bits = static_cast<std::uint32_t>(o.immediate & 255);
  const bool is_signed = o.immediate >> 8 & 1;
  const std::int64_t most = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const std::int64_t least = is_signed ? -most - 1 : 0;
  const auto one = [&](std::uint32_t x) {
    const std::int64_t value = std::clamp<std::int64_t>(static_cast<std::int32_t>(x), least, most);
    return static_cast<std::uint32_t>(value) & ((1u << bits) - 1);
  };
  const auto lanes = [&](std::uint32_t offset) {
    return reinterpret_cast<std::uint32_t*>(w.registers + offset);
  };
  for (std::uint32_t i = 0; i < 32; ++i) {
    if (!(w.mask >> i & 1)) continue;
    const std::uint32_t above = o.c == ~0u ? 0 : lanes(o.c)[i] << 2 * bits;
    lanes(o.d)[i] = above | one(lanes(o.a)[i]) << bits | one(lanes(o.b)[i]);
  }
  return Outcome::next;
}

}  // namespace plumbline::ptx
