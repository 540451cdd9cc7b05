// SPDX-License-Identifier: Apache-2.0
#include "ops/head_gate.cuh"

#include <boost/mpl/list.hpp>

#include "ops/reduce.cuh"
#include "reference/bias/cable_parameters.hpp"
#include "reference/bias/fox.hpp"
#include "reference/scalars/mpreal.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/head_gate.hpp"
#include "verdict/bounds/ops/logistic.hpp"

BOOST_AUTO_TEST_SUITE(head_gate_test)

namespace {

using namespace plumbline;
using namespace plumbline::op_tests;
using op_bounds::HeadGate;
using reference::LinearGrad;
using reference::MpReal;
using Problem = op_bounds::HeadGateProblem;
using Elements = boost::mpl::list<float, gpu::bfloat16, gpu::float16>;

constexpr HeadGate kGates[] = {HeadGate::increment, HeadGate::gain, HeadGate::log_forget};

gpu::HeadGate of(HeadGate gate) {
  return gate == HeadGate::increment ? gpu::HeadGate::increment
         : gate == HeadGate::gain    ? gpu::HeadGate::gain
                                     : gpu::HeadGate::log_forget;
}

/// Heads around four, widths around a warp; gates that are open, closed and far out.
template <class Element>
Problem problem(HeadGate gate, std::uint64_t seed) {
  reference::Numbers numbers(seed);
  Problem p{};
  p.gate = gate;
  p.batch = numbers.whole(1, 3);
  p.length = numbers.whole(1, seed % 5 == 0 ? 120 : 30);
  p.width = numbers.whole(1, seed % 3 == 0 ? 70 : 12);
  p.heads = numbers.whole(1, 9);
  const double size = std::exp2(numbers.between(-3, 4));
  p.x = representable<Element>(numbers.between(-size, size, p.batch * p.length * p.width));
  for (int c = 0; c < p.width; ++c) p.x[c] = 0.0;  // z = b, or exactly 0
  p.W = representable<float>(numbers.between(-2, 2, p.heads * p.width));
  if (seed % 2 == 0) p.b = representable<float>(numbers.between(-3, 3, p.heads));
  p.grad_values = representable<float>(numbers.between(-1, 1, p.batch * p.length * p.heads));
  if (numbers.whole(0, 1))
    p.previous_x = representable<Element>(numbers.between(-2, 2, p.x.size()));
  if (numbers.whole(0, 1)) {
    p.previous_W = representable<float>(numbers.between(-2, 2, p.W.size()));
    p.previous_b = representable<float>(numbers.between(-2, 2, p.b.size()));
  }
  return p;
}

struct Results {
  std::vector<double> values, grad_x, grad_W, grad_b;
};

template <class T>
Device<T> filled(const std::vector<double>& previous, std::size_t count) {
  return previous.empty() ? Device<T>(count) : on_device<T>(previous);
}

template <class Element>
Results run(const Problem& p) {
  const gpu::Stream stream;
  const gpu::HeadGateShape shape{p.batch, p.length, p.width, p.heads};
  const auto x = on_device<Element>(p.x);
  const auto W = on_device<float>(p.W), b = on_device<float>(p.b);
  const auto grad_values = on_device<float>(p.grad_values);
  const Device<float> values(p.grad_values.size()), workspace(gpu::head_gate_workspace(shape));
  const auto grad_x = filled<Element>(p.previous_x, p.x.size());
  const auto grad_W = filled<float>(p.previous_W, p.W.size());
  const auto grad_b = filled<float>(p.previous_b, p.b.size());
  const auto mode = [](const std::vector<double>& previous) {
    return previous.empty() ? gpu::Gradient::overwrite : gpu::Gradient::accumulate;
  };
  gpu::head_gate_forward(stream, of(p.gate), shape, x.data(), W.data(),
                         p.b.empty() ? nullptr : b.data(), values.data());
  gpu::head_gate_backward<Element>(stream, of(p.gate), shape, x.data(), W.data(), values.data(),
                                   grad_values.data(),
                                   {grad_x.data(), mode(p.previous_x), grad_W.data(),
                                    p.b.empty() ? nullptr : grad_b.data(), mode(p.previous_W)},
                                   workspace.data());
  return {values.numbers(), grad_x.numbers(), grad_W.numbers(), grad_b.numbers()};
}

reference::Matrix<MpReal> mp_matrix(const std::vector<double>& numbers, int rows, int columns) {
  reference::Matrix<MpReal> x(rows, columns);
  for (Eigen::Index n = 0; n < x.size(); ++n) x.data()[n] = MpReal(numbers[n]);
  return x;
}

/// The oracle, head by head, in many digits: double does not know a softplus of 1e-12 as well as
/// the kernel does.
struct Oracle {
  std::vector<MpReal> values;
  reference::Matrix<MpReal> grad_x, grad_W;
  std::vector<MpReal> grad_b;
};

Oracle oracle(const Problem& p) {
  const int rows = p.batch * p.length;
  const auto X = mp_matrix(p.x, rows, p.width);
  const auto place = [&](int h, int row) {
    return (static_cast<std::size_t>(row / p.length) * p.heads + h) * p.length + row % p.length;
  };
  const auto start = [](const std::vector<double>& previous, int height, int width) {
    return previous.empty() ? reference::zeros<MpReal>(height, width)
                            : mp_matrix(previous, height, width);
  };
  Oracle all{std::vector<MpReal>(p.grad_values.size()),
             start(p.previous_x, rows, p.width),
             start(p.previous_W, p.heads, p.width),
             {}};
  for (int h = 0; h < p.heads; ++h) {
    reference::Vector<MpReal> w(p.width), upstream(rows), values;
    for (int c = 0; c < p.width; ++c) w[c] = MpReal(p.W[h * p.width + c]);
    for (int row = 0; row < rows; ++row) upstream[row] = MpReal(p.grad_values[place(h, row)]);
    const MpReal b(p.b.empty() ? 0.0 : p.b[h]);
    LinearGrad<MpReal> grad;
    if (p.gate == HeadGate::increment) {
      values = reference::increments(X, w, b);
      grad = reference::increments_grad(X, w, b, upstream);
    } else if (p.gate == HeadGate::gain) {
      values = reference::gain(X, w, b);
      grad = reference::gain_grad(X, w, b, upstream);
    } else {
      values = reference::log_forget_gates(X, w, b);
      grad = reference::log_forget_gates_grad(X, w, b, upstream);
    }
    for (int row = 0; row < rows; ++row) all.values[place(h, row)] = values[row];
    for (Eigen::Index n = 0; n < grad.x.size(); ++n) all.grad_x.data()[n] += grad.x.data()[n];
    for (int c = 0; c < p.width; ++c) all.grad_W(h, c) += grad.w[c];
    if (!p.b.empty())
      all.grad_b.push_back(p.previous_b.empty() ? grad.b : grad.b + MpReal(p.previous_b[h]));
  }
  return all;
}

/// Rounded once, and known to that.
template <class Numbers>
std::vector<reference::RunningError> in_double(const Numbers& exact) {
  std::vector<reference::RunningError> rounded;
  for (std::size_t n = 0; n < static_cast<std::size_t>(exact.size()); ++n) {
    const double value = static_cast<double>(exact.data()[n]);
    rounded.push_back({value, 0x1p-53 * std::fabs(value)});
  }
  return rounded;
}

template <class Element>
op_bounds::HeadGateContract contract(const Problem& p) {
  const int rows = p.batch * p.length;
  return {storage<Element>(),           gpu::warp_row_chain(p.width),    p.heads,
          gpu::column_chain(rows),      gpu::head_gate_bias_chain(rows), op_bounds::exp_error,
          2 * op_bounds::unit_roundoff, 2 * op_bounds::unit_roundoff};
}

BOOST_AUTO_TEST_CASE_TEMPLATE(values_and_gradients_are_within_their_derived_limits, Element,
                              Elements) {
  for (const HeadGate gate : kGates) {
    const std::string name = gate == HeadGate::increment ? "increment "
                             : gate == HeadGate::gain    ? "gain "
                                                         : "log_forget ";
    Comparison values(name + "values"), grad_x(name + "grad_x"), grad_W(name + "grad_W");
    Comparison grad_b(name + "grad_b");
    for_seeds(40, [&](std::uint64_t seed) {
      const auto p = problem<Element>(gate, seed);
      const Results got = run<Element>(p);
      const Oracle exact = oracle(p);
      const auto bounds = op_bounds::head_gate_bounds(p, contract<Element>(p));
      values.check(got.values, in_double(exact.values), bounds.values);
      grad_x.check(got.grad_x, in_double(exact.grad_x), bounds.grad_x);
      grad_W.check(got.grad_W, in_double(exact.grad_W), bounds.grad_W);
      if (!p.b.empty()) grad_b.check(got.grad_b, in_double(exact.grad_b), bounds.grad_b);
    });
    for (const auto* result : {&values, &grad_x, &grad_W, &grad_b}) result->finish();
  }
}

BOOST_AUTO_TEST_CASE(far_out_gates_neither_overflow_nor_lose_what_is_left) {
  // One head, one channel, W = 1: z = x.
  Problem p{HeadGate::gain, 1, 6, 1, 1, {-200, -100, -20, 20, 100, 1e30}, {1}, {}, {}, {}, {}, {}};
  p.grad_values.assign(6, 1.0);
  for (const HeadGate gate : kGates) {
    p.gate = gate;
    const Results got = run<float>(p);
    const Oracle exact = oracle(p);
    const auto bounds = op_bounds::head_gate_bounds(p, contract<float>(p));
    Comparison values("values"), grad_x("grad_x");
    values.check(got.values, in_double(exact.values), bounds.values);
    grad_x.check(got.grad_x, in_double(exact.grad_x), bounds.grad_x);
    values.finish(0.0);
    grad_x.finish(0.0);
  }
  BOOST_TEST(run<float>(p).values[5] == 0.0);  // a gate that is open forgets nothing
}

BOOST_AUTO_TEST_CASE(the_order_of_threads_and_the_number_of_workers_change_no_bit) {
  const auto p = problem<gpu::bfloat16>(HeadGate::gain, 10);
  expect_same_bits([&] {
    Results r = run<gpu::bfloat16>(p);
    for (const auto* more : {&r.grad_x, &r.grad_W, &r.grad_b})
      r.values.insert(r.values.end(), more->begin(), more->end());
    return r.values;
  });
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  auto p = problem<float>(HeadGate::gain, 1);
  const auto refused = [](Problem wrong, const char* message) {
    BOOST_CHECK_EXCEPTION(
        gpu::head_gate_workspace({wrong.batch, wrong.length, wrong.width, wrong.heads}),
        std::invalid_argument, says(message));
    const Device<float> some(1);
    BOOST_CHECK_THROW(gpu::head_gate_forward(gpu::Stream(), gpu::HeadGate::gain,
                                             {wrong.batch, wrong.length, wrong.width, wrong.heads},
                                             some.data(), some.data(), some.data(), some.data()),
                      std::invalid_argument);
  };
  Problem wrong = p;
  wrong.batch = 0;
  refused(wrong, "batch is 0");
  wrong = p;
  wrong.length = -1;
  refused(wrong, "length is -1");
  wrong = p;
  wrong.width = 0;
  refused(wrong, "width is 0");
  wrong = p;
  wrong.heads = 0;
  refused(wrong, "heads is 0");
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
