// SPDX-License-Identifier: Apache-2.0
// Compiled once for each level, whose name PLUMBLINE_PTX_LEVEL is.
#include "ptx/arithmetic/product_lanes.hpp"

#include "ptx/arithmetic/block.hpp"
#include "ptx/arithmetic/fragments.hpp"
#include "ptx/arithmetic/narrow.hpp"

namespace plumbline::ptx::arithmetic::PLUMBLINE_PTX_LEVEL {
namespace {

using Word = std::uint32_t;

constexpr int bits_in(Element element) {
  switch (element) {
    case Element::f16:
    case Element::bf16:
      return 16;
    case Element::e4m3:
    case Element::e5m2:
    case Element::s8:
    case Element::u8:
      return 8;
    case Element::f64:
      return 64;
    default:
      return 32;
  }
}

/// Element `i` of words that hold kEach each, as floats: [i][lane].
template <int kEach, class F>
PLUMBLINE_PTX_INLINE void decode_with(float (*out)[kLanes], const void* word, F f) {
  Word in[kLanes];
  __builtin_memcpy(in, word, sizeof in);
  for (int i = 0; i < kEach; ++i)
    for (int lane = 0; lane < kLanes; ++lane) out[i][lane] = f(in[lane] >> (32 / kEach * i));
}
template <int kEach>
void decode(Element element, float (*out)[kLanes], const void* word) {
  switch (element) {
    case Element::f16:
      return decode_with<kEach>(out, word, [](Word x) { return from_f16(x & 0xffff); });
    case Element::bf16:
      return decode_with<kEach>(out, word, [](Word x) { return from_bf16(x & 0xffff); });
    case Element::tf32:
      return decode_with<kEach>(out, word, [](Word x) { return float_of(x & 0xffffe000); });
    case Element::e4m3:
      return decode_with<kEach>(out, word, [](Word x) { return from_e4m3(x); });
    case Element::e5m2:
      return decode_with<kEach>(out, word, [](Word x) { return from_e5m2(x); });
    case Element::s8:
      return decode_with<kEach>(
          out, word, [](Word x) { return static_cast<float>(static_cast<std::int8_t>(x)); });
    default:
      return decode_with<kEach>(
          out, word, [](Word x) { return static_cast<float>(static_cast<int>(x & 0xff)); });
  }
}

/// Lane 4 n + t has column n of B's row t: to rows that are `apart` rows from each other.
PLUMBLINE_PTX_INLINE void transpose(float* rows, int apart, const float* lanes) {
#ifdef __AVX512F__
  using Sixteen = float __attribute__((vector_size(64)));
  using Order = int __attribute__((vector_size(64)));
  Sixteen low, high;
  __builtin_memcpy(&low, lanes, sizeof low);
  __builtin_memcpy(&high, lanes + 16, sizeof high);
  const Sixteen two[2] = {
      __builtin_shuffle(low, high, Order{0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29}),
      __builtin_shuffle(low, high,
                        Order{2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31})};
  for (int t = 0; t < 4; ++t) {
    const Floats row =
        t % 2 == 0
            ? reinterpret_cast<Floats>(_mm512_castps512_ps256(reinterpret_cast<__m512>(two[t / 2])))
            : reinterpret_cast<Floats>(
                  _mm512_extractf32x8_ps(reinterpret_cast<__m512>(two[t / 2]), 1));
    store(rows + t * apart * kColumns, row);
  }
  return;
#endif
  using Four = float __attribute__((vector_size(16)));
  using Index = int __attribute__((vector_size(16)));
  for (int n = 0; n < kColumns; n += 4) {
    Four in[4];
    __builtin_memcpy(in, lanes + 4 * n, sizeof in);
    const Four even = __builtin_shuffle(in[0], in[2], Index{0, 4, 1, 5});  // columns 0 and 2
    const Four odd = __builtin_shuffle(in[1], in[3], Index{0, 4, 1, 5});
    const Four even_high = __builtin_shuffle(in[0], in[2], Index{2, 6, 3, 7});
    const Four odd_high = __builtin_shuffle(in[1], in[3], Index{2, 6, 3, 7});
    const Four out[4] = {__builtin_shuffle(even, odd, Index{0, 4, 1, 5}),
                         __builtin_shuffle(even, odd, Index{2, 6, 3, 7}),
                         __builtin_shuffle(even_high, odd_high, Index{0, 4, 1, 5}),
                         __builtin_shuffle(even_high, odd_high, Index{2, 6, 3, 7})};
    for (int t = 0; t < 4; ++t)
      __builtin_memcpy(rows + t * apart * kColumns + n, &out[t], sizeof out[t]);
  }
}

/// The accumulators of 8 columns: registers c, two of f16 pairs or four.
PLUMBLINE_PTX_INLINE void load_c(const Product& p, const void* const* c, float* rows) {
  Word bits[4][kLanes];
  if (p.c == Element::f16) {
    for (int half = 0; half < 2; ++half) {
      Word in[kLanes];
      __builtin_memcpy(in, c[half], sizeof in);
      for (int lane = 0; lane < kLanes; ++lane) {
        bits[2 * half][lane] = bits_of(from_f16(in[lane] & 0xffff));
        bits[2 * half + 1][lane] = bits_of(from_f16(in[lane] >> 16));
      }
    }
  } else {
    for (int i = 0; i < 4; ++i) __builtin_memcpy(bits[i], c[i], sizeof bits[i]);
  }
  for (int half = 0; half < 2; ++half) {
    // Lane 4 g + t has columns 2 t and 2 t + 1 of row g: the row's words are in order.
    float* row = rows + 64 * half;
    for (int lane = 0; lane < kLanes; ++lane) {
      row[2 * lane] = float_of(bits[2 * half][lane]);
      row[2 * lane + 1] = float_of(bits[2 * half + 1][lane]);
    }
  }
}

PLUMBLINE_PTX_INLINE void store_d(const Product& p, const float* rows, void* const* d) {
  for (int half = 0; half < 2; ++half) {
    const float* row = rows + 64 * half;
    Word even[kLanes], odd[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      even[lane] = bits_of(row[2 * lane]);
      odd[lane] = bits_of(row[2 * lane + 1]);
    }
    if (p.c == Element::f16) {
      for (int lane = 0; lane < kLanes; ++lane)
        even[lane] = to_f16(float_of(even[lane])) | to_f16(float_of(odd[lane])) << 16;
      __builtin_memcpy(d[half], even, sizeof even);
      continue;
    }
    if (p.c == Element::f32) {
      for (int lane = 0; lane < kLanes; ++lane) {
        even[lane] = (even[lane] & 0x7fffffff) > 0x7f800000 ? kNan : even[lane];
        odd[lane] = (odd[lane] & 0x7fffffff) > 0x7f800000 ? kNan : odd[lane];
      }
    }
    __builtin_memcpy(d[2 * half], even, sizeof even);
    __builtin_memcpy(d[2 * half + 1], odd, sizeof odd);
  }
}

Aligned aligned(const Product& p) {
  const bool hopper = p.sums == Variation::Sums::hopper;
  const auto least = [](Element element) {
    switch (element) {
      case Element::f16:
      case Element::e5m2:
        return -14;
      case Element::e4m3:
        return -6;
      default:
        return -126;
    }
  };
  const int bits = bits_in(p.a);
  const int group = (bits == 8 ? 16 : bits == 16 ? 8 : 4) * (hopper ? 2 : 1);
  const bool f16 = p.c == Element::f16;
  const int of_f16 = hopper ? -22 : -21;
  return {group,
          bits == 8 ? 13
          : hopper  ? 25
                    : 24,
          f16      ? of_f16
          : hopper ? -133
                   : -132,
          least(p.a),
          least(p.b),
          f16 ? -14 : -126,
          bits == 8 && !f16,
          f16};
}

/// Integers, which floats hold exactly: sums of products are below 2^21. C is bits of s32.
template <int kEach, int kDepth>
PLUMBLINE_PTX_INLINE void add_integers(const BlockA<kEach, kDepth>& a, const float* b, float* c,
                                       bool satfinite) {
  float sum[16 * kColumns] = {};
  add_in_order(a, b, sum);
  for (int i = 0; i < 16 * kColumns; ++i) {
    const std::int64_t before = static_cast<std::int32_t>(bits_of(c[i]));
    const std::int64_t exact = before + static_cast<int>(sum[i]);
    const std::int64_t below = exact < 0x7fffffff ? exact : 0x7fffffff;
    const std::int64_t limited = below > -0x80000000ll ? below : -0x80000000ll;
    c[i] = float_of(static_cast<Word>(satfinite ? limited : exact));
  }
}

template <int kEach, int kDepth>
[[gnu::noinline]] void add(const Product& p, const BlockA<kEach, kDepth>& a, const float* b,
                           float* c) {
  if (p.c == Element::s32)
    add_integers(a, b, c, p.satfinite);
  else if (p.sums == Variation::Sums::nearest)
    add_in_order(a, b, c);
  else
    add_aligned(a, b, c, aligned(p));
}

/// Both operands' elements are `kElement`, or, where that is f32, which none is, as `p` says.
template <int kEach, int kDepth, Element kElement = Element::f32>
void mma_in_blocks(const Product& p, void* const* d, const void* const* a, const void* const* b,
                   const void* const* c) {
  const auto decoded = [](Element element, float(*out)[kLanes], const void* word) {
    if constexpr (kElement == Element::bf16)  // most often: without a call
      decode_with<kEach>(out, word, [](Word x) { return from_bf16(x & 0xffff); });
    else
      decode<kEach>(element, out, word);
  };
  BlockA<kEach, kDepth> block;
  for (int r = 0; r < block.kRegisters; ++r) decoded(p.a, block.of + r * kEach, a[r]);
  float columns[kDepth * kColumns], rows[16 * kColumns];
  for (int r = 0; r < block.kRegisters / 2; ++r) {
    float in[kEach][kLanes];
    decoded(p.b, in, b[r]);
    for (int i = 0; i < kEach; ++i)
      transpose(columns + (4 * r * kEach + i) * kColumns, kEach, in[i]);
  }
  load_c(p, c, rows);
  add(p, block, columns, rows);
  store_d(p, rows, d);
}

template <int kEach, int kDepth>
void wgmma_in_blocks(const Product& p, const WgmmaOperands& o) {
  BlockA<kEach, kDepth> block;
  Word words[block.kRegisters][kLanes];
  for (int r = 0; r < block.kRegisters; ++r) {
    const void* source = o.a != nullptr ? o.a[r] : words[r];
    if (o.a == nullptr) {
      // Register r of lane 4 g + t: kEach elements of row g + 8 (r % 2) from kEach (t + 4 (r / 2))
      // on.
      for (int lane = 0; lane < kLanes; ++lane) {
        const Place place = place_in_a(32 / kEach, lane, r * kEach);
        __builtin_memcpy(
            &words[r][lane],
            static_cast<const char*>(o.a_rows) + (place.row * kDepth + place.column) * (4 / kEach),
            4);
      }
    }
    decode<kEach>(p.a, block.of + r * kEach, source);
  }
  if (o.negate_a)
    for (auto& lanes : block.of)
      for (float& x : lanes) x = -x;
  const bool pairs = p.c == Element::f16;
  for (int first = 0; first < p.n; first += 8) {
    void* const* d = o.d + (pairs ? first / 4 : first / 2);
    float rows[16 * kColumns] = {};
    if (o.accumulate) load_c(p, d, rows);
    add(p, block, o.b + first * kDepth, rows);
    store_d(p, rows, d);
  }
}

/// B in blocks of 8 columns: [n / 8][k][8].
template <int kDepth, class F>
void decode_columns(const Product& p, const void* columns, bool negate, float* b, bool k_major,
                    F f) {
  const Word sign = negate ? 0x80000000 : 0;
  for (int first = 0; first < p.n; first += kColumns, b += kDepth * kColumns) {
    using Element =
        std::conditional_t<kDepth == 8, std::uint32_t,
                           std::conditional_t<kDepth == 16, std::uint16_t, std::uint8_t>>;
    Element in[kColumns * kDepth];
    float x[kColumns * kDepth];
    if (k_major)
      __builtin_memcpy(in, static_cast<const Element*>(columns) + first * kDepth, sizeof in);
    else
      for (int k = 0; k < kDepth; ++k)
        __builtin_memcpy(in + k * kColumns, static_cast<const Element*>(columns) + k * p.n + first,
                         kColumns * sizeof(Element));
    float* const out = k_major ? x : b;
    for (int i = 0; i < kColumns * kDepth; ++i) out[i] = float_of(bits_of(f(Word{in[i]})) ^ sign);
    for (int k = 0; k_major && k < kDepth; k += 4) {
      float lanes[kLanes];
      for (int n = 0; n < kColumns; ++n)
        __builtin_memcpy(lanes + 4 * n, x + n * kDepth + k, 4 * sizeof(float));
      transpose(b + k * kColumns, 1, lanes);
    }
  }
}

/// f64: the elements of a fragment are alone in their registers.
template <int kRows, int kDepth>
void mma_f64(const Product&, void* const* d, const void* const* a, const void* const* b,
             const void* const* c) {
  double x[kRows][kDepth], y[kDepth][8], z[kRows][8];
  constexpr int kA = kRows * kDepth / kLanes, kB = kDepth / 4, kC = kRows / 4;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < kA; ++i) {
      // With 8 rows there is one register, row lane / 4.
      const Place at = place_in_a(64, lane, i);
      x[at.row][at.column] = static_cast<const double*>(a[i])[lane];
    }
    for (int i = 0; i < kB; ++i) {
      const Place at = place_in_b(64, lane, i);
      y[at.row][at.column] = static_cast<const double*>(b[i])[lane];
    }
    for (int i = 0; i < kC; ++i) {
      const Place at = place_in_c(lane, i);
      z[at.row][at.column] = static_cast<const double*>(c[i])[lane];
    }
  }
  for (int row = 0; row < kRows; ++row)
    for (int k = 0; k < kDepth; ++k)
      for (int n = 0; n < 8; ++n) z[row][n] = __builtin_fma(x[row][k], y[k][n], z[row][n]);
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < kC; ++i) {
      const Place at = place_in_c(lane, i);
      const double value = z[at.row][at.column];
      static_cast<std::uint64_t*>(d[i])[lane] = value != value ? kNan64 : bits_of(value);
    }
  }
}

}  // namespace

Mma mma(const Product& p) {
  if (p.a == Element::f64) {
    if (p.m == 8) return mma_f64<8, 4>;
    return p.k == 4 ? mma_f64<16, 4> : p.k == 8 ? mma_f64<16, 8> : mma_f64<16, 16>;
  }
  switch (bits_in(p.a)) {
    case 8:
      return p.k == 16 ? mma_in_blocks<4, 16> : mma_in_blocks<4, 32>;
    case 16:
      if (p.a == Element::bf16 && p.k == 16) return mma_in_blocks<2, 16, Element::bf16>;
      return p.k == 8 ? mma_in_blocks<2, 8> : mma_in_blocks<2, 16>;
    default:
      return p.k == 4 ? mma_in_blocks<1, 4> : mma_in_blocks<1, 8>;
  }
}

void decode_b(const Product& p, const void* columns, bool negate, float* b, bool k_major) {
  switch (p.b) {
    case Element::f16:
      return decode_columns<16>(p, columns, negate, b, k_major, [](Word x) { return from_f16(x); });
    case Element::bf16:
      return decode_columns<16>(p, columns, negate, b, k_major,
                                [](Word x) { return from_bf16(x); });
    case Element::e4m3:
      return decode_columns<32>(p, columns, negate, b, k_major,
                                [](Word x) { return from_e4m3(x); });
    case Element::e5m2:
      return decode_columns<32>(p, columns, negate, b, k_major,
                                [](Word x) { return from_e5m2(x); });
    case Element::s8:
      return decode_columns<32>(p, columns, negate, b, k_major, [](Word x) {
        return static_cast<float>(static_cast<std::int8_t>(x));
      });
    case Element::u8:
      return decode_columns<32>(p, columns, negate, b, k_major,
                                [](Word x) { return static_cast<float>(static_cast<int>(x)); });
    default:
      return decode_columns<8>(p, columns, negate, b, k_major,
                               [](Word x) { return float_of(x & 0xffffe000); });
  }
}

Wgmma wgmma(const Product& p) {
  switch (bits_in(p.a)) {
    case 8:
      return wgmma_in_blocks<4, 32>;
    case 16:
      return wgmma_in_blocks<2, 16>;
    default:
      return wgmma_in_blocks<1, 8>;
  }
}

}  // namespace plumbline::ptx::arithmetic::PLUMBLINE_PTX_LEVEL
