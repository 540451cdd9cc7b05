// SPDX-License-Identifier: Apache-2.0
// CoPE and DAPE in the verdict: the oracle of a case against the methods' own evaluation, and
// numbers that are off by what they may be, carried through the equations, against the bounds.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

#include "reference/methods/methods.hpp"
#include "verdict/bounds/cope_error.hpp"
#include "verdict/bounds/dape_error.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/oracle/gradient_oracle.hpp"

BOOST_AUTO_TEST_SUITE(score_methods_test)

using namespace plumbline;
using reference::RunningError;

namespace {

cases::Case small_case(cases::Bias bias, std::uint64_t seed) {
  cases::Spec spec;
  spec.pass = cases::Pass::backward;
  spec.bias = bias;
  spec.batch = 2;
  spec.kv_heads = 1 + static_cast<int>(seed % 2);
  spec.heads = 2 * spec.kv_heads;
  spec.keys = 9;
  spec.queries = 6;
  spec.query_offset = 2;
  spec.head_dim = 5;
  spec.mask.causal = seed % 3 != 0;
  spec.mask.ragged = seed % 4 == 1;
  spec.mask.documents = seed % 4 == 2;
  if (seed % 4 == 3) spec.mask.window = 3;
  spec.ssmax = seed % 2 == 1;
  spec.seed = seed;
  return cases::generate(spec);
}

/// The case as reference/methods takes it.
reference::methods::Results<RunningError> evaluated(const cases::Case& c) {
  const auto& s = c.spec;
  reference::methods::Problem problem;
  problem.shape = {s.batch, s.heads, s.kv_heads, s.queries, s.keys, s.head_dim, s.query_offset};
  problem.mask = {s.mask.causal, s.mask.window, c.lengths, c.documents};
  problem.scale = c.scale;
  for (const auto option : cases::options_of(s.bias)) {
    problem.options[cases::info(option).name] = c.options[option];
  }
  reference::methods::Tensors<float> tensors;
  const auto add = [&](const std::string& name, const cases::Shape& shape,
                       const std::vector<float>& numbers) {
    tensors[name] = {{shape.begin(), shape.end()}, numbers};
  };
  add("q", cases::query_shape(s), c.q);
  add("k", cases::key_shape(s), c.k);
  add("v", cases::key_shape(s), c.v);
  add("grad_o", cases::query_shape(s), c.grad_o);
  add("grad_lse", cases::per_query(s), std::vector<float>(c.q.size() / s.head_dim));
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto p = static_cast<plumbline_parameter>(n);
    if (cases::reads(s, p)) add(cases::info(p).name, cases::shape_of(s, c.options, p), c[p]);
  }
  return reference::methods::evaluate(cases::name(s.bias), problem,
                                      reference::methods::lifted<RunningError>(tensors));
}

/// Every number of the oracle is the evaluation's, within what both may be off by.
void compare(const std::string& name, const std::vector<verdict::OracleNumber>& oracle,
             const reference::methods::Results<RunningError>& expected) {
  const auto& numbers = expected.tensors.at(name).data;
  BOOST_REQUIRE_EQUAL(oracle.size(), numbers.size());
  std::size_t wrong = 0, undecided = 0;
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const double error = std::abs(oracle[n].value - numbers[n].value());
    wrong += !(error <= oracle[n].radius + numbers[n].error());
    undecided += !(oracle[n].radius <= verdict::largest_radius * oracle[n].bound);
  }
  BOOST_TEST(wrong == 0u, name << ": " << wrong << " of " << numbers.size());
  BOOST_TEST(undecided == 0u, name << ": " << undecided << " of " << numbers.size());
}

/// Uniform in [-most, most].
class Noise {
 public:
  double operator()(double most) { return most * (2 * uniform_(generator_) - 1); }
  /// most with a random sign, or with one sign for all.
  double extreme(double most, int trial) {
    return trial % 3 == 0 ? most : trial % 3 == 1 ? -most : std::copysign(most, (*this)(1));
  }

 private:
  std::mt19937_64 generator_{7};
  std::uniform_real_distribution<double> uniform_{0, 1};
};

/// The largest |got - exact| / bound.
struct Ratio {
  double worst = 0;
  void add(double got, double exact, double bound) {
    const double ratio = std::abs(got - exact) / bound;
    worst = ratio >= worst || std::isnan(ratio) ? ratio : worst;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_oracle_is_the_methods_evaluation) {
  for (const auto bias : cases::all_biases()) {
    if (!cases::needs_scores(bias)) continue;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const auto c = small_case(bias, seed);
      BOOST_TEST_CONTEXT(cases::to_line(c.spec)) {
        const auto expected = evaluated(c);
        const auto contract = cases::undeclared_contract();
        const auto forward = verdict::oracle_numbers(c, contract, 1);
        std::vector<verdict::OracleNumber> o;
        for (std::size_t n = 0; n < forward.o.size(); ++n) {
          o.push_back({forward.o[n], forward.o_radius[n], forward.o_bound[n]});
        }
        compare("o", o, expected);
        const auto oracle = verdict::gradient_oracle(c, contract, {}, nullptr, 2);
        compare("grad_q", oracle.q, expected);
        compare("grad_k", oracle.k, expected);
        compare("grad_v", oracle.v, expected);
        for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
          const auto p = static_cast<plumbline_parameter>(n);
          if (!cases::has_gradient(c.spec, p)) continue;
          compare(cases::gradient_name(c.spec.bias, p), oracle.parameters[n], expected);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(scores_that_are_off_reach_copes_bounds_and_stay_within) {
  // Unit vectors for the keys and the table: the components of q are the scores and the z_n.
  constexpr int keys = 24, rows = 9;
  constexpr double score_error = 0x1p-12, grad_error = 0x1p-14;
  const auto with_scores = [&]<class R>(const std::vector<double>& s, R) {
    reference::Vector<R> q(keys + rows);
    for (int n = 0; n < keys + rows; ++n) q[n] = R(s[n]);
    reference::Matrix<R> K = reference::zeros<R>(keys, keys + rows);
    reference::Matrix<R> table = reference::zeros<R>(rows, keys + rows);
    for (int j = 0; j < keys; ++j) K(j, j) = R(1.0);
    for (int n = 0; n < rows; ++n) table(n, keys + n) = R(1.0);
    std::vector<int> all(keys);
    std::iota(all.begin(), all.end(), 0);
    return reference::cope_row(q, K, all, R(1.0), table);
  };
  Noise noise;
  Ratio added, scores, by_row;
  int kinks = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> s(keys + rows), moved, dl(keys);
    // Gates of 1/2 in one trial of four: every second count is a whole number.
    for (int j = 0; j < keys; ++j) s[j] = trial % 4 == 0 ? 0.0 : noise(4);
    for (int n = 0; n < rows; ++n) s[keys + n] = noise(2);
    moved = s;
    for (int j = 0; j < keys; ++j) moved[j] += noise.extreme(score_error, trial);
    const auto exact = with_scores(s, RunningError());
    const auto got = with_scores(moved, 0.0);
    const std::vector<double> errors_of_scores(keys, score_error), sizes(rows, 0.0);
    const verdict::CopeNumbers row{exact, errors_of_scores, sizes, 1};
    const auto contract = cases::undeclared_contract();
    const auto errors = verdict::cope_errors(contract, row);
    reference::Vector<double> grad(keys);
    reference::Vector<RunningError> exact_grad(keys);
    for (int j = 0; j < keys; ++j) {
      added.add(got.logits[j] - got.scores[j], exact.logits[j].value() - exact.scores[j].value(),
                errors.added[j]);
      dl[j] = noise(1);
      exact_grad[j] = RunningError(dl[j]);
      grad[j] = dl[j] + noise.extreme(grad_error, trial);
    }
    const std::vector<double> t(keys, grad_error);
    const auto bounds = verdict::cope_gradient_errors(contract, row, errors, {exact_grad, t});
    const auto expected = reference::cope_logits_grad(exact, exact_grad);
    const auto got_grad = reference::cope_logits_grad(got, grad);
    for (int j = 0; j < keys; ++j) {
      scores.add(got_grad.scores[j], expected.scores[j].value(), bounds.scores[j]);
      kinks += std::abs(got_grad.scores[j] - expected.scores[j].value()) > 0.1;
    }
    for (int n = 0; n < rows; ++n) {
      by_row.add(got_grad.by_row[n], expected.by_row[n].value(), bounds.by_row[n]);
    }
  }
  BOOST_TEST(kinks > 100);  // the slope jumped
  for (const Ratio& ratio : {added, scores, by_row}) {
    BOOST_TEST(ratio.worst <= 1.0);
    BOOST_TEST(ratio.worst > 0.4);
  }
}

BOOST_AUTO_TEST_CASE(the_slope_of_a_gate_may_be_taken_from_the_gate) {
  // Two keys and three rows of the table; the first key's gradient reaches the second one's gate.
  const std::vector<double> exact_score(2, 0.0), sizes(3, 0.0), t(2, 0.0);
  const auto contract = cases::undeclared_contract();
  double worst = 0.0;
  for (float s = 4.0f; s < 16.0f; s += 0.37f) {
    reference::Vector<RunningError> q(5), grad(2);
    const double components[] = {0.4, s, 0.5, -1.0, 2.0};
    for (int n = 0; n < 5; ++n) q[n] = RunningError(components[n]);
    grad << RunningError(1.0), RunningError(0.0);
    reference::Matrix<RunningError> K = reference::zeros<RunningError>(2, 5);
    reference::Matrix<RunningError> table = reference::zeros<RunningError>(3, 5);
    for (int j = 0; j < 2; ++j) K(j, j) = RunningError(1.0);
    for (int n = 0; n < 3; ++n) table(n, 2 + n) = RunningError(1.0);
    const auto exact = reference::cope_row(q, K, {0, 1}, RunningError(1.0), table);
    const verdict::CopeNumbers row{exact, exact_score, sizes, 1};
    const auto errors = verdict::cope_errors(contract, row);
    const auto bounds = verdict::cope_gradient_errors(contract, row, errors, {grad, t});
    const double expected = reference::cope_logits_grad(exact, grad).scores[1].value();
    const double slope = std::exp(-double{s}) / std::pow(1 + std::exp(-double{s}), 2);
    const float gate = 1.0f / (1.0f + std::exp(-s)), from_gate = gate * (1.0f - gate);
    const double got = expected / slope * double{from_gate};
    BOOST_TEST(std::abs(got - expected) <= bounds.scores[1], "at score " << s);
    worst = std::max(worst, std::abs(got - expected) / bounds.scores[1]);
  }
  BOOST_TEST(worst > 0.05);
}

BOOST_AUTO_TEST_CASE(products_and_biases_that_are_off_reach_dapes_bounds_and_stay_within) {
  constexpr int heads = 2, keys = 7, hidden = 3;
  using Numbers = reference::Matrix<double>;
  Noise noise;
  Ratio added, A, B, first, second;
  int kinks = 0;
  const auto filled = [&](int rows, int columns, double most) {
    Numbers m(rows, columns);
    for (double& x : m.reshaped()) x = noise(most);
    return m;
  };
  for (int trial = 0; trial < 600; ++trial) {
    const int taps = trial % 2 == 0 ? 1 : 3;
    const reference::DapeLayers<double> layers{
        {filled(hidden, 2 * heads * taps, 0.5), filled(hidden, 1, 0.5).col(0), taps},
        {filled(heads, hidden * taps, 0.5), filled(heads, 1, 0.5).col(0), taps}};
    const double error = 0x1p-7, grad_error = 0x1p-12;
    const verdict::DapeNumbers row{filled(heads, keys, 2), filled(heads, keys, 3),
                                   Numbers::Constant(heads, keys, error),
                                   Numbers::Constant(heads, keys, error), taps == 1 ? keys : 4};
    const auto contract = cases::undeclared_contract();
    const auto errors = verdict::dape_errors(contract, row, layers);
    const auto off = [&](Numbers m, double most) {
      for (double& x : m.reshaped()) x += noise.extreme(most, trial);
      return m;
    };
    const Numbers moved_A = off(row.A, error), moved_B = off(row.B, error);
    const Numbers exact = reference::dape_row(row.A, row.B, layers, row.seen) - row.A;
    const Numbers got = reference::dape_row(moved_A, moved_B, layers, row.seen) - moved_A;
    const verdict::Bounded dl{filled(heads, keys, 1), Numbers::Constant(heads, keys, grad_error)};
    const auto bounds = verdict::dape_gradient_errors(contract, row, layers, errors, dl);
    const auto expected = reference::dape_row_grad(row.A, row.B, layers, row.seen, dl.value);
    const auto got_grad =
        reference::dape_row_grad(moved_A, moved_B, layers, row.seen, off(dl.value, grad_error));
    const auto compare_all = [](Ratio& ratio, const auto& a, const auto& b, const auto& bound) {
      for (Eigen::Index n = 0; n < a.size(); ++n) {
        ratio.add(a.data()[n], b.data()[n], bound.data()[n]);
      }
    };
    compare_all(added, got, exact, errors.added);
    compare_all(A, got_grad.A, expected.A, bounds.A);
    compare_all(B, got_grad.B, expected.B, bounds.B);
    compare_all(first, got_grad.first.weight, expected.first.weight, bounds.first_error.weight);
    compare_all(second, got_grad.second.weight, expected.second.weight, bounds.second_error.weight);
    kinks += ((got_grad.A - expected.A).cwiseAbs().maxCoeff() > 0.05);
  }
  BOOST_TEST(kinks > 3);  // LeakyReLU's derivative jumped
  for (const Ratio& ratio : {added, A, B, first, second}) {
    BOOST_TEST(ratio.worst <= 1.0);
    BOOST_TEST(ratio.worst > 0.4);
  }
}

BOOST_AUTO_TEST_SUITE_END()
