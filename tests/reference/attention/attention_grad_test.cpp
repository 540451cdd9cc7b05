// SPDX-License-Identifier: Apache-2.0
#include "reference/attention/attention_grad.hpp"

#include "tests/reference/attention/attention_problem.hpp"

BOOST_AUTO_TEST_SUITE(attention_grad_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(a_row_by_hand) {
  // Two keys with equal logits: p = (1/2, 1/2). do = 4, v = (1, 3): dp = (4, 12), D = 8,
  // ds = (1/2 (4 - 8 + 2), 1/2 (12 - 8 + 2)) = (-1, 3) with dlse = 2. scale = 1/2, k = (3, 3),
  // q = 5: dq = 1/2 (-1 + 3) 3 = 3, dk = 1/2 (-1, 3) 5 = (-2.5, 7.5), dv = (2, 2).
  Matrix<double> K(2, 1), V(2, 1);
  K << 3, 3;
  V << 1, 3;
  Matrix<double> grad_k = zeros<double>(2, 1), grad_v = grad_k;
  Nope<double>::Grad no_parameters;
  double ssmax = 0;
  double sink = 0;
  const Vector<double> grad_q = attention_row_grad(
      lifted<double>({5}), K, V, {0, 1}, 0.5, Nope<double>{}, 1, std::nullopt, lifted<double>({4}),
      2.0, AttentionHeadGrad<double, Nope<double>>{grad_k, grad_v, no_parameters, ssmax, sink});
  BOOST_TEST(grad_q[0] == 3.0);
  BOOST_TEST(grad_k(0, 0) == -2.5);
  BOOST_TEST(grad_k(1, 0) == 7.5);
  BOOST_TEST(grad_v(0, 0) == 2.0);
  BOOST_TEST(grad_v(1, 0) == 2.0);
  BOOST_TEST(ssmax == 0.0);
}

BOOST_AUTO_TEST_CASE(dropout_by_hand) {
  // The same with the first key dropped and the second times 2: dp = (0, 24), D = 12, ds = (1/2 (0
  // - 12 + 2), 1/2 (24 - 12 + 2)) = (-5, 7): dq = 1/2 (-5 + 7) 3 = 3, dk = 1/2 (-5, 7) 5, dv = (0,
  // 4).
  Matrix<double> K(2, 1), V(2, 1);
  K << 3, 3;
  V << 1, 3;
  Matrix<double> grad_k = zeros<double>(2, 1), grad_v = grad_k;
  Nope<double>::Grad no_parameters;
  double ssmax = 0, sink = 0;
  const Vector<double> grad_q = attention_row_grad(
      lifted<double>({5}), K, V, {0, 1}, 0.5, Nope<double>{}, 1, std::nullopt, lifted<double>({4}),
      2.0, AttentionHeadGrad<double, Nope<double>>{grad_k, grad_v, no_parameters, ssmax, sink},
      std::nullopt, std::nullopt, lifted<double>({0, 2}));
  BOOST_TEST(grad_q[0] == 3.0);
  BOOST_TEST(grad_k(0, 0) == -12.5);
  BOOST_TEST(grad_k(1, 0) == 17.5);
  BOOST_TEST(grad_v(0, 0) == 0.0);
  BOOST_TEST(grad_v(1, 0) == 4.0);
}

BOOST_AUTO_TEST_CASE(ssmax_by_hand) {
  // The same with s = 3 and n = 2: c = 3 ln 2, logits z = 1/2 * 15 = 7.5 both. ds as above;
  // dz = c ds; ds_h = ln 2 (-1 + 3) 7.5 = 15 ln 2.
  Matrix<double> K(2, 1), V(2, 1);
  K << 3, 3;
  V << 1, 3;
  Matrix<double> grad_k = zeros<double>(2, 1), grad_v = grad_k;
  Nope<double>::Grad no_parameters;
  double ssmax = 1.0;  // it adds to what is there
  double sink = 0;
  const Vector<double> grad_q = attention_row_grad(
      lifted<double>({5}), K, V, {0, 1}, 0.5, Nope<double>{}, 1, 3.0, lifted<double>({4}), 2.0,
      AttentionHeadGrad<double, Nope<double>>{grad_k, grad_v, no_parameters, ssmax, sink});
  BOOST_TEST(ssmax == 1.0 + 15 * std::log(2.0));
  const double c = 3 * std::log(2.0);
  // 1/2 (-c + 3c) 3, three roundings more than 3c: within 4u of 6.24.
  BOOST_TEST(!!(std::fabs(grad_q[0] - 3 * c) <= 4 * 0x1p-53 * 6.24));
}

BOOST_AUTO_TEST_CASE(softcap_by_hand) {
  // The first row with q = ln 3 / 1.5: both products are 1/2 3 q = ln 3, capped at 2 they are 1,
  // and the slope is 3/4. ds = (-1, 3) as above: dq = 3/4 * 3, dk = 1/2 3/4 (-1, 3) q.
  Matrix<double> K(2, 1), V(2, 1);
  K << 3, 3;
  V << 1, 3;
  Matrix<double> grad_k = zeros<double>(2, 1), grad_v = grad_k;
  Nope<double>::Grad no_parameters;
  double ssmax = 0;
  double sink = 0;
  const double q = std::log(3.0) / 1.5;
  const AttentionRow<double> row = attention_row(lifted<double>({q}), K, V, {0, 1}, 0.5,
                                                 Alibi<double>{0.25}, 1, std::nullopt, 2.0);
  const double few = 16 * 0x1p-53;
  BOOST_TEST(!!(std::fabs(row.logits[0] - 0.75) <= few));  // 1 - 1/4: the bias is not capped
  BOOST_TEST(!!(std::fabs(row.logits[1] - 1.0) <= few));
  const Vector<double> grad_q = attention_row_grad(
      lifted<double>({q}), K, V, {0, 1}, 0.5, Nope<double>{}, 1, std::nullopt, lifted<double>({4}),
      2.0, AttentionHeadGrad<double, Nope<double>>{grad_k, grad_v, no_parameters, ssmax, sink},
      2.0);
  BOOST_TEST(!!(std::fabs(grad_q[0] - 2.25) <= 8 * few));
  BOOST_TEST(!!(std::fabs(grad_k(0, 0) + 0.375 * q) <= few));
  BOOST_TEST(!!(std::fabs(grad_k(1, 0) - 1.125 * q) <= few));
}

BOOST_AUTO_TEST_CASE(a_row_that_sees_no_key_has_no_gradients) {
  Matrix<double> K = zeros<double>(1, 1), grad_k = K, grad_v = K;
  Nope<double>::Grad no_parameters;
  double ssmax = 0;
  double sink = 0;
  const Vector<double> grad_q = attention_row_grad(
      lifted<double>({5}), K, K, {}, 0.5, Nope<double>{}, 0, 3.0, lifted<double>({4}), 2.0,
      AttentionHeadGrad<double, Nope<double>>{grad_k, grad_v, no_parameters, ssmax, sink});
  BOOST_TEST(grad_q == lifted<double>({0}));
  BOOST_TEST((grad_k == K));
  BOOST_TEST((grad_v == K));
  BOOST_TEST(ssmax == 0.0);
}

BOOST_AUTO_TEST_CASE(sink_by_hand) {
  // Two scores of 0 and a sink of ln 2: weights 1, 1 and 2 of 4, o = (1 + 3) / 4, lse = ln 4.
  // dP = (4, 12), D = 4, and with dL/dlse = 2: ds = (4 - 4 + 2, 12 - 4 + 2) / 4, of the sink
  // (2 - 4) / 2; dq = 1/2 3 (0.5 + 2.5).
  Matrix<double> K(2, 1), V(2, 1);
  K << 3, 3;
  V << 1, 3;
  Matrix<double> grad_k = zeros<double>(2, 1), grad_v = grad_k;
  Nope<double>::Grad no_parameters;
  double ssmax = 0, sink = 0.5;  // it adds to what is there
  const double z = std::log(2.0), few = 8 * 0x1p-53;
  const AttentionRow<double> row = attention_row(lifted<double>({0}), K, V, {0, 1}, 0.5,
                                                 Nope<double>{}, 1, std::nullopt, std::nullopt, z);
  BOOST_TEST(!!(std::fabs(row.lse - std::log(4.0)) <= few));
  BOOST_TEST(!!(std::fabs(row.output[0] - 1.0) <= few));
  BOOST_TEST(!!(std::fabs(row.probability[1] - 0.25) <= few));
  BOOST_TEST(row.probability.size() == 2);
  BOOST_TEST(!!(std::fabs(row.sink - 0.5) <= few));
  const Vector<double> grad_q = attention_row_grad(
      lifted<double>({0}), K, V, {0, 1}, 0.5, Nope<double>{}, 1, std::nullopt, lifted<double>({4}),
      2.0, AttentionHeadGrad<double, Nope<double>>{grad_k, grad_v, no_parameters, ssmax, sink},
      std::nullopt, z);
  BOOST_TEST(!!(std::fabs(sink - (0.5 - 1.0)) <= 8 * few));
  BOOST_TEST(!!(std::fabs(grad_q[0] - 4.5) <= 16 * few));
  BOOST_TEST(!!(std::fabs(grad_v(1, 0) - 1.0) <= few));
}

BOOST_AUTO_TEST_CASE(a_row_that_sees_its_sink_alone) {
  const Matrix<double> K = zeros<double>(2, 1);
  Matrix<double> grad_k = K, grad_v = K;
  Nope<double>::Grad no_parameters;
  double ssmax = 0, sink = 0;
  const AttentionRow<double> row = attention_row(lifted<double>({5}), K, K, {}, 0.5, Nope<double>{},
                                                 0, std::nullopt, std::nullopt, -3.0);
  BOOST_TEST(!row.sees_no_key);
  BOOST_TEST(row.lse == -3.0);
  BOOST_TEST(row.output == lifted<double>({0}));
  attention_row_grad(
      lifted<double>({5}), K, K, {}, 0.5, Nope<double>{}, 0, std::nullopt, lifted<double>({4}), 2.0,
      AttentionHeadGrad<double, Nope<double>>{grad_k, grad_v, no_parameters, ssmax, sink},
      std::nullopt, -3.0);
  BOOST_TEST(sink == 2.0);  // dL/dlse
}

BOOST_AUTO_TEST_CASE(upstream_gradients_that_do_not_fit_are_refused) {
  AttentionInputs<double> x;
  x.shape = {1, 1, 1, 1, 1, 1, 0};
  x.q = x.k = x.v = {zeros<double>(1, 1)};
  x.scale = 1.0;
  const auto bias_of = [](int, int) { return Nope<double>{}; };
  const Matrix<double> fits = zeros<double>(1, 1), tall = zeros<double>(2, 1);
  const Vector<double> two = zeros<double>(2);
  BOOST_CHECK_NO_THROW(attention_grad(x, bias_of, {{fits}, {}}));
  BOOST_CHECK_THROW(attention_grad(x, bias_of, {{}, {}}), std::invalid_argument);
  BOOST_CHECK_THROW(attention_grad(x, bias_of, {{tall}, {}}), std::invalid_argument);
  BOOST_CHECK_THROW(attention_grad(x, bias_of, {{fits}, {two}}), std::invalid_argument);
  BOOST_CHECK_THROW(attention_grad(x, bias_of, {{fits}, {two, two}}), std::invalid_argument);
}

/// loss = sum of weights times outputs and LSEs, with the weights as upstream gradients. Gradients
/// in q, k, v (summed over the query heads of a group), the SSMax scales and every bias parameter.
BOOST_AUTO_TEST_CASE(every_adjoint_is_the_derivative_of_the_forward_equations) {
  for_each_method([](auto method) {
    using Method = decltype(method);
    std::uint64_t seed = 40;
    for (const Problem& problem : small_problems()) {
      Numbers numbers(++seed);
      const AttentionShape& s = problem.shape;
      const std::vector<double> inputs = inputs_of<Method>(problem, numbers);
      const int rows = s.batch * s.heads * s.queries;
      const std::vector<double> on_output = numbers.between(-1, 1, rows * s.head_dim);
      const std::vector<double> on_lse = numbers.between(-1, 1, rows);

      const auto loss = [&](const auto& x) {
        using R = ScalarOf<decltype(x)>;
        const ReadProblem<R, Method> read(problem, x);
        const auto attended = attention(read.inputs, read.bias_of());
        Vector<R> total = zeros<R>(1);
        for (int r = 0; r < rows; ++r) {
          if (attended[r].sees_no_key) continue;
          total[0] += R(on_lse[r]) * attended[r].lse;
          for (int d = 0; d < s.head_dim; ++d) {
            total[0] += R(on_output[r * s.head_dim + d]) * attended[r].output[d];
          }
        }
        return total;
      };
      const auto adjoint = [&](const auto& x) {
        using R = ScalarOf<decltype(x)>;
        const ReadProblem<R, Method> read(problem, x);
        const Vector<R> lifted_output = lifted<R>(on_output), lifted_lse = lifted<R>(on_lse);
        Reader<R> output(lifted_output), lse(lifted_lse);
        AttentionUpstream<R> upstream;
        upstream.output = output.matrices(s.batch * s.heads, s.queries, s.head_dim);
        for (int n = 0; n < s.batch * s.heads; ++n) upstream.lse.push_back(lse.vector(s.queries));
        const auto grad = attention_grad(read.inputs, read.bias_of(), upstream);
        Writer<R> results;
        results.matrices(grad.q);
        results.matrices(grad.k);
        results.matrices(grad.v);
        for (const R& g : grad.ssmax_scale) results.number(g);
        for (const R& g : grad.sinks) results.number(g);
        for (const auto& g : grad.bias) Method::template write<R>(results, g);
        return results.result();
      };
      BOOST_TEST_CONTEXT(Method::name << ", " << problem.name << ", seed " << seed) {
        expect_adjoint(loss, adjoint, inputs);
        expect_readings_agree(adjoint, inputs);
      }
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
