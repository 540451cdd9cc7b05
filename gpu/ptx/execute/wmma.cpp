// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/wmma.hpp"

#include <cstring>
#include <vector>

#include "ptx/arithmetic/fragments.hpp"
#include "ptx/arithmetic/narrow.hpp"

namespace plumbline::ptx {
namespace {

using Bits = std::uint64_t;

/// The elements of a matrix, or where they come from: `bits` each, in registers of 32 (or 64).
class WmmaFragment {
 public:
  WmmaFragment(Warp& w, const std::uint32_t* list, std::uint32_t registers, std::uint32_t bits)
      : w_(w),
        list_(list),
        bits_(bits),
        per_(bits == 64 ? 1 : 32 / bits),
        each_(registers * per_) {}

  Bits get(std::uint32_t i) const {
    const std::uint32_t lane = i / each_, e = i % each_;
    const std::byte* reg = w_.registers + list_[e / per_];
    if (bits_ == 64) return reinterpret_cast<const Bits*>(reg)[lane];
    const std::uint32_t word = reinterpret_cast<const std::uint32_t*>(reg)[lane];
    return bits_ == 32 ? word : word >> bits_ * (e % per_) & ((1u << bits_) - 1);
  }
  void put(std::uint32_t i, Bits value) {
    const std::uint32_t lane = i / each_, e = i % each_;
    std::byte* reg = w_.registers + list_[e / per_];
    if (bits_ == 64) {
      reinterpret_cast<Bits*>(reg)[lane] = value;
      return;
    }
    std::uint32_t& word = reinterpret_cast<std::uint32_t*>(reg)[lane];
    const std::uint32_t at = bits_ * (e % per_);
    const std::uint32_t mask = bits_ == 32 ? ~0u : ((1u << bits_) - 1) << at;
    word = (word & ~mask) | static_cast<std::uint32_t>(value << at);
  }

 private:
  Warp& w_;
  const std::uint32_t* list_;
  std::uint32_t bits_, per_, each_;
};

std::uint32_t bits_in(arithmetic::Element element) {
  using arithmetic::Element;
  switch (element) {
    case Element::f16:
    case Element::bf16:
      return 16;
    case Element::s8:
    case Element::u8:
      return 8;
    case Element::f64:
      return 64;
    default:
      return 32;
  }
}

/// Registers of mma.sync.
struct Registers {
  alignas(64) std::uint64_t of[4][32] = {};
  void put(std::uint32_t lane, std::uint32_t i, std::uint32_t bits, Bits value) {
    if (bits == 64) {
      of[i][lane] = value;
      return;
    }
    const std::uint32_t per = 32 / bits;
    reinterpret_cast<std::uint32_t*>(of[i / per])[lane] |=
        static_cast<std::uint32_t>(value << bits * (i % per));
  }
  Bits get(std::uint32_t lane, std::uint32_t i, std::uint32_t bits) const {
    if (bits == 64) return of[i][lane];
    const std::uint32_t per = 32 / bits;
    const std::uint32_t word = reinterpret_cast<const std::uint32_t*>(of[i / per])[lane];
    return bits == 32 ? word : word >> bits * (i % per) & ((1u << bits) - 1);
  }
};

}  // namespace

Outcome wmma_address(Warp& w, const Operation& o) {
  if (w.mask != ~0u) return Outcome::wait;
  const auto& place = *static_cast<const WmmaPlace*>(o.extra);
  const auto* base = reinterpret_cast<const std::uint64_t*>(w.registers + o.a);
  const auto* stride = reinterpret_cast<const std::uint32_t*>(w.registers + o.b);
  auto* d = reinterpret_cast<std::uint64_t*>(w.registers + o.d);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t i = (lane * place.each + place.element) % (place.rows * place.columns);
    const std::uint64_t row = i / place.columns, column = i % place.columns;
    d[lane] = base[lane] + place.bytes * (place.by_rows ? row * stride[lane] + column
                                                        : column * stride[lane] + row);
  }
  return Outcome::next;
}

Outcome wmma_multiply(Warp& w, const Operation& o) {
  if (w.mask != ~0u) return Outcome::wait;
  const auto& p = *static_cast<const WmmaProduct*>(o.extra);
  const std::uint32_t* list = w.lists + o.list;
  const std::uint32_t bits = bits_in(p.how.a), result_bits = bits_in(p.how.c);
  const bool f64 = bits == 64;
  WmmaFragment d(w, list, p.d, p.half_d ? 16 : result_bits);
  const WmmaFragment a(w, list + p.d, p.a, bits), b(w, list + p.d + p.a, p.b, bits);
  const WmmaFragment c(w, list + p.d + p.a + p.b, p.c, p.half_c ? 16 : result_bits);
  // Blocks have 16 rows: with 8 rows the transposed matrices are multiplied.
  const bool turned = p.m == 8 && !f64;
  const std::uint32_t m = turned ? p.n : p.m, n = turned ? p.m : p.n;
  const auto block_rows = static_cast<std::uint32_t>(p.how.m);
  const auto of_c = [&](std::uint32_t row, std::uint32_t column) {
    return turned ? column * p.n + row : row * p.n + column;
  };
  std::vector<Bits> results(std::size_t{m} * n);
  for (std::uint32_t first = 0; first < m; first += block_rows)
    for (std::uint32_t column = 0; column < n; column += 8) {
      Registers of_a, of_b, sums;
      const std::uint32_t count_c = block_rows / 4;
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        const auto at = [&](const arithmetic::Place& place) {
          return std::pair{static_cast<std::uint32_t>(place.row),
                           static_cast<std::uint32_t>(place.column)};
        };
        const auto l = static_cast<int>(lane);
        for (std::uint32_t i = 0; i < block_rows * p.k / 32; ++i) {
          const auto [row, k] =
              at(arithmetic::place_in_a(static_cast<int>(bits), l, static_cast<int>(i)));
          of_a.put(lane, i, bits,
                   turned ? b.get(k * p.n + first + row) : a.get((first + row) * p.k + k));
        }
        for (std::uint32_t i = 0; i < p.k / 4; ++i) {
          const auto [k, one] =
              at(arithmetic::place_in_b(static_cast<int>(bits), l, static_cast<int>(i)));
          of_b.put(lane, i, bits,
                   turned ? a.get((column + one) * p.k + k) : b.get(k * p.n + column + one));
        }
        for (std::uint32_t i = 0; i < count_c; ++i) {
          const auto [row, one] = at(arithmetic::place_in_c(l, static_cast<int>(i)));
          Bits value = c.get(of_c(first + row, column + one));
          if (p.half_c && result_bits == 32)
            value = arithmetic::bits_of(arithmetic::from_f16(static_cast<std::uint32_t>(value)));
          sums.put(lane, i, result_bits, value);
        }
      }
      void* d_list[4];
      const void *a_list[4], *b_list[4], *c_list[4];
      for (int i = 0; i < 4; ++i) {
        d_list[i] = sums.of[i];
        c_list[i] = sums.of[i];
        a_list[i] = of_a.of[i];
        b_list[i] = of_b.of[i];
      }
      p.function(p.how, d_list, a_list, b_list, c_list);
      for (std::uint32_t lane = 0; lane < 32; ++lane)
        for (std::uint32_t i = 0; i < count_c; ++i) {
          const arithmetic::Place place =
              arithmetic::place_in_c(static_cast<int>(lane), static_cast<int>(i));
          Bits value = sums.get(lane, i, result_bits);
          if (p.half_d && result_bits == 32)
            value = arithmetic::to_f16(arithmetic::float_of(static_cast<std::uint32_t>(value)));
          results[of_c(first + static_cast<std::uint32_t>(place.row),
                       column + static_cast<std::uint32_t>(place.column))] = value;
        }
    }
  for (std::uint32_t i = 0; i < m * n; ++i) d.put(i, results[i]);
  return Outcome::next;
}

}  // namespace plumbline::ptx
