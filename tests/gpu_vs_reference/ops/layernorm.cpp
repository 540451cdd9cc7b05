// SPDX-License-Identifier: Apache-2.0
#include "ops/layernorm.cuh"

#include <boost/mpl/list.hpp>

#include "reference/model/layernorm.hpp"
#include "tests/gpu_vs_reference/ops/norm_problem.hpp"

BOOST_AUTO_TEST_SUITE(layernorm_test)

namespace {

using namespace plumbline;
using namespace plumbline::op_tests;
using reference::RunningError;
using Elements = boost::mpl::list<float, gpu::bfloat16, gpu::float16>;

struct Results {
  std::vector<double> y, mean, rstd, grad_x, grad_gamma, grad_beta;
};

template <class Element>
Results run(const op_bounds::NormProblem& p) {
  const gpu::Stream stream;
  const gpu::RowShape shape{p.rows, p.width};
  const auto x = on_device<Element>(p.x), grad_y = on_device<Element>(p.grad_y);
  const auto gamma = on_device<float>(p.gamma), beta = on_device<float>(p.beta);
  const Device<Element> y(p.x.size()), grad_x(p.x.size());
  const Device<float> mean(p.rows), rstd(p.rows), workspace(gpu::norm_workspace(shape));
  const auto grad_gamma = gradient(p.previous_gamma, p.width);
  const auto grad_beta = gradient(p.previous_beta, p.width);
  gpu::layernorm_forward(stream, shape, x.data(), gamma.data(), beta.data(),
                         static_cast<float>(p.epsilon), y.data(), mean.data(), rstd.data());
  gpu::layernorm_backward(stream, shape, x.data(), gamma.data(), mean.data(), rstd.data(),
                          grad_y.data(), grad_x.data(), grad_gamma.data(), grad_beta.data(),
                          gradient_mode(p), workspace.data());
  return {y.numbers(),      mean.numbers(),       rstd.numbers(),
          grad_x.numbers(), grad_gamma.numbers(), grad_beta.numbers()};
}

/// The rows less their first number, which changes nothing in exact arithmetic: double does not
/// know rows that lie far from 0 as well as the kernel does. Exact, or with the error that TwoSum
/// tells.
reference::Matrix<RunningError> moved(const op_bounds::NormProblem& p) {
  reference::Matrix<RunningError> X(p.rows, p.width);
  for (int t = 0; t < p.rows; ++t) {
    const double first = p.x[static_cast<std::size_t>(t) * p.width];
    for (int c = 0; c < p.width; ++c) {
      const double x = p.x[static_cast<std::size_t>(t) * p.width + c];
      const double d = x - first, back = d + first;
      X(t, c) = RunningError(d, std::fabs((x - back) + (back - d - first)));
    }
  }
  return X;
}

/// Mean and 1 / sigma of every row.
struct Statistics {
  std::vector<RunningError> mean, rstd;
};

Statistics statistics(const reference::Matrix<RunningError>& X, const RunningError& epsilon) {
  Statistics s;
  for (int t = 0; t < X.rows(); ++t) {
    const reference::Vector<RunningError> row = X.row(t);
    s.mean.push_back(reference::sum(row) / RunningError(static_cast<int>(X.cols())));
    s.rstd.push_back(RunningError(1.0) /
                     reference::standardised<RunningError>(row, epsilon).deviation);
  }
  return s;
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_result_is_within_its_derived_limit, Element, Elements) {
  Comparison y("y"), mean("mean"), rstd("rstd");
  Comparison grad_x("grad_x"), grad_gamma("grad_gamma"), grad_beta("grad_beta");
  for_seeds(60, [&](std::uint64_t seed) {
    const auto p = norm_problem<Element>(seed);
    const Results got = run<Element>(p);
    const auto bounds = op_bounds::layernorm_bounds(p, norm_contract<Element>(p));
    const auto X = moved(p), dY = matrix(p.grad_y, p.rows, p.width);
    const auto gamma = reference::lifted<RunningError>(p.gamma);
    const auto beta = reference::lifted<RunningError>(p.beta);
    const RunningError epsilon(p.epsilon);
    const Statistics s = statistics(X, epsilon);
    const auto grad = reference::layernorm_grad(X, gamma, epsilon, dY);
    y.check(got.y, reference::layernorm(X, gamma, beta, epsilon), bounds.y);
    mean.check(got.mean, s.mean, bounds.mean);
    rstd.check(got.rstd, s.rstd, bounds.rstd);
    grad_x.check(got.grad_x, grad.x, bounds.grad_x);
    grad_gamma.check(got.grad_gamma, on_top(grad.gamma, p.previous_gamma), bounds.grad_gamma);
    grad_beta.check(got.grad_beta, on_top(grad.beta, p.previous_beta), bounds.grad_beta);
  });
  for (const auto* result : {&y, &mean, &rstd, &grad_x, &grad_gamma, &grad_beta}) result->finish();
}

BOOST_AUTO_TEST_CASE(a_row_far_from_0_is_as_exact_as_one_around_it) {
  // Multiples of 2^-10 in [-1, 1], and the same with 8192 added: fp32 has both exactly.
  op_bounds::NormProblem near{2, 96, 1e-5f, {}, {}, {}, {}, {}, {}};
  reference::Numbers numbers(9);
  for (int n = 0; n < near.rows * near.width; ++n)
    near.x.push_back(std::floor(numbers.between(-1024, 1024)) / 1024);
  near.gamma = representable<float>(numbers.between(0.5, 2, near.width));
  near.beta = representable<float>(numbers.between(-1, 1, near.width));
  near.grad_y = representable<float>(numbers.between(-1, 1, near.rows * near.width));
  op_bounds::NormProblem far = near;
  for (double& x : far.x) x += 8192;
  const Results a = run<float>(near), b = run<float>(far);
  BOOST_TEST(a.y == b.y);
  BOOST_TEST(a.rstd == b.rstd);
  BOOST_TEST(a.grad_x == b.grad_x);
  BOOST_TEST(a.grad_gamma == b.grad_gamma);
}

BOOST_AUTO_TEST_CASE(a_constant_row_gives_exactly_beta) {
  for (const double constant : {0.0, 0.1, -12345.678, 1e30, 1e-40}) {
    op_bounds::NormProblem p{3, 33, 1e-5f, {}, {}, {}, {}, {}, {}};
    p.x = representable<float>(std::vector<double>(p.rows * p.width, constant));
    p.gamma.assign(p.width, 3.0);
    p.beta = representable<float>(reference::Numbers(1).between(-2, 2, p.width));
    p.grad_y.assign(p.rows * p.width, 0.5);
    const Results got = run<float>(p);
    for (int n = 0; n < p.rows * p.width; ++n)
      BOOST_TEST(got.y[n] == p.beta[n % p.width], "constant " << constant << ", column " << n);
  }
}

BOOST_AUTO_TEST_CASE(the_order_of_threads_and_the_number_of_workers_change_no_bit) {
  const auto p = norm_problem<gpu::bfloat16>(4);
  expect_same_bits([&] {
    const Results r = run<gpu::bfloat16>(p);
    std::vector<double> all = r.y;
    for (const auto* more : {&r.mean, &r.rstd, &r.grad_x, &r.grad_gamma, &r.grad_beta})
      all.insert(all.end(), more->begin(), more->end());
    return all;
  });
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const gpu::Stream stream;
  const Device<float> a(8), b(8), c(8);
  const auto forward = [&](int rows, int width, float epsilon) {
    gpu::layernorm_forward(stream, {rows, width}, a.data(), b.data(), b.data(), epsilon, c.data(),
                           b.data(), b.data());
  };
  BOOST_CHECK_EXCEPTION(forward(-3, 8, 1e-5f), std::invalid_argument, says("rows is -3, must be"));
  BOOST_CHECK_EXCEPTION(forward(1, 0, 1e-5f), std::invalid_argument, says("width is 0, must be"));
  BOOST_CHECK_EXCEPTION(forward(1, 8, -1.0f), std::invalid_argument, says("epsilon is -1, must"));
  BOOST_CHECK_THROW(
      gpu::layernorm_backward(stream, {1, 0}, a.data(), b.data(), b.data(), b.data(), a.data(),
                              c.data(), b.data(), b.data(), gpu::Gradient::overwrite, b.data()),
      std::invalid_argument);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
