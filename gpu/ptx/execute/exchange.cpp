// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "ptx/execute/faults.hpp"
#include "ptx/execute/warp_lanes.hpp"

namespace plumbline::ptx {
namespace {

std::uint32_t first_of(std::uint32_t mask) {
  return static_cast<std::uint32_t>(__builtin_ctz(mask));
}

/// Calls f(member mask, lanes that gave it) for those whose members are all there; the rest waits.
template <class F>
Outcome together(Warp& w, const Operation& o, F f) {
  const std::uint32_t* members = lanes_of<std::uint32_t>(w, o.target);
  const std::uint32_t all = w.mask;
  std::uint32_t rest = all, waiting = 0;
  while (rest) {
    const std::uint32_t lane = first_of(rest), mask = members[lane];
    std::uint32_t same = 0;
    if (mask == all) {  // most often
      std::uint32_t other = 0;
      for (std::uint32_t i = 0; i < 32; ++i) other |= members[i] != mask ? 1u << i : 0;
      same = rest & ~other;
    } else {
      for (std::uint32_t i = lane; i < 32; ++i)
        if (rest >> i & 1 && members[i] == mask) same |= 1u << i;
    }
    rest &= ~same;
    if (same & ~mask)
      fault(w, o, first_of(same & ~mask), Fault::Kind::absent_lane,
            "lane " + std::to_string(first_of(same & ~mask)) +
                " executes this without being in its own member mask");
    if (mask & w.live & ~same) {
      waiting |= same;
      continue;
    }
    w.mask = same;
    f(mask, same);
  }
  w.mask = waiting ? waiting : all;
  return waiting ? Outcome::wait : Outcome::next;
}

template <class T>
void put(Warp& w, std::uint32_t offset, std::uint32_t mask, T value) {
  if (offset == ~0u) return;
  T* d = lanes_of<T>(w, offset);
  for (std::uint32_t i = 0; i < 32; ++i)
    if (mask >> i & 1) d[i] = value;
}
void put_predicate(Warp& w, std::uint32_t offset, std::uint32_t mask, std::uint32_t bits) {
  if (offset == ~0u) return;
  std::uint32_t& p = *lanes_of<std::uint32_t>(w, offset);
  p = (p & ~mask) | (bits & mask);
}

template <Shuffle mode>
void exchange(Warp& w, const Operation& o, std::uint32_t there) {
  const std::uint32_t *a = lanes_of<std::uint32_t>(w, o.a), *b = lanes_of<std::uint32_t>(w, o.b),
                      *c = lanes_of<std::uint32_t>(w, o.c);
  std::uint32_t t[32], from[32], in_range = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t clamp = c[i] & 31, segment = c[i] >> 8 & 31, by = b[i] & 31;
    const std::uint32_t most = (i & segment) | (clamp & ~segment), least = i & segment;
    const auto far = static_cast<std::int32_t>(mode == Shuffle::up     ? i - by
                                               : mode == Shuffle::down ? i + by
                                               : mode == Shuffle::bfly ? i ^ by
                                                                       : least | (by & ~segment));
    const bool is = mode == Shuffle::up ? far >= static_cast<std::int32_t>(most)
                                        : far <= static_cast<std::int32_t>(most);
    from[i] = is ? static_cast<std::uint32_t>(far) & 31 : i;
    in_range |= is ? 1u << i : 0;
  }
  if (there != ~0u && w.block->check)
    for (std::uint32_t i = 0; i < 32; ++i)
      if (there >> i & 1 && !(there >> from[i] & 1))
        fault(w, o, i, Fault::Kind::absent_lane,
              "lane " + std::to_string(i) + " takes the value of lane " + std::to_string(from[i]) +
                  ", which does not execute this instruction");
  for (std::uint32_t i = 0; i < 32; ++i) t[i] = a[from[i]];
  std::uint32_t* d = lanes_of<std::uint32_t>(w, o.d);
  if (there == ~0u) {
    std::memcpy(d, t, sizeof t);
  } else {
    for (std::uint32_t i = 0; i < 32; ++i)
      if (there >> i & 1) d[i] = t[i];
  }
  put_predicate(w, w.lists[o.list], there, in_range);
}

template <class T>
Outcome match_any(Warp& w, const Operation& o) {
  return together(w, o, [&](std::uint32_t, std::uint32_t there) {
    const T* a = lanes_of<T>(w, o.a);
    std::uint32_t t[32];
    for (std::uint32_t i = 0; i < 32; ++i) {
      std::uint32_t same = 0;
      for (std::uint32_t j = 0; j < 32; ++j) same |= a[j] == a[i] ? 1u << j : 0;
      t[i] = same & there;
    }
    for (std::uint32_t i = 0; i < 32; ++i)
      if (there >> i & 1) lanes_of<std::uint32_t>(w, o.d)[i] = t[i];
  });
}
template <class T>
Outcome match_all(Warp& w, const Operation& o) {
  return together(w, o, [&](std::uint32_t, std::uint32_t there) {
    const T* a = lanes_of<T>(w, o.a);
    bool same = true;
    for (std::uint32_t i = 0; i < 32; ++i)
      if (there >> i & 1) same &= a[i] == a[first_of(there)];
    put(w, o.d, there, same ? there : 0u);
    put_predicate(w, w.lists[o.list], there, same ? ~0u : 0);
  });
}

}  // namespace

Outcome warp_barrier(Warp& w, const Operation& o) {
  return together(w, o, [&](std::uint32_t, std::uint32_t) { w.synced = w.stores; });
}

Outcome shuffle(Warp& w, const Operation& o) {
  return together(w, o, [&](std::uint32_t, std::uint32_t there) {
    switch (static_cast<Shuffle>(o.immediate)) {
      case Shuffle::up:
        return exchange<Shuffle::up>(w, o, there);
      case Shuffle::down:
        return exchange<Shuffle::down>(w, o, there);
      case Shuffle::bfly:
        return exchange<Shuffle::bfly>(w, o, there);
      case Shuffle::idx:
        return exchange<Shuffle::idx>(w, o, there);
    }
  });
}

Outcome vote(Warp& w, const Operation& o) {
  return together(w, o, [&](std::uint32_t, std::uint32_t there) {
    const std::uint32_t p =
        (*lanes_of<std::uint32_t>(w, o.a) ^ static_cast<std::uint32_t>(o.immediate >> 32)) & there;
    switch (static_cast<Vote>(o.immediate & 0xff)) {
      case Vote::all:
        return put_predicate(w, o.d, there, p == there ? ~0u : 0);
      case Vote::any:
        return put_predicate(w, o.d, there, p ? ~0u : 0);
      case Vote::uni:
        return put_predicate(w, o.d, there, p == there || p == 0 ? ~0u : 0);
      case Vote::ballot:
        return put(w, o.d, there, p);
    }
  });
}

Outcome match_any_32(Warp& w, const Operation& o) { return match_any<std::uint32_t>(w, o); }
Outcome match_any_64(Warp& w, const Operation& o) { return match_any<std::uint64_t>(w, o); }
Outcome match_all_32(Warp& w, const Operation& o) { return match_all<std::uint32_t>(w, o); }
Outcome match_all_64(Warp& w, const Operation& o) { return match_all<std::uint64_t>(w, o); }

Outcome reduce(Warp& w, const Operation& o) {
  return together(w, o, [&](std::uint32_t, std::uint32_t there) {
    const std::uint32_t* a = lanes_of<std::uint32_t>(w, o.a);
    // Signed numbers are ordered as unsigned ones once the sign is turned.
    const std::uint32_t turn = o.immediate & 256 ? 0x80000000u : 0;
    std::uint32_t all = a[first_of(there)];
    for (std::uint32_t m = there & (there - 1); m; m &= m - 1) {
      const std::uint32_t x = a[first_of(m)];
      switch (static_cast<Reduce>(o.immediate & 255)) {
        case Reduce::add:
          all += x;
          break;
        case Reduce::min:
          all = std::min(all ^ turn, x ^ turn) ^ turn;
          break;
        case Reduce::max:
          all = std::max(all ^ turn, x ^ turn) ^ turn;
          break;
        case Reduce::bitwise_and:
          all &= x;
          break;
        case Reduce::bitwise_or:
          all |= x;
          break;
        case Reduce::bitwise_xor:
          all ^= x;
          break;
      }
    }
    put(w, o.d, there, all);
  });
}

Outcome elect(Warp& w, const Operation& o) {
  return together(w, o, [&](std::uint32_t, std::uint32_t there) {
    put(w, o.d, there, first_of(there));
    put_predicate(w, w.lists[o.list], there, 1u << first_of(there));
  });
}

Outcome active_mask(Warp& w, const Operation& o) {
  put(w, o.d, w.mask, w.mask);
  return Outcome::next;
}

}  // namespace plumbline::ptx
