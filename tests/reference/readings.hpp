// SPDX-License-Identifier: Apache-2.0
// The harness: one equation, read with every scalar, and the readings held against each other.
#pragma once

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
#include "tests/reference/archetype.hpp"

namespace plumbline::reference {

/// The scalar of an equation's argument: `[](const auto& x) { using R = ScalarOf<decltype(x)>; ...`
template <class VectorRef>
using ScalarOf = typename std::remove_cvref_t<VectorRef>::Scalar;

/// Uniform numbers in [low, high], of full precision, the same on every machine.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
  }
  std::vector<double> between(double low, double high, int count) {
    std::vector<double> numbers(count);
    for (double& x : numbers) x = between(low, high);
    return numbers;
  }

 private:
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

template <Real R>
Vector<R> lifted(const std::vector<double>& numbers) {
  Vector<R> x(static_cast<Eigen::Index>(numbers.size()));
  for (Eigen::Index n = 0; n < x.size(); ++n) x[n] = R(numbers[n]);
  return x;
}

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
/// running errors: they differ by no more than the two bounds together. In double both are the
/// same numbers, bit for bit.
/// The bounds must be worth something: below 2^-30 of 1 + |gradient|. That is no tolerance on the
/// result; a wrong sign or factor in any term of these problems, whose terms are of the order of
/// 1e-3 to 10, exceeds it by far.
template <class Objective, class Adjoint>
void expect_adjoint(const Objective& objective, const Adjoint& adjoint,
                    const std::vector<double>& inputs) {
  using BoundedDual = BasicDual<RunningError>;
  const Vector<RunningError> gradient = adjoint(lifted<RunningError>(inputs));
  const Vector<double> plain_gradient = adjoint(lifted<double>(inputs));
  BOOST_TEST_REQUIRE(gradient.size() == static_cast<Eigen::Index>(inputs.size()));
  for (Eigen::Index n = 0; n < gradient.size(); ++n) {
    BOOST_TEST_CONTEXT("derivative in input " << n) {
      Vector<BoundedDual> seeded = lifted<BoundedDual>(inputs);
      seeded[n].tangent = RunningError(1.0);
      Vector<Dual> plain_seeded = lifted<Dual>(inputs);
      plain_seeded[n].tangent = 1.0;
      const RunningError tangent = objective(seeded)[0].tangent;

      BOOST_TEST(same_bits(plain_gradient[n], gradient[n].value()));
      BOOST_TEST(same_bits(objective(plain_seeded)[0].tangent, tangent.value()));
      const MpReal difference = abs(MpReal(gradient[n].value()) - MpReal(tangent.value()));
      const double bound = RunningError::rounded_up(gradient[n].error() + tangent.error());
      BOOST_TEST((difference <= bound), "adjoint " << gradient[n].value() << ", dual "
                                                   << tangent.value() << ", bound " << bound);
      BOOST_TEST(bound <= 0x1p-30 * (1 + std::fabs(tangent.value())), "bound " << bound);
    }
  }
}

}  // namespace plumbline::reference
