// SPDX-License-Identifier: Apache-2.0
// Blocked attention held against the equations: |blocked - equation| <= E + B, where E is the
// equation's running error and B what docs/blocked.md derives.
#pragma once

#include <string>
#include <vector>

#include "reference/blocked/tier.hpp"
#include "tests/reference/attention/attention_problem.hpp"
#include "tests/reference/blocked/bounds.hpp"

namespace plumbline::reference {

/// Compares numbers one by one and tells of the worst. Bounds must say something: both together
/// stay below 2^-26 of 1 + the largest number, which no wrong term would.
class Comparison {
 public:
  explicit Comparison(std::string what) : what_(std::move(what)) {}
  ~Comparison() {
    BOOST_TEST(failures_ == 0,
               what_ << ": " << failures_ << " of " << count_ << ", first " << first_);
    BOOST_TEST(!!(largest_bound_ <= 0x1p-26 * (1 + largest_)),
               what_ << ": bounds up to " << largest_bound_);
  }
  void add(double computed, const RunningError& equation, double bound) {
    const double allowed = equation.error() + bound;
    const double error = std::fabs(computed - equation.value());
    largest_ = std::max(largest_, std::fabs(computed));
    if (!(allowed <= largest_bound_)) largest_bound_ = allowed;
    ++count_;
    if (error <= allowed) return;
    if (failures_++ == 0) {
      first_ = "number " + std::to_string(count_ - 1) + ": " + std::to_string(computed) + " and " +
               std::to_string(equation.value()) + ", off by " + std::to_string(error / allowed) +
               " bounds";
    }
  }
  template <class Computed, class Equation, class Bound>
  void add_all(const Computed& computed, const Equation& equation, const Bound& bound) {
    BOOST_TEST_REQUIRE(computed.size() == equation.size());
    BOOST_TEST_REQUIRE(bound.size() == equation.size());
    for (Eigen::Index n = 0; n < static_cast<Eigen::Index>(computed.size()); ++n) {
      add(computed.data()[n], equation.data()[n], bound.data()[n]);
    }
  }

 private:
  std::string what_, first_;
  long count_ = 0, failures_ = 0;
  double largest_ = 0.0, largest_bound_ = 0.0;
};

/// Calls `compare(n)` for the tensors of all heads.
template <class Computed, class Equation, class Bound>
void compare_heads(const std::string& what, const std::vector<Computed>& computed,
                   const std::vector<Equation>& equation, const std::vector<Bound>& bound) {
  BOOST_TEST_REQUIRE(computed.size() == equation.size());
  Comparison comparison(what);
  for (std::size_t n = 0; n < computed.size(); ++n) {
    comparison.add_all(computed[n], equation[n], bound[n]);
  }
}

template <class T>
std::vector<Matrix<T>> lifted_matrices(const std::vector<Matrix<double>>& x) {
  std::vector<Matrix<T>> result;
  for (const Matrix<double>& each : x) {
    result.push_back(each.unaryExpr([](double number) { return T(number); }));
  }
  return result;
}

/// Upstream gradients in [-1, 1).
inline AttentionUpstream<double> any_upstream(const AttentionShape& s, Numbers& numbers) {
  AttentionUpstream<double> upstream;
  for (int n = 0; n < s.batch * s.heads; ++n) {
    Matrix<double> output(s.queries, s.head_dim);
    for (double& x : output.reshaped()) x = numbers.between(-1, 1);
    upstream.output.push_back(output);
    upstream.lse.push_back(lifted<double>(numbers.between(-1, 1, s.queries)));
  }
  return upstream;
}

/// Outputs, LSEs and all gradients of one problem under one method.
template <class Method>
void expect_blocked_within_bounds(const Problem& problem, std::uint64_t seed) {
  Numbers numbers(seed);
  const std::vector<double> inputs = inputs_of<Method>(problem, numbers);
  const AttentionUpstream<double> upstream = any_upstream(problem.shape, numbers);
  const Vector<double> plain = lifted<double>(inputs);
  const Vector<RunningError> bounded = lifted<RunningError>(inputs);
  const ReadProblem<double, Method> read(problem, plain);
  const ReadProblem<RunningError, Method> equation(problem, bounded);
  using B = decltype(read.bias_of()(0, 0));
  const BlockedBounds bounds = BoundsOf<B>(read.inputs, read.bias_of(), upstream).bounds;

  BOOST_TEST_CONTEXT(Method::name << ", " << problem.name << ", seed " << seed) {
    const auto rows = Equations<RunningError>::attention(equation.inputs, equation.bias_of());
    const auto attended = Blocked::attention(read.inputs, read.bias_of());
    compare_heads("o", attended.output, rows.output, bounds.output);
    compare_heads("lse", attended.lse, rows.lse, bounds.lse);

    AttentionUpstream<RunningError> lifted_upstream{lifted_matrices<RunningError>(upstream.output),
                                                    {}};
    for (const Vector<double>& lse : upstream.lse) {
      lifted_upstream.lse.push_back(lse.unaryExpr([](double x) { return RunningError(x); }));
    }
    const auto grad = attention_grad(equation.inputs, equation.bias_of(), lifted_upstream);
    const auto computed = Blocked::attention_grad(read.inputs, read.bias_of(), upstream);
    compare_heads("dq", computed.q, grad.q, bounds.q);
    compare_heads("dk", computed.k, grad.k, bounds.k);
    compare_heads("dv", computed.v, grad.v, bounds.v);
    Comparison("ssmax").add_all(computed.ssmax_scale, grad.ssmax_scale, bounds.ssmax_scale);
    BOOST_TEST_REQUIRE(computed.bias.size() == grad.bias.size());
    Comparison parameters("parameters of the bias");
    for (std::size_t n = 0; n < grad.bias.size(); ++n) {
      parameters.add_all(numbers_of<double>(computed.bias[n]),
                         numbers_of<RunningError>(grad.bias[n]), bounds.bias[n]);
    }
  }
}

}  // namespace plumbline::reference
