// SPDX-License-Identifier: Apache-2.0
// cvt against MPFR and the PTX ISA's text (9.7.9.21).
#include "ptx/arithmetic/convert.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include "exactly.hpp"

BOOST_AUTO_TEST_SUITE(convert_test)

namespace {

using namespace plumbline::ptx::arithmetic;
using exactly::Number;

struct Known {
  Type type;
  const char* name;
  int width;
};
constexpr Known kTypes[] = {
    {Type::u8, "u8", 8},          {Type::u16, "u16", 16},      {Type::u32, "u32", 32},
    {Type::u64, "u64", 64},       {Type::s8, "s8", 8},         {Type::s16, "s16", 16},
    {Type::s32, "s32", 32},       {Type::s64, "s64", 64},      {Type::f16, "f16", 16},
    {Type::bf16, "bf16", 16},     {Type::tf32, "tf32", 32},    {Type::f32, "f32", 32},
    {Type::f64, "f64", 64},       {Type::f16x2, "f16x2", 32},  {Type::bf16x2, "bf16x2", 32},
    {Type::e4m3x2, "e4m3x2", 16}, {Type::e5m2x2, "e5m2x2", 16}};
const Known& known(Type type) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [&](const Known& one) { return one.type == type; });
}
constexpr const char* kRoundings[] = {"none", "rn",  "rna", "rz",  "rm",
                                      "rp",   "rni", "rzi", "rmi", "rpi"};

bool is_integer(Type t) { return t <= Type::s64; }
bool has_sign(Type t) { return t >= Type::s8 && t <= Type::s64; }
int width(Type t) { return known(t).width; }

/// Digits and exponents; e4m3 has no infinity, and 480 is its NaN.
exactly::Format format(Type t) {
  switch (t) {
    case Type::f16:
      return exactly::kF16;
    case Type::bf16:
      return exactly::kBf16;
    case Type::tf32:
      return exactly::kTf32;
    case Type::f32:
      return exactly::kF32;
    case Type::e4m3x2:
      return {4, -6, 8};
    case Type::e5m2x2:
      return exactly::kE5m2;
    default:
      return {53, -1022, 1023};
  }
}
double largest(Type t) {
  const exactly::Format f = format(t);
  return t == Type::e4m3x2 ? 448 : std::ldexp(2 - std::ldexp(1.0, 1 - f.digits), f.most);
}

/// The number of a float's bits, by the definition of its fields.
double value(Type t, std::uint64_t bits) {
  if (t == Type::f64) return std::bit_cast<double>(bits);
  const exactly::Format f = format(t);
  if (t == Type::tf32) {
    if ((bits & 0x1fff) != 0 && (bits & 0x7fffffff) < 0x7f800000) return NAN;  // below tf32
    bits >>= 13;
  }
  const int all = t == Type::f32 ? 32 : t == Type::tf32 ? 19 : t >= Type::e4m3x2 ? 8 : 16;
  const int exponent = static_cast<int>(bits >> (f.digits - 1)) & ((1 << (all - f.digits)) - 1);
  const auto rest = static_cast<double>(bits & ((1u << (f.digits - 1)) - 1));
  double size = exponent == 0 ? std::ldexp(rest, f.least - f.digits + 1)
                              : std::ldexp(rest + std::ldexp(1.0, f.digits - 1),
                                           exponent - 1 + f.least - f.digits + 1);
  if (t == Type::e4m3x2)
    size = size == 480 ? NAN : size;
  else if (exponent == (1 << (all - f.digits)) - 1)
    size = rest == 0 ? INFINITY : NAN;
  return bits >> (all - 1) & 1 ? -size : size;
}

std::uint64_t canonical_nan(Type t) {
  return t == Type::f64      ? 0x7fffffffffffffff
         : width(t) == 32    ? 0x7fffffff
         : t >= Type::e4m3x2 ? 0x7f
                             : 0x7fff;
}

mpfr_rnd_t mode(Rounding r) {
  switch (r) {
    case Rounding::rz:
    case Rounding::rzi:
      return MPFR_RNDZ;
    case Rounding::rm:
    case Rounding::rmi:
      return MPFR_RNDD;
    case Rounding::rp:
    case Rounding::rpi:
      return MPFR_RNDU;
    default:
      return MPFR_RNDN;
  }
}

/// The float that x becomes: the ISA's rules in order. x is no NaN.
double as_float(const Conversion& c, const Number& x, bool minus_zero) {
  const bool negative = mpfr_sgn(x.get()) < 0 || minus_zero;
  if (c.relu && negative) return 0.0;
  Number number = x;
  if (c.rounding >= Rounding::rni) mpfr_rint(number.get(), x.get(), mode(c.rounding));
  const exactly::Format f = format(c.to);
  double y = exactly::rounded(number, f, mode(c.rounding));
  if (c.rounding == Rounding::rna) {
    const double low = exactly::rounded(number, f, MPFR_RNDZ),
                 high = exactly::rounded(number, f, MPFR_RNDA);
    const Number below = exactly::magnitude(number - Number(low)),
                 above = exactly::magnitude(Number(high) - number);
    y = std::isinf(high) ? y : above <= below ? high : low;
  }
  if (c.sat) return y > 0 ? std::min(y, 1.0) : 0.0;
  if ((c.satfinite || c.to == Type::e4m3x2) && std::fabs(y) > largest(c.to))
    y = std::copysign(largest(c.to), y);
  if (c.ftz && c.to == Type::f32 && std::fabs(y) < 0x1p-126) y = 0;
  return std::copysign(y, negative ? -1.0 : 1.0);
}

/// The integer that x becomes, as 64 bits with its sign or zeros above.
std::uint64_t as_integer(const Conversion& c, const Number& x) {
  Number number;
  mpfr_rint(number.get(), x.get(), mode(c.rounding));
  const int bits = width(c.to);
  const Number most = Number(std::ldexp(1.0, has_sign(c.to) ? bits - 1 : bits)) - Number(1);
  const Number least = has_sign(c.to) ? Number(-std::ldexp(1.0, bits - 1)) : Number(0);
  if (most <= number) number = most;
  if (number <= least) number = least;
  return has_sign(c.to) ? static_cast<std::uint64_t>(mpfr_get_sj(number.get(), MPFR_RNDN))
                        : mpfr_get_uj(number.get(), MPFR_RNDN);
}

std::string name(const Conversion& c) {
  return std::string("cvt.") + kRoundings[static_cast<int>(c.rounding)] + (c.ftz ? ".ftz" : "") +
         (c.sat ? ".sat" : "") + (c.relu ? ".relu" : "") + (c.satfinite ? ".satfinite" : "") + "." +
         known(c.to).name + "." + known(c.from).name;
}

bool is_wide(Type t) { return t == Type::u64 || t == Type::s64 || t == Type::f64; }

/// The conversion of words, 32 at a time.
std::vector<std::uint64_t> convert(const Conversion& c, std::vector<std::uint64_t> in,
                                   std::vector<std::uint64_t> second, Level level) {
  const Convert f = converter(c, level);
  BOOST_REQUIRE_MESSAGE(f != nullptr, name(c));
  while (in.size() % 32 != 0) in.push_back(0);
  second.resize(in.size());
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < in.size(); i += 32) {
    std::uint64_t wide[2][32];
    std::uint32_t words[3][32];
    for (int lane = 0; lane < 32; ++lane) {
      wide[0][lane] = in[i + lane];
      words[0][lane] = static_cast<std::uint32_t>(in[i + lane]);
      words[1][lane] = static_cast<std::uint32_t>(second[i + lane]);
    }
    const void* a = is_wide(c.from) ? static_cast<const void*>(wide[0]) : words[0];
    f(c, is_wide(c.to) ? static_cast<void*>(wide[1]) : words[2], a, words[1]);
    for (int lane = 0; lane < 32; ++lane)
      out.push_back(is_wide(c.to) ? wide[1][lane] : words[2][lane]);
  }
  return out;
}

/// Inputs of a type: all of 8 and 16 bits, with bits above that are not to be read.
std::vector<std::uint64_t> inputs(Type t) {
  std::vector<std::uint64_t> all;
  std::mt19937_64 random(static_cast<unsigned>(t) + 1);
  if (width(t) <= 16 && t < Type::f16x2) {
    const std::uint64_t all_bits = 1ull << width(t);
    for (std::uint64_t i = 0; i < all_bits; ++i)
      all.push_back((random() & 0xffffffff) >> width(t) << width(t) | i);
    return all;
  }
  if (t == Type::f32) {
    for (const std::uint32_t x : exactly::floats(1000)) all.push_back(x);
    // around integers and the ends of integer types, ties of narrow formats among them
    for (int i = 0; i < 6'000; ++i) {
      const auto near = static_cast<float>(std::ldexp(static_cast<double>(random() % 4096) / 4,
                                                      static_cast<int>(random() % 70) - 35));
      all.push_back(exactly::bits(random() % 2 ? near : -near) + random() % 3 - 1);
    }
  } else if (t == Type::f64) {
    for (int i = 0; i < 5'000; ++i) {
      const double near = std::ldexp(static_cast<double>(random() % 65536) / 4,
                                     static_cast<int>(random() % 300) - 150);
      all.push_back(std::bit_cast<std::uint64_t>(random() % 2 ? near : -near) + random() % 3 - 1);
      all.push_back(random());
    }
    for (const double x : {0.0, -0.0, 0x1p-1074, -0x1p-1074, 0x1.fffffffffffffp1023, HUGE_VAL,
                           -HUGE_VAL, std::nan(""), 0x1.ffffffp127, 0x1.fffffefffffffp127})
      all.push_back(std::bit_cast<std::uint64_t>(x));
  } else {
    for (int i = 0; i < 5'000; ++i) all.push_back(random() >> random() % 64 << random() % 8);
    for (const std::uint64_t x : {0ull, 1ull, 0x7fffffffull, 0x80000000ull, 0xffffffffull,
                                  0x7fffffffffffffffull, 0x8000000000000000ull, ~0ull})
      all.push_back(x);
  }
  if (!is_wide(t))
    for (auto& x : all) x &= 0xffffffff;
  return all;
}

struct Read {
  bool nan = false, minus_zero = false;
  Number number;
};
Read read(const Conversion& c, std::uint64_t bits) {
  Read r;
  const int unused = 64 - width(c.from);
  if (is_integer(c.from) && has_sign(c.from)) {
    mpfr_set_sj(r.number.get(), static_cast<std::int64_t>(bits << unused) >> unused, MPFR_RNDN);
  } else if (is_integer(c.from)) {
    mpfr_set_uj(r.number.get(), bits << unused >> unused, MPFR_RNDN);
  } else {
    double x = value(c.from, width(c.from) == 64 ? bits : bits & ((1ull << width(c.from)) - 1));
    if (c.ftz && c.from == Type::f32 && std::fabs(x) < 0x1p-126) x = std::copysign(0.0, x);
    r.nan = std::isnan(x);
    r.minus_zero = x == 0 && std::signbit(x);
    r.number = Number(x);
  }
  return r;
}

bool right(const Conversion& c, std::uint64_t in, std::uint64_t out) {
  const Read x = read(c, in);
  if (is_integer(c.to)) {
    std::uint64_t expected;
    if (x.nan)
      expected = c.from == Type::f64 || width(c.to) == 64 ? 1ull << (width(c.to) - 1) : 0;
    else if (is_integer(c.from) && !c.sat)
      expected = static_cast<std::uint64_t>(
          has_sign(c.from) ? mpfr_get_sj(x.number.get(), MPFR_RNDN)
                           : static_cast<std::intmax_t>(mpfr_get_uj(x.number.get(), MPFR_RNDN)));
    else
      expected = as_integer(c, x.number);
    // In the word of the destination, with sign or zeros above.
    const int unused = 64 - width(c.to);
    expected =
        has_sign(c.to)
            ? static_cast<std::uint64_t>(static_cast<std::int64_t>(expected << unused) >> unused)
            : expected << unused >> unused;
    return out == (is_wide(c.to) ? expected : expected & 0xffffffff);
  }
  if (x.nan) return c.sat ? out == 0 : out == canonical_nan(c.to);
  const double expected = as_float(c, x.number, x.minus_zero), got = value(c.to, out);
  const std::uint64_t above =
      is_wide(c.to) || width(c.to) == 32 ? 0 : out >> (c.to >= Type::e4m3x2 ? 8 : 16);
  return got == expected && std::signbit(got) == std::signbit(expected) && above == 0;
}

void check(const Conversion& c) {
  const std::vector<std::uint64_t> in = inputs(c.from);
  const std::vector<std::uint64_t> out = convert(c, in, {}, Level::plain);
  int wrong = 0;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!right(c, in[i], out[i]) && ++wrong < 4)
      BOOST_ERROR(name(c) << " of " << std::hex << in[i] << " is " << out[i]);
  BOOST_TEST(wrong == 0);
  for (const Level level : exactly::levels())
    BOOST_TEST((convert(c, in, {}, level) == out), name(c));
}

constexpr Type kIntegers[] = {Type::u8, Type::u16, Type::u32, Type::u64,
                              Type::s8, Type::s16, Type::s32, Type::s64};
constexpr Type kFloats[] = {Type::f16, Type::bf16, Type::f32, Type::f64};
constexpr Rounding kToFloat[] = {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp};
constexpr Rounding kToInteger[] = {Rounding::rni, Rounding::rzi, Rounding::rmi, Rounding::rpi};

BOOST_AUTO_TEST_CASE(floats_become_integers_with_every_rounding_clamped) {
  for (const Type from : kFloats)
    for (const Type to : kIntegers)
      for (const Rounding rounding : kToInteger) check({to, from, rounding});
  for (const Rounding rounding : kToInteger) check({Type::s32, Type::f32, rounding, true});
}

BOOST_AUTO_TEST_CASE(integers_become_floats_with_every_rounding) {
  for (const Type from : kIntegers)
    for (const Type to : kFloats)
      for (const Rounding rounding : kToFloat) check({to, from, rounding});
}

BOOST_AUTO_TEST_CASE(integers_become_integers_cut_or_saturated) {
  for (const Type from : kIntegers)
    for (const Type to : kIntegers)
      for (const bool sat : {false, true}) check({.to = to, .from = from, .sat = sat});
}

BOOST_AUTO_TEST_CASE(floats_become_floats) {
  for (const Type from : kFloats) {
    for (const Type to : kFloats) {
      for (const Rounding rounding : kToFloat) {
        check({to, from, rounding});
        if (from == Type::f32 || to == Type::f32) check({to, from, rounding, true});
        if (to != Type::bf16) check({.to = to, .from = from, .rounding = rounding, .sat = true});
      }
      check({to, from});
    }
    for (const Rounding rounding : kToInteger) {
      check({from, from, rounding});
      if (from == Type::f32) check({from, from, rounding, true});
    }
  }
  for (const Type to : {Type::f16, Type::bf16, Type::tf32})
    for (const Rounding rounding : {Rounding::rn, Rounding::rz})
      for (const bool relu : {false, true})
        for (const bool satfinite : {false, true})
          check({.to = to,
                 .from = Type::f32,
                 .rounding = rounding,
                 .satfinite = satfinite,
                 .relu = relu});
  for (const bool satfinite : {false, true})
    check({.to = Type::tf32, .from = Type::f32, .rounding = Rounding::rna, .satfinite = satfinite});
}

/// Pairs: the first operand, or the upper half, is the upper half of the result.
void check_pair(const Conversion& c) {
  const int from_width = c.from >= Type::e4m3x2 ? 8 : 16, to_width = c.to >= Type::e4m3x2 ? 8 : 16;
  const auto single = [](Type t) {
    return t == Type::f16x2 ? Type::f16 : t == Type::bf16x2 ? Type::bf16 : t;
  };
  Conversion half = c;
  half.to = single(c.to);
  half.from = single(c.from);
  std::vector<std::uint64_t> first, second;
  if (c.from == Type::f32) {
    first = second = inputs(Type::f32);
    std::reverse(second.begin(), second.end());
  } else {
    for (std::uint64_t i = 0; i < 65536; ++i)
      first.push_back(from_width == 8 ? i : i << 16 | (65535 - i));
    second.resize(first.size());
  }
  const std::vector<std::uint64_t> out = convert(c, first, second, Level::plain);
  int wrong = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::uint64_t mask = (1ull << from_width) - 1;
    const std::uint64_t high = c.from == Type::f32 ? first[i] : first[i] >> from_width & mask;
    const std::uint64_t low = c.from == Type::f32 ? second[i] : first[i] & mask;
    const bool good =
        right(half, high, out[i] >> to_width) && right(half, low, out[i] & ((1u << to_width) - 1));
    if (!good && ++wrong < 4)
      BOOST_ERROR(name(c) << " of " << std::hex << first[i] << ", " << second[i] << " is "
                          << out[i]);
  }
  BOOST_TEST(wrong == 0);
  for (const Level level : exactly::levels())
    BOOST_TEST((convert(c, first, second, level) == out), name(c));
}

BOOST_AUTO_TEST_CASE(pairs_are_converted_half_by_half) {
  for (const bool relu : {false, true}) {
    for (const Type to : {Type::f16x2, Type::bf16x2})
      for (const Rounding rounding : {Rounding::rn, Rounding::rz})
        for (const bool satfinite : {false, true})
          check_pair({.to = to,
                      .from = Type::f32,
                      .rounding = rounding,
                      .satfinite = satfinite,
                      .relu = relu});
    for (const Type to : {Type::e4m3x2, Type::e5m2x2})
      for (const Type from : {Type::f32, Type::f16x2, Type::bf16x2})
        check_pair(
            {.to = to, .from = from, .rounding = Rounding::rn, .satfinite = true, .relu = relu});
    for (const Type from : {Type::e4m3x2, Type::e5m2x2})
      check_pair({.to = Type::f16x2, .from = from, .rounding = Rounding::rn, .relu = relu});
  }
}

// Numbers by hand, for the rules that the others take from the same reading of the ISA.
BOOST_AUTO_TEST_CASE(by_hand) {
  const auto one = [](const Conversion& c, std::uint64_t a, std::uint64_t b = 0) {
    return convert(c, std::vector<std::uint64_t>(32, a), std::vector<std::uint64_t>(32, b),
                   best_level())[7];
  };
  const auto bits = [](float x) { return std::uint64_t{exactly::bits(x)}; };
  BOOST_TEST(one({Type::f16x2, Type::f32, Rounding::rn}, bits(1.0f), bits(2.0f)) == 0x3c004000u);
  BOOST_TEST(one({Type::bf16, Type::f32, Rounding::rn}, bits(0x1.01p0f)) ==
             0x3f80u);  // a tie: even
  BOOST_TEST(one({Type::bf16, Type::f32, Rounding::rn}, bits(0x1.03p0f)) ==
             0x3f82u);  // a tie: even
  BOOST_TEST(one({Type::tf32, Type::f32, Rounding::rna}, bits(0x1.002p0f)) == bits(0x1.004p0f));
  BOOST_TEST(one({Type::tf32, Type::f32, Rounding::rn}, bits(0x1.002p0f)) == bits(1.0f));
  BOOST_TEST(one({Type::f16, Type::f32, Rounding::rn}, bits(65520.0f)) == 0x7c00u);
  BOOST_TEST(one({Type::f16, Type::f32, Rounding::rz}, bits(1e9f)) == 0x7bffu);
  BOOST_TEST(one({Type::s32, Type::f32, Rounding::rni}, bits(2.5f)) == 2u);
  BOOST_TEST(one({Type::s32, Type::f32, Rounding::rzi}, bits(-3e9f)) == 0x80000000u);
  BOOST_TEST(one({Type::u8, Type::f32, Rounding::rni}, bits(300.0f)) == 255u);
  BOOST_TEST(one({Type::s8, Type::f32, Rounding::rni}, bits(-1.0f)) == 0xffffffffu);
  BOOST_TEST(one({Type::s32, Type::f32, Rounding::rzi}, 0x7fc00000) == 0u);
  BOOST_TEST(one({Type::s64, Type::f32, Rounding::rzi}, 0x7fc00000) == 0x8000000000000000u);
  BOOST_TEST(one({Type::u32, Type::f64, Rounding::rzi}, 0x7ff8000000000000) == 0x80000000u);
  const Conversion e4m3{
      .to = Type::e4m3x2, .from = Type::f32, .rounding = Rounding::rn, .satfinite = true};
  BOOST_TEST(one(e4m3, bits(448.0f), bits(-1e30f)) == 0x7efeu);
  BOOST_TEST(one(e4m3, bits(NAN), bits(0x1p-10f)) == 0x7f00u);       // a tie below 2^-9: to even, 0
  BOOST_TEST(one(e4m3, bits(0x1.8p-9f), bits(1.0625f)) == 0x0238u);  // ties: 2 units, 1
  Conversion e5m2 = e4m3;
  e5m2.to = Type::e5m2x2;
  BOOST_TEST(one(e5m2, bits(INFINITY), bits(1.0f)) == 0x7b3cu);
  BOOST_TEST(one({.to = Type::f32, .from = Type::f32, .sat = true}, bits(-NAN)) == 0u);
  BOOST_TEST((converter({Type::f16, Type::e4m3x2}) == nullptr));
  BOOST_TEST((converter({Type::f16x2, Type::f64}) == nullptr));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
