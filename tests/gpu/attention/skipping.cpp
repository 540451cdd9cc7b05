// SPDX-License-Identifier: Apache-2.0
// The kernels that skip negligible tiles: they do skip, and what they leave out is within what
// their contracts say.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "plumbline_kernel.h"
#include "tests/gpu/small_case.hpp"

BOOST_AUTO_TEST_SUITE(skipping_test)

namespace {

using namespace plumbline::gpu_tests;

const plumbline_kernel& kernel_named(const std::string& name) {
  const plumbline_library* library = plumbline_kernel_library();
  for (int n = 0; n < library->kernel_count; ++n)
    if (library->kernels[n].name == name) return library->kernels[n];
  throw std::invalid_argument(name);
}

/// A kernel that skips, one that does the same and does not, and the relative rounding of o.
struct Pair {
  const char *skipping, *dense;
  int format;
  double rounding;
};
constexpr Pair kPairs[] = {{"fused_skipping", "fused", PLUMBLINE_FP32, 0x1p-20},
                           {"mma_skipping", "mma", PLUMBLINE_BF16, 0x1p-7}};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int kLength = 200, D = 32, kLast = (kLength - 1) * D;
constexpr Bias kAlibiWithRope(PLUMBLINE_ALIBI, 0, PLUMBLINE_ROPE_HALF_SPLIT);
constexpr Shape kShape{"skip", 1, 1, 1, kLength, kLength, D, true, -1, false, false, false};

/// ALiBi with a steep slope: 64 keys away nothing is left of a weight, by any q and k in [-2, 2].
Case steep(int format, Bias bias = PLUMBLINE_ALIBI, const Shape& shape = kShape) {
  Case made(shape, bias, format);
  std::fill(made.parameters.values[PLUMBLINE_SLOPES].begin(),
            made.parameters.values[PLUMBLINE_SLOPES].end(), 1.0f);
  std::fill(made.parameters.values[PLUMBLINE_LOG_FORGET].begin(),
            made.parameters.values[PLUMBLINE_LOG_FORGET].end(), -1.0f);
  return made;
}

/// A number that is one of bf16, too.
void set(std::vector<float>& wide, std::vector<std::uint16_t>& narrow, std::size_t n, float x) {
  wide[n] = x;
  narrow[n] = truncated({x})[0];
}

struct Result {
  Result(const char* name, const Case& made) : o(made.rows * D), lse(made.rows) {
    const plumbline_outputs outputs{o.data(), lse.data()};
    char message[256] = "";
    const int status = kernel_named(name).forward(&made.problem, &outputs, message, sizeof message);
    BOOST_TEST(status == 0, message);
    if (!made.short_format()) return;
    std::vector<std::uint16_t> narrow(o.size());
    std::memcpy(narrow.data(), o.data(), 2 * narrow.size());
    for (std::size_t n = 0; n < o.size(); ++n) {
      const std::uint32_t bits = std::uint32_t{narrow[n]} << 16;
      std::memcpy(&o[n], &bits, sizeof bits);
    }
  }
  std::vector<float> o, lse;
};

/// @param left_out mass of a row. A mass m left out moves o by at most 2 m max|v| and the LSE by at
/// most m / (1 - m); the arithmetic of both kernels by far less than the rest of this bound.
void check_alike(const Pair& pair, const Case& made, double left_out = 0.0) {
  const Result dense(pair.dense, made), skipping(pair.skipping, made);
  for (std::size_t n = 0; n < dense.o.size(); ++n)
    BOOST_REQUIRE_LE(std::abs(dense.o[n] - skipping.o[n]),
                     2 * left_out + 0x1p-17 + pair.rounding * std::abs(dense.o[n]));
  for (std::size_t n = 0; n < dense.lse.size(); ++n)
    BOOST_REQUIRE_LE(std::abs(dense.lse[n] - skipping.lse[n]),
                     left_out + 0x1p-17 + 0x1p-20 * std::abs(dense.lse[n]));
}

BOOST_AUTO_TEST_CASE(a_far_tile_is_not_even_read) {
  for (const Pair& pair : kPairs) {
    for (const Bias bias : {Bias(PLUMBLINE_ALIBI), Bias(PLUMBLINE_FOX), kAlibiWithRope}) {
      Case made = steep(pair.format, bias);
      set(made.v, made.v16, 0, kInfinity);  // of key 0, column 0
      const Result dense(pair.dense, made), skipping(pair.skipping, made);
      BOOST_TEST(!std::isfinite(dense.o[kLast]));  // 0 times infinity
      BOOST_TEST(std::isfinite(skipping.o[kLast]));
      BOOST_TEST(skipping.o[0] == kInfinity);  // sees key 0 alone
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_left_out_weighs_no_more_than_the_contract_says) {
  for (const Pair& pair : kPairs) {
    const double mass = kernel_named(pair.skipping).contracts[pair.format].skipped_mass;
    BOOST_TEST(mass == 0x1p-14);
    for (const Bias bias : {Bias(PLUMBLINE_ALIBI), Bias(PLUMBLINE_GGD), Bias(PLUMBLINE_FOX),
                            Bias(PLUMBLINE_CABLE), Bias(PLUMBLINE_K_CABLE), kAlibiWithRope})
      for (const float slope : {1.0f, 0.3f, 0.1f, 0.0f}) {
        Case made = steep(pair.format, bias);
        made.parameters.values[PLUMBLINE_SLOPES][0] = slope;
        for (float& f : made.parameters.values[PLUMBLINE_LOG_FORGET]) f = -slope;
        for (float& increment : made.parameters.values[PLUMBLINE_INCREMENTS])
          increment *= 5 * slope;
        check_alike(pair, made, mass);
      }
  }
}

BOOST_AUTO_TEST_CASE(a_key_that_outweighs_its_distance_is_kept) {
  // Key 0 is the last query's own direction, long enough to win against 199 steps of ALiBi. Where
  // that is the only query, the tile in between is left out.
  for (const Pair& pair : kPairs)
    for (const int queries : {kLength, 1})
      for (const float sign : {1.0f, -1.0f}) {
        Shape shape = kShape;
        shape.queries = queries;
        Case made = steep(pair.format, PLUMBLINE_ALIBI, shape);
        made.problem.scale *= sign;
        const int last = (queries - 1) * D;
        for (int d = 0; d < D; ++d) {
          set(made.q, made.q16, last + d, 2.0f);
          set(made.k, made.k16, d, sign * 30.0f);  // 0.125 * 32 * 60 = 240 > 199 + 8
        }
        check_alike(pair, made, 0x1p-14);
        const Result skipping(pair.skipping, made);
        BOOST_TEST(std::abs(skipping.o[last] - made.v[0]) < 1e-2);
        set(made.v, made.v16, 100 * D, kInfinity);
        if (queries == 1) BOOST_TEST(std::isfinite(Result(pair.skipping, made).o[last]));
      }
}

/// What may be said of the one query of leaves_out().
struct Choice {
  int window = -1;
  plumbline_bias bias = PLUMBLINE_NOPE;
  float slope = 0.0f;         // what a step of distance takes
  std::vector<float> sums{};  // S or F, in its place
  float factor = 1.0f;        // by SSMax
};

/// One query, at the last of kLength keys. Its own key has the logit `near`, key `far` `length`
/// times `sign`, and all others 0, before bias and factor. By the value of key `far`, whether that
/// was left out.
bool leaves_out(const Pair& pair, float near, int far, float length, float sign,
                const Choice& choice = {}) {
  Shape shape = kShape;
  shape.queries = 1;
  shape.window = choice.window;
  shape.ssmax = choice.factor != 1.0f;
  Case made = steep(pair.format, choice.bias, shape);
  auto& parameters = made.parameters.values;
  parameters[PLUMBLINE_SSMAX_SCALE][0] = choice.factor / std::log(float{kLength});
  parameters[PLUMBLINE_SLOPES][0] = choice.slope;
  for (int key = 0; key < kLength; ++key) {
    float increment = choice.slope;
    if (!choice.sums.empty()) increment = choice.sums[key] - (key > 0 ? choice.sums[key - 1] : 0);
    parameters[PLUMBLINE_INCREMENTS][key] = increment;
    parameters[PLUMBLINE_LOG_FORGET][key] = -increment;
  }
  const auto clear = [](std::vector<float>& wide, std::vector<std::uint16_t>& narrow) {
    for (std::size_t n = 0; n < wide.size(); ++n) set(wide, narrow, n, 0.0f);
  };
  clear(made.q, made.q16), clear(made.k, made.k16), clear(made.v, made.v16);
  set(made.q, made.q16, 1, 8.0f);  // times the scale, 1
  set(made.k, made.k16, kLast + 1, near);
  set(made.k, made.k16, far * D + 1, sign * length);
  set(made.v, made.v16, far * D, kInfinity);
  return std::isfinite(Result(pair.skipping, made).o[0]);
}

BOOST_AUTO_TEST_CASE(the_bound_decides_whatever_the_logit) {
  // The margin is 10 + ln 200 = 15.298: 64 - 48.75 < 15.298 < 64 - 48.5. What a key's logit may be
  // at most counts, not what it is.
  for (const Pair& pair : kPairs)
    for (const float sign : {1.0f, -1.0f})
      for (const int far : {0, 31, 63}) {
        BOOST_TEST(leaves_out(pair, 64.0f, far, 48.5f, sign));
        BOOST_TEST(!leaves_out(pair, 64.0f, far, 48.75f, sign));
      }
}

BOOST_AUTO_TEST_CASE(the_nearest_key_of_a_tile_has_its_bias) {
  // Key 63 is 136 steps away, which take 34, or with K-CABLE ln(1 + 34^2) = 7.05. Offsets are
  // grouped by 64: up to that many steps may count less. A window's tile of keys 7 to 70 lies in
  // two groups.
  for (const Pair& pair : kPairs) {
    for (const auto bias : {PLUMBLINE_ALIBI, PLUMBLINE_FOX, PLUMBLINE_CABLE_NW}) {
      const Choice falls{-1, bias, 0.25f}, in_window{192, bias, 0.25f};
      BOOST_TEST(leaves_out(pair, 64.0f, 63, 66.0f, 1.0f, falls));
      BOOST_TEST(!leaves_out(pair, 64.0f, 63, 83.0f, 1.0f, falls));
      BOOST_TEST(leaves_out(pair, 64.0f, 70, 66.0f, 1.0f, in_window));
      BOOST_TEST(!leaves_out(pair, 64.0f, 70, 81.5f, 1.0f, in_window));
    }
    const Choice slowly{-1, PLUMBLINE_K_CABLE_NW, 0.25f};
    BOOST_TEST(leaves_out(pair, 64.0f, 63, 55.0f, 1.0f, slowly));
    BOOST_TEST(!leaves_out(pair, 64.0f, 63, 56.0f, 1.0f, slowly));
  }
}

BOOST_AUTO_TEST_CASE(sums_that_meet_the_query_s_within_a_tile_take_nothing) {
  // The query's is 0; keys before 20 have -34, those from 21 to 63 34.
  std::vector<float> sums(kLength, 0.0f);
  std::fill(sums.begin(), sums.begin() + 20, -34.0f);
  std::fill(sums.begin() + 21, sums.begin() + 64, 34.0f);
  for (const Pair& pair : kPairs)
    for (const auto bias : {PLUMBLINE_CABLE_NW, PLUMBLINE_K_CABLE_NW, PLUMBLINE_FOX}) {
      BOOST_TEST(!leaves_out(pair, 64.0f, 20, 60.0f, 1.0f, {-1, bias, 0.0f, sums}));
      if (bias != PLUMBLINE_FOX)  // with which 34 more are added
        BOOST_TEST(leaves_out(pair, 64.0f, 20, 40.0f, 1.0f, {-1, bias, 0.0f, sums}));
    }
}

BOOST_AUTO_TEST_CASE(the_longest_key_of_a_tile_counts_wherever_it_stands) {
  // Tiles that begin with a window's first key, 7: that of 64 keys with key 7 ends with key 70.
  for (const Pair& pair : kPairs)
    for (const int far : {7, 8, 63, 64, 70, 71, 100}) {
      BOOST_TEST(leaves_out(pair, 64.0f, far, 40.0f, 1.0f, {192}));
      BOOST_TEST(!leaves_out(pair, 64.0f, far, 60.0f, -1.0f, {192}));
    }
}

BOOST_AUTO_TEST_CASE(keys_that_are_not_numbers_are_needed) {
  for (const Pair& pair : kPairs)
    for (const float x : {kNan, kInfinity, -kInfinity})
      for (const int key : {0, 5, 63})
        for (const double scale : {0.125, 0.0}) {
          Case made = steep(pair.format);
          made.problem.scale = scale;
          set(made.k, made.k16, key * D + 1, x);
          const Result dense(pair.dense, made), skipping(pair.skipping, made);
          for (int row = 0; row < kLength; ++row)
            BOOST_REQUIRE_EQUAL(std::isnan(skipping.o[row * D]), std::isnan(dense.o[row * D]));
        }
}

BOOST_AUTO_TEST_CASE(a_key_whose_squares_underflow_has_a_length) {
  // 1e-23 squared is 0 in fp32, and the logit of the first key is as large as that of the last, 40.
  Shape shape = kShape;
  shape.queries = 1;
  for (const Pair& pair : kPairs) {
    Case made = steep(pair.format, PLUMBLINE_NOPE, shape);
    made.problem.scale = 5e5;
    for (int d = 0; d < D; ++d) {
      set(made.q, made.q16, d, d == 1 ? 8e18f : 0.0f);
      for (int key = 0; key < kLength; ++key) set(made.k, made.k16, key * D + d, 0.0f);
    }
    for (const int key : {0, kLength - 1}) set(made.k, made.k16, key * D + 1, 1e-23f);
    check_alike(pair, made);
  }
}

BOOST_AUTO_TEST_CASE(a_negative_factor_of_ssmax_turns_the_bound_around) {
  for (const Pair& pair : kPairs) {
    BOOST_TEST(leaves_out(pair, 64.0f, 0, 40.0f, 1.0f, {-1, PLUMBLINE_NOPE, 0.0f, {}, 0.999f}));
    BOOST_TEST(!leaves_out(pair, -64.0f, 0, 60.0f, -1.0f, {-1, PLUMBLINE_NOPE, 0.0f, {}, -1.0f}));
    Shape shape = kShape;
    shape.ssmax = true;
    Case made = steep(pair.format, PLUMBLINE_ALIBI, shape);
    made.parameters.values[PLUMBLINE_SSMAX_SCALE][0] = -0.5f;  // the farthest key wins
    check_alike(pair, made);
  }
}

BOOST_AUTO_TEST_CASE(a_bias_that_rises_again_is_seen) {
  // T5's rows of far offsets above those near by; sums that come back to that of the query.
  for (const Pair& pair : kPairs) {
    Case made = steep(pair.format, PLUMBLINE_T5);
    std::vector<float>& table = made.parameters.values[PLUMBLINE_TABLE];
    for (std::size_t n = 0; n < table.size(); ++n) table[n] = 20.0f * static_cast<float>(n % 8);
    check_alike(pair, made, 0x1p-14);
    for (const auto bias : {PLUMBLINE_CABLE_NW, PLUMBLINE_K_CABLE_NW, PLUMBLINE_FOX}) {
      Case sums = steep(pair.format, bias);
      for (const auto of : {PLUMBLINE_INCREMENTS, PLUMBLINE_LOG_FORGET})
        for (int key = 0; key < kLength; ++key)
          sums.parameters.values[of][key] = key < 100 ? 30.0f : -30.0f;
      check_alike(pair, sums, 0x1p-14);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_sink_counts_as_a_logit) {
  // It outweighs all keys but those of a row's own tile.
  for (const Pair& pair : kPairs) {
    Shape shape = kShape;
    shape.sinks = true;
    Case made = steep(pair.format, PLUMBLINE_ALIBI, shape);
    made.parameters.values[PLUMBLINE_SINKS][0] = 40.0f;
    check_alike(pair, made, 0x1p-14);
    set(made.v, made.v16, 64 * D, kInfinity);
    BOOST_TEST(std::isfinite(Result(pair.skipping, made).o[kLast]));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
