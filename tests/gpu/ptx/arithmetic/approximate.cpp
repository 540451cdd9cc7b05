// SPDX-License-Identifier: Apache-2.0
// The functions with .approx against MPFR and the tables of the PTX ISA (9.7.3.8, .13 to .22,
// 9.7.4.9, .10).
#include "ptx/arithmetic/approximate.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "exactly.hpp"

BOOST_AUTO_TEST_SUITE(approximate_test)

namespace {

using namespace plumbline::ptx::arithmetic;
using exactly::Number;
using Vary = plumbline::ptx::Variation::Approximate;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kMinusZero = 0x80000000, kInfinity = 0x7f800000,
                        kMinusInfinity = 0xff800000, kOne = 0x3f800000, kNaN = 0x7fffffff,
                        kSubnormal = 1, kMinusSubnormal = 0x80000001, kMinusOne = 0xbf800000;
constexpr Vary kAll[] = {Vary::nearest, Vary::down, Vary::up, Vary::either};
constexpr Function kFunctions[] = {Function::ex2,  Function::lg2, Function::rcp, Function::rsqrt,
                                   Function::sqrt, Function::sin, Function::cos, Function::tanh};

Words apply(Unary f, Words a) {
  for (std::size_t i = 0; i < a.size(); i += 32) f(&a[i], &a[i]);
  return a;
}

std::uint32_t one(Unary f, std::uint32_t x) { return apply(f, Words(32, x))[31]; }

/// f(x), 300 bits.
Number exact(Function f, double x) {
  const Number number(x);
  switch (f) {
    case Function::ex2:
      return number.of(mpfr_exp2);
    case Function::lg2:
      return number.of(mpfr_log2);
    case Function::rcp:
      return Number(1) / number;
    case Function::rsqrt:
      return number.of(mpfr_rec_sqrt);
    case Function::sqrt:
      return number.of(mpfr_sqrt);
    case Function::sin:
      return number.of(mpfr_sin);
    case Function::cos:
      return number.of(mpfr_cos);
    default:
      return number.of(mpfr_tanh);
  }
}

bool is_defined(Function f, float x) {
  if (std::isnan(x)) return false;
  if (f == Function::lg2 || f == Function::rsqrt || f == Function::sqrt) return x >= 0;
  return !std::isinf(x) || (f != Function::sin && f != Function::cos);
}

struct Special {
  Function function;
  std::uint32_t input, result;
};

BOOST_AUTO_TEST_CASE(special_values_are_those_of_the_isas_tables) {
  const Special table[] = {
      {Function::ex2, kMinusInfinity, 0},
      {Function::ex2, kMinusZero, kOne},
      {Function::ex2, 0, kOne},
      {Function::ex2, kInfinity, kInfinity},
      {Function::lg2, kMinusInfinity, kNaN},
      {Function::lg2, kMinusOne, kNaN},
      {Function::lg2, kMinusZero, kMinusInfinity},
      {Function::lg2, 0, kMinusInfinity},
      {Function::lg2, kInfinity, kInfinity},
      {Function::rcp, kMinusInfinity, kMinusZero},
      {Function::rcp, kMinusZero, kMinusInfinity},
      {Function::rcp, 0, kInfinity},
      {Function::rcp, kInfinity, 0},
      {Function::rsqrt, kMinusInfinity, kNaN},
      {Function::rsqrt, kMinusOne, kNaN},
      {Function::rsqrt, kMinusZero, kMinusInfinity},
      {Function::rsqrt, 0, kInfinity},
      {Function::rsqrt, kInfinity, 0},
      {Function::sqrt, kMinusInfinity, kNaN},
      {Function::sqrt, kMinusOne, kNaN},
      {Function::sqrt, kMinusZero, kMinusZero},
      {Function::sqrt, 0, 0},
      {Function::sqrt, kInfinity, kInfinity},
      {Function::sin, kMinusInfinity, kNaN},
      {Function::sin, kMinusZero, kMinusZero},
      {Function::sin, 0, 0},
      {Function::sin, kInfinity, kNaN},
      {Function::cos, kMinusInfinity, kNaN},
      {Function::cos, kMinusZero, kOne},
      {Function::cos, 0, kOne},
      {Function::cos, kInfinity, kNaN},
      {Function::tanh, kMinusInfinity, kMinusOne},
      {Function::tanh, kMinusZero, kMinusZero},
      {Function::tanh, 0, 0},
      {Function::tanh, kInfinity, kOne},
      // not in a table, but the sign is kept: log2 1 is 0. Subnormals pass tanh (its note).
      {Function::lg2, kOne, 0},
      {Function::tanh, 0x807fffff, 0x807fffff}};
  for (const Level level : exactly::levels()) {
    for (const Vary vary : kAll) {
      for (const Special& row : table) {
        const std::uint32_t result =
            one(approximate(row.function, Format::f32, vary, level), row.input);
        BOOST_TEST(result == row.result, "function " << int(row.function) << " of " << std::hex
                                                     << row.input << " is " << result);
      }
      for (const Function f : kFunctions)
        for (const std::uint32_t nan : {0x7f800001u, 0x7fc00000u, 0xffffffffu})
          BOOST_TEST(one(approximate(f, Format::f32, vary, level), nan) == kNaN);
    }
  }
}

BOOST_AUTO_TEST_CASE(ftz_flushes_subnormal_inputs_and_results_keeping_the_sign) {
  const auto ftz = [](Function f, Vary v = Vary::nearest) {
    return approximate(f, Format::f32_ftz, v);
  };
  BOOST_TEST(one(ftz(Function::ex2), kMinusSubnormal) == kOne);
  BOOST_TEST(one(ftz(Function::lg2), kSubnormal) == kMinusInfinity);
  BOOST_TEST(one(ftz(Function::lg2), kMinusSubnormal) == kMinusInfinity);
  BOOST_TEST(one(ftz(Function::rcp), kMinusSubnormal) == kMinusInfinity);
  BOOST_TEST(one(ftz(Function::rsqrt), kMinusSubnormal) == kMinusInfinity);
  BOOST_TEST(one(ftz(Function::sqrt), kMinusSubnormal) == kMinusZero);
  BOOST_TEST(one(ftz(Function::sin), kMinusSubnormal) == kMinusZero);
  BOOST_TEST(one(ftz(Function::cos), kSubnormal) == kOne);
  BOOST_TEST(one(ftz(Function::ex2), exactly::bits(-126.0f)) == 0x00800000u);
  BOOST_TEST(one(ftz(Function::ex2), exactly::bits(-126.5f)) == 0u);
  BOOST_TEST(one(ftz(Function::rcp), exactly::bits(0x1.8p126f)) == 0u);
  BOOST_TEST(one(ftz(Function::rcp), exactly::bits(-0x1.8p126f)) == kMinusZero);
  BOOST_TEST(one(ftz(Function::ex2, Vary::down), exactly::bits(-126.0f)) == 0u);
  // without .ftz: kept
  BOOST_TEST(one(approximate(Function::ex2, Format::f32, Vary::nearest), exactly::bits(-149.0f)) ==
             1u);
  BOOST_TEST(one(approximate(Function::rsqrt, Format::f32, Vary::nearest), 2) ==
             exactly::bits(0x1p74f));
}

BOOST_AUTO_TEST_CASE(nearest_is_the_exact_result_rounded) {
  for (const Function f : kFunctions) {
    const Words in = exactly::floats(200'000, 10 + static_cast<unsigned>(f));
    const Words out = apply(approximate(f, Format::f32, Vary::nearest), in);
    int wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const float x = exactly::number(in[i]);
      if (!is_defined(f, x) || x == 0) continue;
      const auto expected = static_cast<float>(exactly::rounded(exact(f, x), exactly::kF32));
      if (out[i] != exactly::bits(expected) && ++wrong < 5)
        BOOST_ERROR("function " << int(f) << " of " << std::hexfloat << x << " is "
                                << exactly::number(out[i]) << ", not " << expected);
    }
    BOOST_TEST(wrong == 0);
  }
}

/// The documented error at x, from the ISA's text.
Number documented(Function f, float x, const Number& value, double nearest) {
  const Number relative = exactly::magnitude(value);
  const auto ulps = [&](double count, double at) {
    const int exponent = std::max(-126, std::ilogb(at));
    return Number(count * std::ldexp(1.0, exponent - 23));
  };
  const auto power = [](double exponent) { return Number(exponent).of(mpfr_exp2); };
  const double size = std::fabs(x);
  switch (f) {
    case Function::ex2:
      return ulps(2, nearest);
    case Function::lg2:
      return x > 0.5f && x < 2 ? power(-22) : relative * power(-22);
    case Function::rcp:
      return ulps(1, mpfr_get_d(value.get(), MPFR_RNDZ));
    case Function::rsqrt:
      return relative * power(-22.9);
    case Function::sqrt:
      return relative * power(-23);
    case Function::tanh:
      return relative * power(-11);
    default:
      return power(size <= 2 * M_PI ? -20.5 : -14.7);
  }
}

BOOST_AUTO_TEST_CASE(displaced_results_are_as_far_as_documented_and_no_further) {
  for (const Function f : kFunctions) {
    Words in = exactly::floats(20'000, 20 + static_cast<unsigned>(f));
    for (std::size_t i = 0; i < in.size(); i += 2)  // half of them where something happens
      if (f != Function::rcp && f != Function::sqrt && f != Function::rsqrt)
        in[i] = (in[i] & 0x80ffffff) | (118 + in[i] / 7 % 20) << 23;
    for (const double direction : {-1.0, 1.0}) {
      const Vary vary = direction > 0 ? Vary::up : Vary::down;
      const Words out = apply(approximate(f, Format::f32, vary), in);
      int wrong = 0, moved = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const float x = exactly::number(in[i]), y = exactly::number(out[i]);
        if (!is_defined(f, x) || std::isinf(x) || std::fabs(x) < 0x1p-126f) continue;
        const Number value = exact(f, x);
        const double nearest = exactly::rounded(value, exactly::kF32);
        if (std::isinf(nearest) || (f == Function::lg2 && x == 1)) continue;
        if (nearest == 0) {
          wrong += y != 0;
          continue;
        }
        const Number center = f == Function::ex2 ? Number(nearest) : value;
        const Number error = documented(f, x, value, nearest);
        const bool wave = f == Function::sin || f == Function::cos || f == Function::tanh;
        // No further, on the right side, and nothing that hardware never gives.
        bool good = exactly::magnitude(Number(y) - center) <= error && std::isfinite(y) &&
                    direction * y >= direction * nearest && (!wave || std::fabs(y) <= 1) &&
                    (std::signbit(y) == (mpfr_sgn(value.get()) < 0));
        // As far: the next number would be too far, or on the other side of 0, or above 1.
        const float next = std::nextafter(y, static_cast<float>(direction) * INFINITY);
        const bool may = std::isfinite(next) && (!wave || std::fabs(next) <= 1) &&
                         !(y == 0 && direction * (std::signbit(y) ? 1 : -1) > 0);
        if (may && exactly::magnitude(Number(next) - center) <= error * Number(1 - 0x1p-23))
          good = false;
        moved += y != nearest;
        if (!good && ++wrong < 5)
          BOOST_ERROR("function " << int(f) << " of " << std::hexfloat << x << ", " << direction
                                  << ": " << y << ", nearest " << nearest);
      }
      BOOST_TEST(wrong == 0);
      BOOST_TEST(moved > 5000);
    }
  }
}

BOOST_AUTO_TEST_CASE(either_is_up_or_down_by_the_inputs_bits) {
  for (const Function f : kFunctions) {
    const Words in = exactly::floats(3000);
    const auto of = [&](Vary v) { return apply(approximate(f, Format::f32, v), in); };
    const Words either = of(Vary::either), up = of(Vary::up), down = of(Vary::down);
    int ups = 0, downs = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      BOOST_REQUIRE((either[i] == up[i] || either[i] == down[i]));
      ups += either[i] == up[i] && up[i] != down[i];
      downs += either[i] == down[i] && up[i] != down[i];
    }
    BOOST_TEST((ups > 100 && downs > 100));
  }
}

struct Half {
  Function function;
  Format single, pair;
  exactly::Format format;
  double error;
  bool relative, ftz;
};

BOOST_AUTO_TEST_CASE(all_16_bit_inputs_are_rounded_and_displaced_as_documented) {
  const Half rows[] = {
      {Function::ex2, Format::f16, Format::f16x2, exactly::kF16, -9.9, true, false},
      {Function::ex2, Format::bf16, Format::bf16x2, exactly::kBf16, -7, true, true},
      {Function::tanh, Format::f16, Format::f16x2, exactly::kF16, -10.987, false, false},
      {Function::tanh, Format::bf16, Format::bf16x2, exactly::kBf16, -8, false, false}};
  for (const Half& row : rows) {
    const bool f16 = row.single == Format::f16;
    const auto read = [f16](std::uint32_t half) {
      if (!f16) return exactly::number(half << 16);
      const int exponent = half >> 10 & 31, rest = half & 1023;
      const float size = exponent == 31  ? (rest != 0 ? NAN : INFINITY)
                         : exponent == 0 ? std::ldexp(float(rest), -24)
                                         : std::ldexp(float(rest + 1024), exponent - 25);
      return half >> 15 != 0 ? -size : size;
    };
    Words in(65536);
    for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = 0xabcd0000 | i;  // the rest is not read
    const Words out = apply(approximate(row.function, row.single, Vary::nearest), in);
    const Words up = apply(approximate(row.function, row.single, Vary::up), in);
    const Words down = apply(approximate(row.function, row.single, Vary::down), in);
    const double least = std::ldexp(1.0, row.format.least);
    int wrong = 0, moved = 0;
    for (std::uint32_t i = 0; i < in.size(); ++i) {
      float x = read(i);
      if (std::isnan(x)) {
        wrong += out[i] != 0x7fff || up[i] != 0x7fff || down[i] != 0x7fff;
        continue;
      }
      if (row.ftz && std::fabs(x) < least) x = std::copysign(0.0f, x);
      const Number value = exact(row.function, x);
      double nearest = exactly::rounded(value, row.format);
      const Number error = Number(row.error).of(mpfr_exp2) * (row.relative ? value : Number(1));
      const auto flushed = [&](double y) { return row.ftz && std::fabs(y) < least; };
      if (flushed(nearest)) nearest = 0;
      bool good = read(out[i]) == nearest && std::signbit(read(out[i])) == std::signbit(nearest) &&
                  out[i] >> 16 == 0;
      for (const std::uint32_t bits : {up[i], down[i]}) {
        const double y = read(bits), side = bits == up[i] ? 1 : -1;
        good = good && (y == nearest || exactly::magnitude(Number(y) - value) <= error ||
                        flushed(y) || (y == 0 && nearest == 0));
        good = good && side * y >= side * nearest && (row.relative || std::fabs(y) <= 1);
        moved += y != nearest;
        // As far: the next number would be too far, on the other side of 0, or above 1.
        const double next = read(side * (std::signbit(y) ? -1 : 1) > 0 ? bits + 1 : bits - 1);
        const bool kept = x == 0 || std::isinf(x) || std::isinf(nearest) || nearest == 0 ||
                          y == 0 || std::fabs(x) < 0x1p-126;
        if (!kept && std::isfinite(next) && (row.relative || std::fabs(next) <= 1))
          good = good && !(exactly::magnitude(Number(next) - value) <= error * Number(1 - 0x1p-23));
      }
      if (!good && ++wrong < 5)
        BOOST_ERROR("function " << int(row.function) << " of " << std::hexfloat << x << " is "
                                << read(out[i]) << " (" << read(down[i]) << " to " << read(up[i])
                                << "), not " << nearest);
    }
    BOOST_TEST(wrong == 0);
    BOOST_TEST(moved > 5000);
    for (const Vary vary : kAll) {
      Words pairs(65536);
      for (std::uint32_t i = 0; i < pairs.size(); ++i) pairs[i] = i << 16 | (65535 - i);
      const Words of_pairs = apply(approximate(row.function, row.pair, vary), pairs);
      const Words single = apply(approximate(row.function, row.single, vary), in);
      int differ = 0;
      for (std::uint32_t i = 0; i < pairs.size(); ++i)
        differ += of_pairs[i] != (single[i] << 16 | single[65535 - i]);
      BOOST_TEST(differ == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(quotients_are_as_the_isa_defines_them) {
  const auto divide = [](bool full, bool ftz, Vary vary, float a, float b) {
    Words x(32, exactly::bits(a)), y(32, exactly::bits(b));
    approximate_division(full, ftz, vary)(x.data(), x.data(), y.data());
    return x[0];
  };
  const float infinity = INFINITY;
  for (const Vary vary : kAll) {
    // 9.7.3.8: for 2^126 < |b| < 2^128, NaN if a is infinite, else a zero with the sign
    BOOST_TEST(divide(false, false, vary, infinity, 0x1.000002p126f) == kNaN);
    BOOST_TEST(divide(false, false, vary, 1.0f, -0x1.8p127f) == kMinusZero);
    BOOST_TEST(divide(false, false, vary, -0x1p127f, -0x1.8p127f) == 0u);
    BOOST_TEST(divide(false, false, vary, NAN, 0x1.8p127f) == kNaN);
    BOOST_TEST(divide(true, false, vary, infinity, 0x1.8p127f) == kInfinity);
    for (const bool full : {false, true}) {
      BOOST_TEST(divide(full, false, vary, 0.0f, 0.0f) == kNaN);
      BOOST_TEST(divide(full, false, vary, -1.0f, 0.0f) == kMinusInfinity);
      BOOST_TEST(divide(full, false, vary, 1.0f, -infinity) == kMinusZero);
      BOOST_TEST(divide(full, true, vary, 1.0f, -0x1p-127f) == kMinusInfinity);
      BOOST_TEST(divide(full, true, vary, -0x1p-127f, 1.0f) == kMinusZero);
    }
  }
  BOOST_TEST(divide(false, false, Vary::nearest, 1.0f, 0x1p126f) == exactly::bits(0x1p-126f));
  BOOST_TEST(divide(true, false, Vary::nearest, 0x1p127f, 0x1.8p127f) == exactly::bits(2.0f / 3));
  BOOST_TEST(divide(true, false, Vary::up, 0x1.fffffep127f, 1.0f) == 0x7f7fffffu);  // stays finite
  BOOST_TEST(divide(true, false, Vary::down, -0x1.fffffep127f, 1.0f) == 0xff7fffffu);
  BOOST_TEST(divide(true, false, Vary::up, 3.0f, 2.0f) == exactly::bits(1.5f) + 2);
  BOOST_TEST(divide(true, false, Vary::down, -3.0f, 2.0f) == exactly::bits(-1.5f) + 2);
  const Words a = exactly::floats(50'000, 3), b = exactly::floats(50'000, 4);
  int wrong = 0;
  for (std::size_t i = 0; i < a.size(); i += 32) {
    std::uint32_t near[32], up[32];
    approximate_division(true, false, Vary::nearest)(near, &a[i],
                                                     &b[(i * 7 + 64) % b.size() / 32 * 32]);
    approximate_division(true, false, Vary::up)(up, &a[i], &b[(i * 7 + 64) % b.size() / 32 * 32]);
    for (int lane = 0; lane < 32; ++lane) {
      const float x = exactly::number(a[i + lane]);
      const float y = exactly::number(b[(i * 7 + 64) % b.size() / 32 * 32 + lane]);
      if (!std::isfinite(x) || !std::isfinite(y) || x == 0 || y == 0) continue;
      const Number quotient = Number(x) / Number(y);
      const double nearest = exactly::rounded(quotient, exactly::kF32);
      if (exactly::number(near[lane]) != nearest) ++wrong;
      if (std::isinf(nearest)) continue;
      const int exponent = std::max(-126, std::ilogb(mpfr_get_d(quotient.get(), MPFR_RNDZ)));
      const double moved = exactly::number(up[lane]);
      if (!(exactly::magnitude(Number(moved) - quotient) <= Number(std::ldexp(2.0, exponent - 23))))
        ++wrong;
      if (!(moved > nearest) && nearest != 0 && std::fabs(nearest) < 0x1.fffffep127) ++wrong;
    }
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(upper_words_of_f64) {
  const auto of = [](Function f, Vary vary, std::uint64_t x) {
    std::uint64_t words[32];
    for (auto& word : words) word = x;
    approximate_f64(f, true, vary)(words, words);
    return words[5];
  };
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  const double infinity = INFINITY;
  for (const Vary vary : kAll) {
    for (const Function f : {Function::rcp, Function::rsqrt}) {
      BOOST_TEST(of(f, vary, bits(-0.0)) == bits(-infinity));
      BOOST_TEST(of(f, vary, bits(0.0)) == bits(infinity));
      BOOST_TEST(of(f, vary, bits(-0x1p-1030)) == bits(-infinity));
      BOOST_TEST(of(f, vary, bits(0x1p-1030)) == bits(infinity));
      BOOST_TEST(of(f, vary, bits(infinity)) == 0u);
      BOOST_TEST(of(f, vary, bits(std::nan(""))) == 0x7fffffff00000000u);
      BOOST_TEST((of(f, vary, bits(1.7)) & 0xffffffff) == 0u);
    }
    BOOST_TEST(of(Function::rcp, vary, bits(-infinity)) == bits(-0.0));
    BOOST_TEST(of(Function::rsqrt, vary, bits(-infinity)) == 0x7fffffff00000000u);
    BOOST_TEST(of(Function::rsqrt, vary, bits(-1.0)) == 0x7fffffff00000000u);
    BOOST_TEST(of(Function::rcp, vary, bits(0x1.8p1023)) == 0u);  // a subnormal result
  }
  std::mt19937_64 random(5);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t x = (random() & 0x3fffffffffffffff) | 0x1000000000000000;
    const Number upper(std::bit_cast<double>(x >> 32 << 32));
    for (const Function f : {Function::rcp, Function::rsqrt}) {
      const Number value = f == Function::rcp ? Number(1) / upper : upper.of(mpfr_rec_sqrt);
      const double expected = exactly::rounded(value, {21, -1022, 1023});
      if (std::fabs(expected) < 0x1p-1022) continue;
      BOOST_REQUIRE(of(f, Vary::nearest, x) == bits(expected));
      BOOST_REQUIRE(of(f, Vary::up, x) == bits(expected) + (1ull << 32));
      BOOST_REQUIRE(of(f, Vary::down, x) == bits(expected) - (1ull << 32));
    }
  }
}

BOOST_AUTO_TEST_CASE(rsqrt_of_f64_without_ftz) {
  const auto of = [](Vary vary, std::uint64_t x) {
    std::uint64_t words[32];
    for (auto& word : words) word = x;
    approximate_f64(Function::rsqrt, false, vary)(words, words);
    return words[7];
  };
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  for (const Vary vary : kAll) {
    BOOST_TEST(of(vary, bits(0.0)) == bits(INFINITY));
    BOOST_TEST(of(vary, bits(-0.0)) == bits(-INFINITY));
    BOOST_TEST(of(vary, bits(INFINITY)) == 0u);
    BOOST_TEST(of(vary, 0x8000000000000001) == 0x7fffffffffffffff);
    BOOST_TEST(of(vary, bits(std::nan(""))) == 0x7fffffffffffffff);
  }
  BOOST_TEST(of(Vary::nearest, 1) == bits(0x1p537));
  BOOST_TEST(of(Vary::up, bits(4.0)) == bits(0.5) + 1);
  BOOST_TEST(of(Vary::down, bits(4.0)) == bits(0.5) - 1);
  std::mt19937_64 random(8);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t x = random() % 0x7ff0000000000000;
    const Number exact = Number(std::bit_cast<double>(x)).of(mpfr_rec_sqrt);
    const double expected = exactly::rounded(exact, {53, -1022, 1023});
    const std::uint64_t got = of(Vary::nearest, x);
    BOOST_REQUIRE(got - bits(expected) + 1 <= 2);
  }
}

BOOST_AUTO_TEST_CASE(every_level_gives_the_same_bits) {
  const Words in = exactly::floats(20'000, 6);
  for (const Level level : exactly::levels()) {
    for (const Vary vary : kAll) {
      for (const Function f : kFunctions) {
        for (const Format format : {Format::f32, Format::f32_ftz, Format::f16, Format::f16x2,
                                    Format::bf16, Format::bf16x2}) {
          const Unary plain = approximate(f, format, vary, Level::plain);
          const Unary here = approximate(f, format, vary, level);
          BOOST_REQUIRE((plain == nullptr) == (here == nullptr));
          if (plain != nullptr) BOOST_REQUIRE((apply(plain, in) == apply(here, in)));
        }
      }
      for (const bool full : {false, true}) {
        Words a = in, b = in;
        for (std::size_t i = 0; i < in.size(); i += 32) {
          const std::uint32_t* y = &in[(i * 5 + 96) % in.size() / 32 * 32];
          approximate_division(full, false, vary, Level::plain)(&a[i], &in[i], y);
          approximate_division(full, false, vary, level)(&b[i], &in[i], y);
        }
        BOOST_REQUIRE((a == b));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_the_isa_has_not_is_not_there) {
  BOOST_TEST((approximate(Function::tanh, Format::f32_ftz, Vary::nearest) == nullptr));
  BOOST_TEST((approximate(Function::sin, Format::f16, Vary::nearest) == nullptr));
  BOOST_TEST((approximate_f64(Function::ex2, true, Vary::nearest) == nullptr));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
