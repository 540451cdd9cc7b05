// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/calls.hpp"

#include <algorithm>
#include <cstring>

#include "ptx/execute/control.hpp"

namespace plumbline::ptx {
namespace {

/// Calls f(where its 32 results go): the register itself, or a copy of which the lanes are taken.
template <class T, class F>
Outcome into(Warp& warp, std::uint32_t offset, F f) {
  auto* d = reinterpret_cast<T*>(warp.registers + offset);
  if (warp.mask == ~0u) {
    f(d);
    return Outcome::next;
  }
  alignas(64) T t[32];
  f(t);
  for (std::uint32_t i = 0; i < 32; ++i)
    if (warp.mask >> i & 1) d[i] = t[i];
  return Outcome::next;
}

}  // namespace

Outcome convert_to_32(Warp& warp, const Operation& o) {
  const auto& conversion = *static_cast<const Conversion*>(o.extra);
  return into<std::uint32_t>(warp, o.d, [&](std::uint32_t* d) {
    conversion.function(conversion.how, d, warp.registers + o.a, warp.registers + o.b);
  });
}
Outcome convert_to_64(Warp& warp, const Operation& o) {
  const auto& conversion = *static_cast<const Conversion*>(o.extra);
  return into<std::uint64_t>(warp, o.d, [&](std::uint64_t* d) {
    conversion.function(conversion.how, d, warp.registers + o.a, warp.registers + o.b);
  });
}
Outcome call_unary(Warp& warp, const Operation& o) {
  const auto function = reinterpret_cast<arithmetic::Unary>(const_cast<void*>(o.extra));
  const auto* a = reinterpret_cast<const std::uint32_t*>(warp.registers + o.a);
  return into<std::uint32_t>(warp, o.d, [&](std::uint32_t* d) { function(d, a); });
}
Outcome call_unary_64(Warp& warp, const Operation& o) {
  const auto function = reinterpret_cast<arithmetic::Unary64>(const_cast<void*>(o.extra));
  const auto* a = reinterpret_cast<const std::uint64_t*>(warp.registers + o.a);
  return into<std::uint64_t>(warp, o.d, [&](std::uint64_t* d) { function(d, a); });
}
Outcome call_binary(Warp& warp, const Operation& o) {
  const auto function = reinterpret_cast<arithmetic::Binary>(const_cast<void*>(o.extra));
  const auto* a = reinterpret_cast<const std::uint32_t*>(warp.registers + o.a);
  const auto* b = reinterpret_cast<const std::uint32_t*>(warp.registers + o.b);
  return into<std::uint32_t>(warp, o.d, [&](std::uint32_t* d) { function(d, a, b); });
}

Outcome read_clock_32(Warp& warp, const Operation& o) {
  warp.clock += 64;
  const auto now = static_cast<std::uint32_t>(warp.clock >> o.immediate);
  return into<std::uint32_t>(warp, o.d, [&](std::uint32_t* d) { std::fill_n(d, 32, now); });
}
Outcome read_clock_64(Warp& warp, const Operation& o) {
  warp.clock += 64;
  const std::uint64_t now = warp.clock;
  return into<std::uint64_t>(warp, o.d, [&](std::uint64_t* d) { std::fill_n(d, 32, now); });
}

}  // namespace plumbline::ptx
