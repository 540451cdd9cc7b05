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

/// One equation read with all scalars. What is checked of it is no template, and so is compiled
/// once.
struct Readings {
  Reading<double> plain;
  Reading<Dual> dual;
  Reading<RunningError> running;
  Reading<MpReal> exact;
  Reading<Interval> enclosed;
  Reading<Archetype> hostile;
};

/// Checks that
/// - all throw the same message, or none throws;
/// - dual, running error and archetype have double's value, bit for bit;
/// - |double - MPFR| <= the running error, and that bound is finite;
/// - the interval contains the MPFR value, and the enclosure is narrower than the running error
///   unless the result is exact (it would otherwise say nothing).
inline void expect_agreement(const Readings& of) {
  const auto& [plain, dual, running, exact, enclosed, hostile] = of;
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

/// Reads `equation` (vector -> vector, generic over the scalar) with all scalars, and
/// `expect_agreement`.
template <class Equation>
void expect_readings_agree(const Equation& equation, const std::vector<double>& inputs) {
  expect_agreement({read_with<double>(equation, inputs), read_with<Dual>(equation, inputs),
                    read_with<RunningError>(equation, inputs), read_with<MpReal>(equation, inputs),
                    read_with<Interval>(equation, inputs), read_with<Archetype>(equation, inputs)});
}

/// A gradient, and the same derivatives by the dual reading, in both scalars.
struct Gradients {
  Vector<RunningError> adjoint, dual;
  Vector<double> plain_adjoint, plain_dual;
};

/// With running errors both are the same (AdjointComparison); in double they are the same numbers
/// as there, bit for bit.
inline void expect_same_gradients(const Gradients& of) {
  BOOST_TEST_REQUIRE(of.adjoint.size() == of.dual.size());
  for (Eigen::Index n = 0; n < of.adjoint.size(); ++n) {
    BOOST_TEST_CONTEXT("derivative in input " << n) {
      const AdjointComparison both{of.adjoint[n], of.dual[n]};
      BOOST_TEST(same_bits(of.plain_adjoint[n], both.adjoint.value()));
      BOOST_TEST(same_bits(of.plain_dual[n], both.dual.value()));
      BOOST_TEST(both.agrees(), "adjoint " << both.adjoint.value() << ", dual " << both.dual.value()
                                           << ", bound " << both.difference().error());
      BOOST_TEST(both.says_something(), "bound " << both.difference().error());
    }
  }
}

/// Checks a hand-written adjoint: `objective` maps the inputs to a number (a Vector of one), and
/// `adjoint` to its gradient, which `expect_same_gradients` compares with the dual reading.
template <class Objective, class Adjoint>
void expect_adjoint(const Objective& objective, const Adjoint& adjoint,
                    const std::vector<double>& inputs) {
  expect_same_gradients(
      {adjoint(lifted<RunningError>(inputs)), dual_derivatives<RunningError>(objective, inputs),
       adjoint(lifted<double>(inputs)), dual_derivatives<double>(objective, inputs)});
}

}  // namespace plumbline::reference
