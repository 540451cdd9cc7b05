// SPDX-License-Identifier: Apache-2.0
// The harness: one equation, read with every scalar, and the readings held against each other.
#pragma once

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/scalars/double.hpp"
#include "reference/scalars/dual.hpp"
#include "reference/scalars/interval.hpp"
#include "reference/scalars/mpreal.hpp"
#include "reference/scalars/running_error.hpp"
#include "tests/reference/adjoint_check.hpp"
#include "tests/reference/joined.hpp"
#include "tests/reference/numbers.hpp"

namespace plumbline::reference {

/// The scalar of all readings.
using EveryReading = Joined<double, Dual, RunningError, MpReal, Interval>;

inline bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Checks that
/// - double by itself, dual and running error have double's value, bit for bit (an equation that
/// left
///   a sum to Eigen would have another: for double Eigen chooses the order);
/// - |double - MPFR| <= the running error, and that bound is finite;
/// - the interval contains the MPFR value, and the enclosure is narrower than the running error
///   unless the result is exact (it would otherwise say nothing).
inline void expect_agreement(const Vector<double>& plain, const Vector<EveryReading>& of) {
  BOOST_TEST_REQUIRE(plain.size() == of.size());
  for (Eigen::Index n = 0; n < of.size(); ++n) {
    BOOST_TEST_CONTEXT("component " << n) {
      const double value = of[n].as<double>();
      const Dual& dual = of[n].as<Dual>();
      const RunningError& bounded = of[n].as<RunningError>();
      const MpReal& exact = of[n].as<MpReal>();
      const Interval& enclosed = of[n].as<Interval>();
      BOOST_TEST(same_bits(plain[n], value), plain[n] << " " << value);
      BOOST_TEST(same_bits(dual.value, value), dual.value << " " << value);
      BOOST_TEST(same_bits(bounded.value(), value), bounded.value() << " " << value);
      const MpReal error = abs(MpReal(value) - exact);
      BOOST_TEST((error <= bounded.error()), "error " << error << " > bound " << bounded.error());
      BOOST_TEST(std::isfinite(bounded.error()), "no finite bound");
      BOOST_TEST(contains(enclosed, exact), enclosed);
      const MpReal width = upper(enclosed) - lower(enclosed);
      BOOST_TEST((width <= bounded.error()), "width " << width << " > " << bounded.error());
    }
  }
}

/// Reads `equation` (vector -> vector, generic over the scalar) with all scalars, and
/// `expect_agreement`.
template <class Equation>
void expect_readings_agree(const Equation& equation, const std::vector<double>& inputs) {
  expect_agreement(equation(lifted<double>(inputs)), equation(lifted<EveryReading>(inputs)));
}

/// `adjoint` and the dual reading say the same of each derivative (AdjointComparison).
inline void expect_same_gradients(const Vector<EveryReading>& adjoint,
                                  const Vector<RunningError>& dual) {
  BOOST_TEST_REQUIRE(adjoint.size() == dual.size());
  for (Eigen::Index n = 0; n < adjoint.size(); ++n) {
    BOOST_TEST_CONTEXT("derivative in input " << n) {
      const AdjointComparison both{adjoint[n].as<RunningError>(), dual[n]};
      BOOST_TEST(both.agrees(), "adjoint " << both.adjoint.value() << ", dual " << both.dual.value()
                                           << ", bound " << both.difference().error());
      BOOST_TEST(both.says_something(), "bound " << both.difference().error());
    }
  }
}

/// Checks a hand-written adjoint: `objective` maps the inputs to a number (a Vector of one), and
/// `adjoint` to its gradient, whose readings agree, and which `expect_same_gradients` compares with
/// the dual reading.
template <class Objective, class Adjoint>
void expect_adjoint(const Objective& objective, const Adjoint& adjoint,
                    const std::vector<double>& inputs) {
  const Vector<EveryReading> gradient = adjoint(lifted<EveryReading>(inputs));
  expect_agreement(adjoint(lifted<double>(inputs)), gradient);
  expect_same_gradients(gradient, dual_derivatives<RunningError>(objective, inputs));
}

}  // namespace plumbline::reference
