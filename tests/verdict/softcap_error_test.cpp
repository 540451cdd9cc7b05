// SPDX-License-Identifier: Apache-2.0
// The bounds of a softcap and of its derivative, against fp32 kernels that are as unlucky as their
// contract lets them be.
#include "verdict/bounds/softcap_error.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "verdict/cases/case_file.hpp"

BOOST_AUTO_TEST_SUITE(softcap_error_test)

using namespace plumbline;
using verdict::SoftcapErrors;
using verdict::u;

namespace {

/// The largest |error| / bound of A, and of its derivative, over kernels whose x is off by x_error
/// to either side and whose tanh by what the contract says.
struct Worst {
  double capped = 0, derivative = 0;
};

Worst of_kernels(double cap, double spread, double x_error, double tanh_error) {
  verdict::Contract contract = cases::undeclared_contract();
  contract.tanh_error = tanh_error;
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  Worst worst;
  for (int n = 0; n < 4000; ++n) {
    const double x = spread * normal(random), off = x_error * std::abs(x);
    const SoftcapErrors errors = verdict::softcap_errors(contract, cap, x, off);
    const double exact = cap * std::tanh(x / cap);
    const double slope = 1 / (std::cosh(x / cap) * std::cosh(x / cap));
    for (const double side : {-1.0, 1.0}) {
      const auto given = static_cast<float>(x + side * off * (1 - 0x1p-10));
      const auto c = static_cast<float>(cap);
      // 2 ulp in all: 3u, and the rounding to a float.
      const double unlucky = std::tanh(double{given / c}) * (1 + side * 3 * u);
      const auto t = static_cast<float>(unlucky + side * tanh_error * (1 - 0x1p-10));
      // What the conversion of x adds to its error, half an ulp, is part of x's own error.
      const double of_x = errors.slope * (off + u * std::abs(x));
      const double error = std::abs(c * t - exact);
      const double ratio = error / (of_x + errors.added);
      BOOST_TEST(ratio <= 1, "x = " << x << ", cap " << cap << ": " << error);
      worst.capped = std::max(worst.capped, ratio);
      const double off_slope = std::abs((1.0f - t * t) - slope);
      const double derivative_ratio =
          off_slope / (errors.derivative_error + 2 * u * std::abs(x / cap));
      BOOST_TEST(derivative_ratio <= 1, "x = " << x << ", cap " << cap << ": " << off_slope);
      worst.derivative = std::max(worst.derivative, derivative_ratio);
    }
  }
  return worst;
}

}  // namespace

BOOST_AUTO_TEST_CASE(correct_kernels_are_within_the_bounds_and_come_near_them) {
  for (const double cap : {0.5, 5.0, 50.0, 0.3}) {  // 0.3 is no float
    for (const double spread : {0.01, 1.0, 30.0}) {
      for (const double x_error : {0.0, 0x1p-20, 0x1p-9}) {
        for (const double tanh_error : {0.0, 0x1p-11}) {
          const Worst worst = of_kernels(cap, spread, x_error, tanh_error);
          BOOST_TEST(worst.capped > 0.3, cap << ", " << spread << ", " << x_error << ", "
                                             << tanh_error << ": " << worst.capped);
          BOOST_TEST(worst.derivative > 0.1, cap << ", " << spread << ", " << x_error << ", "
                                                 << tanh_error << ": " << worst.derivative);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(where_the_cap_is_flat_an_error_of_the_product_counts_for_nothing) {
  const verdict::Contract contract = cases::undeclared_contract();
  // x = 500 within 1 under a cap of 50: the slope is below 1/cosh^2(9.9) < 1.01e-8.
  const SoftcapErrors flat = verdict::softcap_errors(contract, 50, 500, 1);
  BOOST_TEST((flat.slope > 0 && flat.slope < 1.05e-8));
  BOOST_TEST(flat.added < 8 * 50 * u);
  // Near 0 it is 1, and an error that reaches 0 makes it 1.
  BOOST_TEST(verdict::softcap_errors(contract, 50, 0, 1).slope == 1.0);
  BOOST_TEST(verdict::softcap_errors(contract, 50, 500, 501).slope == 1.0);
}

BOOST_AUTO_TEST_CASE(nothing_is_asked_of_a_product_that_may_overflow) {
  const SoftcapErrors errors = verdict::softcap_errors(cases::undeclared_contract(), 50, 1e38,
                                                       std::numeric_limits<double>::infinity());
  BOOST_TEST(std::isinf(errors.added));
  BOOST_TEST(errors.derivative_error == 1.0);
}

BOOST_AUTO_TEST_CASE(scores_kept_in_16_bits_may_be_off_by_their_roundings) {
  verdict::Contract contract = cases::undeclared_contract();
  contract.score_format = PLUMBLINE_BF16;
  // x = 1 under a cap of 2: q.k, x and x / 2 are each rounded, 2^-8 of 1, and T = 0.4621.
  const SoftcapErrors errors = verdict::softcap_errors(contract, 2, 1, 0);
  const double t = std::tanh(0.5), least = (1 - t * t) * 3 * 0x1p-8 + 2 * t * 0x1p-8;
  BOOST_TEST(errors.added >= least);
  BOOST_TEST(errors.added < 1.1 * least);
}

BOOST_AUTO_TEST_SUITE_END()
