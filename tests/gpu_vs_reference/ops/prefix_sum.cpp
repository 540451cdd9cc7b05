// SPDX-License-Identifier: Apache-2.0
#include "ops/prefix_sum.cuh"

#include "reference/bias/prefix_sum.hpp"
#include "reference/scalars/mpreal.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/prefix_sum.hpp"

BOOST_AUTO_TEST_SUITE(prefix_sum_test)

namespace {

using namespace plumbline;
using namespace plumbline::op_tests;
using reference::MpReal;
using reference::RunningError;

struct Problem {
  int rows, length;
  std::vector<double> terms;  // floats
};

Problem problem(std::uint64_t seed) {
  reference::Numbers numbers(seed);
  Problem p;
  p.rows = static_cast<int>(numbers.between(1, 4));
  // Around a thread's 4 values, a warp's 128, a block's 512, several blocks' worth.
  constexpr int lengths[] = {1, 2, 4, 5, 127, 128, 129, 511, 512, 513, 1024, 1500};
  p.length = lengths[static_cast<std::size_t>(numbers.between(0, 11.99))];
  for (int n = 0; n < p.rows * p.length; ++n)
    p.terms.push_back(numbers.between(-1, 1) * std::exp2(numbers.between(-30, 5)));
  p.terms = representable<float>(p.terms);
  return p;
}

/// The oracle in 50 digits: its own error is nothing beside a limit in double.
template <class Sums>
void check(Comparison& comparison, const Problem& p, const std::vector<double>& got, bool reverse,
           const Sums& sums) {
  for (int row = 0; row < p.rows; ++row) {
    reference::Vector<MpReal> terms(p.length);
    for (int n = 0; n < p.length; ++n) terms[n] = MpReal(p.terms[row * p.length + n]);
    const reference::Vector<MpReal> exact = sums(terms);
    for (int n = 0; n < p.length; ++n) {
      double magnitude = 0.0;
      for (int k = reverse ? n : 0; k < (reverse ? p.length : n + 1); ++k)
        magnitude += std::fabs(p.terms[row * p.length + k]);
      const double value = static_cast<double>(exact[n]);
      const int count = reverse ? p.length - n : n + 1;
      const double limit = reverse ? op_bounds::rounded_sum_limit(count, magnitude, value)
                                   : op_bounds::double_sum_limit(count, magnitude);
      const std::size_t place = static_cast<std::size_t>(row) * p.length + n;
      const MpReal error = MpReal(got[place]) - exact[n];
      comparison.element(place, static_cast<double>(error), RunningError(0.0), limit);
    }
  }
}

BOOST_AUTO_TEST_CASE(sums_from_the_front_are_the_oracles) {
  Comparison sums("sums");
  for_seeds(40, [&](std::uint64_t seed) {
    const Problem p = problem(seed);
    const auto terms = on_device<float>(p.terms);
    const Device<double> result(p.terms.size());
    gpu::prefix_sum(gpu::Stream(), terms.data(), result.data(), p.rows, p.length);
    check(sums, p, result.numbers(), false,
          [](const auto& x) { return reference::prefix_sum<MpReal>(x); });
  });
  sums.finish();
}

template <class Number>
std::vector<double> grad(const Problem& p) {
  const Device<Number> terms(std::vector<Number>(p.terms.begin(), p.terms.end()));
  const Device<float> result(p.terms.size());
  gpu::prefix_sum_grad(gpu::Stream(), terms.data(), result.data(), p.rows, p.length);
  return result.numbers();
}

BOOST_AUTO_TEST_CASE(the_adjoint_sums_from_the_end_and_rounds_once) {
  Comparison of_floats("of floats"), of_doubles("of doubles");
  for_seeds(40, [&](std::uint64_t seed) {
    const Problem p = problem(seed);
    const auto adjoint = [](const auto& x) { return reference::prefix_sum_grad<MpReal>(x); };
    check(of_floats, p, grad<float>(p), true, adjoint);
    check(of_doubles, p, grad<double>(p), true, adjoint);
  });
  of_floats.finish(0.9);
  of_doubles.finish(0.9);
}

BOOST_AUTO_TEST_CASE(the_order_of_threads_and_the_number_of_workers_change_no_bit) {
  const Problem p = problem(7);
  expect_same_bits([&] { return grad<float>(p); });
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const gpu::Stream stream;
  const Device<float> terms(4), result(4);
  const Device<double> sums(4);
  BOOST_CHECK_EXCEPTION(gpu::prefix_sum(stream, terms.data(), sums.data(), 0, 4),
                        std::invalid_argument, says("rows is 0"));
  BOOST_CHECK_EXCEPTION(gpu::prefix_sum_grad(stream, terms.data(), result.data(), 1, 0),
                        std::invalid_argument, says("length is 0"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
