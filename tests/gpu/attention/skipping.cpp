// SPDX-License-Identifier: Apache-2.0
// The kernel that skips negligible tiles: it does skip, and what it leaves out is within what its
// contract says.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
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

constexpr int kLength = 200, D = 32;
constexpr Shape kShape{"skip", 1, 1, 1, kLength, kLength, D, true, -1, false, false, false};

/// ALiBi with a steep slope: 64 keys away nothing is left of a weight, by any q and k in [-2, 2].
Case steep(plumbline_bias bias = PLUMBLINE_ALIBI) {
  Case made(kShape, bias, PLUMBLINE_FP32);
  std::fill(made.parameters.values[PLUMBLINE_SLOPES].begin(),
            made.parameters.values[PLUMBLINE_SLOPES].end(), 1.0f);
  std::fill(made.parameters.values[PLUMBLINE_LOG_FORGET].begin(),
            made.parameters.values[PLUMBLINE_LOG_FORGET].end(), -1.0f);
  return made;
}

struct Result {
  Result(const char* name, Case& made) : o(made.rows * D), lse(made.rows) {
    const plumbline_outputs outputs{o.data(), lse.data()};
    char message[256] = "";
    const int status = kernel_named(name).forward(&made.problem, &outputs, message, sizeof message);
    BOOST_TEST(status == 0, message);
  }
  std::vector<float> o, lse;
};

BOOST_AUTO_TEST_CASE(a_far_tile_is_not_even_read) {
  for (const auto bias : {PLUMBLINE_ALIBI, PLUMBLINE_FOX}) {
    Case made = steep(bias);
    made.v[0] = std::numeric_limits<float>::infinity();  // of key 0, column 0
    const Result dense("fused", made), skipping("fused_skipping", made);
    const int last = (kLength - 1) * D;
    BOOST_TEST(!std::isfinite(dense.o[last]));  // 0 times infinity
    BOOST_TEST(std::isfinite(skipping.o[last]));
    BOOST_TEST(skipping.o[0] == std::numeric_limits<float>::infinity());  // sees key 0 alone
  }
}

BOOST_AUTO_TEST_CASE(what_is_left_out_weighs_no_more_than_the_contract_says) {
  // A mass m left out moves o by at most 2 m max|v| and the LSE by at most m / (1 - m); the fp32
  // arithmetic of both kernels by far less than the rest of this bound, 2^-17.
  const double mass = kernel_named("fused_skipping").contracts[PLUMBLINE_FP32].skipped_mass;
  BOOST_TEST(mass == 0x1p-14);
  for (const float slope : {1.0f, 0.3f, 0.1f, 0.0f}) {
    Case made = steep();
    made.parameters.values[PLUMBLINE_SLOPES][0] = slope;
    const Result dense("fused", made), skipping("fused_skipping", made);
    for (std::size_t n = 0; n < dense.o.size(); ++n)
      BOOST_REQUIRE_LE(std::abs(dense.o[n] - skipping.o[n]), 2 * mass + 0x1p-17);
    for (std::size_t n = 0; n < dense.lse.size(); ++n)
      BOOST_REQUIRE_LE(std::abs(dense.lse[n] - skipping.lse[n]), mass + 0x1p-17);
  }
}

BOOST_AUTO_TEST_CASE(a_key_that_outweighs_its_distance_is_kept) {
  // Key 0 is the query's own direction, long enough to win against 199 steps of ALiBi.
  Case made = steep();
  for (int d = 0; d < D; ++d) {
    made.q[(kLength - 1) * D + d] = 2.0f;
    made.k[d] = 30.0f;  // 0.125 * 32 * 60 = 240 > 199 + 8
  }
  const Result skipping("fused_skipping", made);
  BOOST_TEST(std::abs(skipping.o[(kLength - 1) * D] - made.v[0]) < 1e-3);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
