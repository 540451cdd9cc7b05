// SPDX-License-Identifier: Apache-2.0
#include "ops/rmsnorm.cuh"

#include <boost/mpl/list.hpp>

#include "reference/model/rmsnorm.hpp"
#include "tests/gpu_vs_reference/ops/norm_problem.hpp"

BOOST_AUTO_TEST_SUITE(rmsnorm_test)

namespace {

using namespace plumbline;
using namespace plumbline::op_tests;
using reference::RunningError;
using Elements = boost::mpl::list<float, gpu::bfloat16, gpu::float16>;

struct Results {
  std::vector<double> y, rstd, grad_x, grad_gamma;
};

template <class Element>
Results run(const op_bounds::NormProblem& p) {
  const gpu::Stream stream;
  const gpu::RowShape shape{p.rows, p.width};
  const auto x = on_device<Element>(p.x), grad_y = on_device<Element>(p.grad_y);
  const auto gamma = on_device<float>(p.gamma);
  const Device<Element> y(p.x.size()), grad_x(p.x.size());
  const Device<float> rstd(p.rows), workspace(gpu::norm_workspace(shape));
  const auto grad_gamma = gradient(p.previous_gamma, p.width);
  gpu::rmsnorm_forward(stream, shape, x.data(), gamma.data(), static_cast<float>(p.epsilon),
                       y.data(), rstd.data());
  gpu::rmsnorm_backward(stream, shape, x.data(), gamma.data(), rstd.data(), grad_y.data(),
                        grad_x.data(), grad_gamma.data(), gradient_mode(p), workspace.data());
  return {y.numbers(), rstd.numbers(), grad_x.numbers(), grad_gamma.numbers()};
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_result_is_within_its_derived_limit, Element, Elements) {
  Comparison y("y"), rstd("rstd"), grad_x("grad_x"), grad_gamma("grad_gamma");
  for_seeds(60, [&](std::uint64_t seed) {
    const auto p = norm_problem<Element>(seed);
    const Results got = run<Element>(p);
    const auto bounds = op_bounds::rmsnorm_bounds(p, norm_contract<Element>(p));
    const auto X = matrix(p.x, p.rows, p.width), dY = matrix(p.grad_y, p.rows, p.width);
    const auto gamma = reference::lifted<RunningError>(p.gamma);
    const RunningError epsilon(p.epsilon);
    std::vector<RunningError> reciprocals;
    for (int t = 0; t < p.rows; ++t)
      reciprocals.push_back(RunningError(1.0) /
                            reference::root_mean_square<RunningError>(X.row(t), epsilon));
    const auto grad = reference::rmsnorm_grad(X, gamma, epsilon, dY);
    y.check(got.y, reference::rmsnorm(X, gamma, epsilon), bounds.y);
    rstd.check(got.rstd, reciprocals, bounds.rstd);
    grad_x.check(got.grad_x, grad.x, bounds.grad_x);
    grad_gamma.check(got.grad_gamma, on_top(grad.gamma, p.previous_gamma), bounds.grad_gamma);
  });
  for (const auto* result : {&y, &rstd, &grad_x, &grad_gamma}) result->finish();
}

BOOST_AUTO_TEST_CASE(gpt_width_and_a_longer_batch_too) {
  op_bounds::NormProblem p{300, 768, 1e-5f, {}, {}, {}, {}, {}, {}};
  reference::Numbers numbers(5);
  p.x = representable<float>(numbers.between(-3, 3, p.rows * p.width));
  p.gamma = representable<float>(numbers.between(0.5, 2, p.width));
  p.grad_y = representable<float>(numbers.between(-1, 1, p.rows * p.width));
  const Results got = run<float>(p);
  const auto bounds = op_bounds::rmsnorm_bounds(p, norm_contract<float>(p));
  const auto X = matrix(p.x, p.rows, p.width), dY = matrix(p.grad_y, p.rows, p.width);
  const auto gamma = reference::lifted<RunningError>(p.gamma);
  const auto grad = reference::rmsnorm_grad(X, gamma, RunningError(p.epsilon), dY);
  Comparison y("y"), grad_x("grad_x"), grad_gamma("grad_gamma");
  y.check(got.y, reference::rmsnorm(X, gamma, RunningError(p.epsilon)), bounds.y);
  grad_x.check(got.grad_x, grad.x, bounds.grad_x);
  grad_gamma.check(got.grad_gamma, grad.gamma, bounds.grad_gamma);
  for (const auto* result : {&y, &grad_x, &grad_gamma}) result->finish();
}

BOOST_AUTO_TEST_CASE(the_order_of_threads_and_the_number_of_workers_change_no_bit) {
  const auto p = norm_problem<float>(4);
  expect_same_bits([&] {
    const Results r = run<float>(p);
    std::vector<double> all = r.y;
    for (const auto* more : {&r.rstd, &r.grad_x, &r.grad_gamma})
      all.insert(all.end(), more->begin(), more->end());
    return all;
  });
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const gpu::Stream stream;
  const Device<float> a(8), b(8), c(8);
  const auto forward = [&](int rows, int width, float epsilon) {
    gpu::rmsnorm_forward(stream, {rows, width}, a.data(), b.data(), epsilon, c.data(), b.data());
  };
  BOOST_CHECK_EXCEPTION(forward(0, 8, 1e-5f), std::invalid_argument, says("rows is 0, must be"));
  BOOST_CHECK_EXCEPTION(forward(1, 0, 1e-5f), std::invalid_argument, says("width is 0, must be"));
  BOOST_CHECK_EXCEPTION(forward(1, 8, 0.0f), std::invalid_argument, says("epsilon is 0, must be"));
  BOOST_CHECK_THROW(forward(1, 8, std::nanf("")), std::invalid_argument);
  BOOST_CHECK_THROW(gpu::norm_workspace({1, -1}), std::invalid_argument);
  BOOST_CHECK_THROW(gpu::rmsnorm_backward(stream, {-1, 8}, a.data(), b.data(), b.data(), a.data(),
                                          c.data(), b.data(), gpu::Gradient::overwrite, b.data()),
                    std::invalid_argument);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
