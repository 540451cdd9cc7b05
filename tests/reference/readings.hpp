// SPDX-License-Identifier: Apache-2.0
// The harness: one equation, read with every scalar, and the readings held against each other.
#pragma once

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/scalars/double.hpp"
#include "reference/scalars/dual.hpp"
#include "reference/scalars/interval.hpp"
#include "reference/scalars/mpreal.hpp"
#include "reference/scalars/running_error.hpp"
#include "tests/reference/adjoint_check.hpp"
#include "tests/reference/archetype.hpp"
#include "tests/reference/numbers.hpp"

namespace plumbline::reference {

/// A reading's result, or the message of what it threw.
template <Real R>
struct Reading {
  Vector<R> value;
  std::optional<std::string> thrown;
};

template <Real R, class Equation>
Reading<R> read_with(const Equation& equation, const std::vector<double>& inputs) {
  try {
    return {equation(lifted<R>(inputs)), std::nullopt};
  } catch (const std::invalid_argument& error) {
    return {{}, error.what()};
  }
}

inline bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Reads `equation` (vector -> vector, generic over the scalar) with all scalars and checks that
/// - all throw the same message, or none throws;
/// - dual, running error and archetype have double's value, bit for bit;
/// - |double - MPFR| <= the running error, and that bound is finite;
/// - the interval contains the MPFR value, and the enclosure is narrower than the running error
///   unless the result is exact (it would otherwise say nothing).
template <class Equation>
void expect_readings_agree(const Equation& equation, const std::vector<double>& inputs) {
  const auto plain = read_with<double>(equation, inputs);
  const auto dual = read_with<Dual>(equation, inputs);
  const auto running = read_with<RunningError>(equation, inputs);
  const auto exact = read_with<MpReal>(equation, inputs);
  const auto enclosed = read_with<Interval>(equation, inputs);
  const auto hostile = read_with<Archetype>(equation, inputs);
  BOOST_TEST((plain.thrown == dual.thrown && plain.thrown == running.thrown &&
              plain.thrown == exact.thrown && plain.thrown == enclosed.thrown &&
              plain.thrown == hostile.thrown),
             "all readings throw the same, or none: " << plain.thrown.value_or("double does not"));
  BOOST_TEST_REQUIRE(exact.value.size() == plain.value.size());

  for (Eigen::Index n = 0; n < plain.value.size(); ++n) {
    BOOST_TEST_CONTEXT("component " << n) {
      const double value = plain.value[n];
      const RunningError& bounded = running.value[n];
      BOOST_TEST(same_bits(dual.value[n].value, value), dual.value[n].value << " " << value);
      BOOST_TEST(same_bits(bounded.value(), value), bounded.value() << " " << value);
      BOOST_TEST(same_bits(hostile.value[n].hidden(), value), hostile.value[n].hidden());
      const MpReal error = abs(MpReal(value) - exact.value[n]);
      BOOST_TEST((error <= bounded.error()), "error " << error << " > bound " << bounded.error());
      BOOST_TEST(std::isfinite(bounded.error()), "no finite bound");
      BOOST_TEST(contains(enclosed.value[n], exact.value[n]), enclosed.value[n]);
      const MpReal width = upper(enclosed.value[n]) - lower(enclosed.value[n]);
      BOOST_TEST((width <= bounded.error()), "width " << width << " > " << bounded.error());
    }
  }
}

/// Checks a hand-written adjoint: `objective` maps the inputs to a number (a Vector of one), and
/// `adjoint` to its gradient. The gradient is compared with the dual reading, both computed with
/// running errors (AdjointComparison). In double both are the same numbers, bit for bit.
template <class Objective, class Adjoint>
void expect_adjoint(const Objective& objective, const Adjoint& adjoint,
                    const std::vector<double>& inputs) {
  const Vector<RunningError> gradient = adjoint(lifted<RunningError>(inputs));
  const Vector<double> plain_gradient = adjoint(lifted<double>(inputs));
  BOOST_TEST_REQUIRE(gradient.size() == static_cast<Eigen::Index>(inputs.size()));
  for (Eigen::Index n = 0; n < gradient.size(); ++n) {
    BOOST_TEST_CONTEXT("derivative in input " << n) {
      const AdjointComparison both{gradient[n],
                                   dual_derivative<RunningError>(objective, inputs, n)};
      BOOST_TEST(same_bits(plain_gradient[n], both.adjoint.value()));
      BOOST_TEST(same_bits(dual_derivative<double>(objective, inputs, n), both.dual.value()));
      BOOST_TEST(both.agrees(), "adjoint " << both.adjoint.value() << ", dual " << both.dual.value()
                                           << ", bound " << both.difference().error());
      BOOST_TEST(both.says_something(), "bound " << both.difference().error());
    }
  }
}

}  // namespace plumbline::reference
