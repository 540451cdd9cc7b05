// SPDX-License-Identifier: Apache-2.0
// What attention and the methods inside of it refuse, in every reading.
#include "reference/attention/attention_grad.hpp"
#include "reference/attention/cope.hpp"
#include "reference/attention/dape.hpp"
#include "reference/attention/ssmax.hpp"
#include "reference/bias/nope.hpp"
#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(attention_test)

using namespace plumbline::reference;

namespace {

/// A query of 3 components, and keys and values of 2 rows, the values of 4 columns.
struct RowArguments {
  int q = 3, k_columns = 3, v_rows = 2, grad_output = 4;
  int grad_k_rows = 2, grad_k_columns = 3, grad_v_rows = 2, grad_v_columns = 4;
  std::vector<int> visible = {0, 1};
};

auto row_value(const RowArguments& a) {
  return [=](const auto& zero) {
    using R = RealOf<decltype(zero)>;
    attention_row(zeros<R>(a.q), zeros<R>(2, a.k_columns), zeros<R>(a.v_rows, 4), a.visible, zero,
                  Nope<R>(), 0);
  };
}

auto row_grad(const RowArguments& a) {
  return [=](const auto& zero) {
    using R = RealOf<decltype(zero)>;
    Matrix<R> k = zeros<R>(a.grad_k_rows, a.grad_k_columns);
    Matrix<R> v = zeros<R>(a.grad_v_rows, a.grad_v_columns);
    typename Nope<R>::Grad bias;
    R ssmax = zero, sink = zero;
    const AttentionHeadGrad<R, Nope<R>> grad{k, v, bias, ssmax, sink};
    attention_row_grad(zeros<R>(a.q), zeros<R>(2, a.k_columns), zeros<R>(a.v_rows, 4), a.visible,
                       zero, Nope<R>(), 0, std::nullopt, zeros<R>(a.grad_output), zero, grad);
  };
}

/// One problem of 2 sequences, 2 heads over 1, 2 queries at 1 and 2 of 3 keys, 4 components.
template <Real R>
struct Problem {
  AttentionInputs<R> x{
      .shape = {.batch = 2, .heads = 2, .queries = 2, .keys = 3, .head_dim = 4, .query_offset = 1},
      .q = std::vector<Matrix<R>>(4, zeros<R>(2, 4)),
      .k = std::vector<Matrix<R>>(2, zeros<R>(3, 4)),
      .v = std::vector<Matrix<R>>(2, zeros<R>(3, 4)),
      .scale = R(0.5),
      .mask = {},
      .ssmax_scale = {}};
  AttentionUpstream<R> upstream{x.q, std::vector<Vector<R>>(4, zeros<R>(2))};
};

constexpr auto no_bias = [](const auto& problem) {
  using R = typename std::remove_cvref_t<decltype(problem.x.scale)>;
  return [](int, int) { return Nope<R>(); };
};

/// `change` spoils the problem, forward and backward.
template <class Change>
void expect_problem_refused(const std::string& message, const Change& change) {
  expect_refused(message, [&](const auto& zero) {
    Problem<RealOf<decltype(zero)>> problem;
    change(problem);
    attention(problem.x, no_bias(problem));
  });
  expect_refused(message, [&](const auto& zero) {
    Problem<RealOf<decltype(zero)>> problem;
    change(problem);
    attention_grad(problem.x, no_bias(problem), problem.upstream);
  });
}

template <class Change>
void expect_upstream_refused(const std::string& message, const Change& change) {
  expect_refused(message, [&](const auto& zero) {
    Problem<RealOf<decltype(zero)>> problem;
    change(problem.upstream);
    attention_grad(problem.x, no_bias(problem), problem.upstream);
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(softmax_and_ssmax_refuse) {
  expect_refused("logits.size() is 0; expected at least 1",
                 [](const auto& zero) { softmax(zeros<RealOf<decltype(zero)>>(0)); });
  expect_refused("n is 0; expected at least 1 visible key",
                 [](const auto& zero) { ssmax_factor(zero, 0); });
}

BOOST_AUTO_TEST_CASE(a_row_refuses_what_does_not_fit_even_if_it_sees_no_key) {
  for (const std::vector<int>& visible : {std::vector<int>{0, 1}, std::vector<int>{}}) {
    const auto both = [&](const std::string& message, RowArguments arguments) {
      arguments.visible = visible;
      expect_refused(message, row_value(arguments));
      expect_refused(message, row_grad(arguments));
    };
    both("K.cols() is 3; expected the size of q_i", {.q = 2});
    both("V.rows() is 3; expected the rows of K", {.v_rows = 3, .grad_v_rows = 3});
    both("V.rows() is 1; expected the rows of K", {.v_rows = 1, .grad_v_rows = 1});
    const auto grad = [&](const std::string& message, RowArguments arguments) {
      arguments.visible = visible;
      expect_refused(message, row_grad(arguments));
    };
    grad("grad_output.size() is 3; expected the columns of V", {.grad_output = 3});
    grad("grad.k.rows() is 1; expected the rows of K", {.grad_k_rows = 1});
    grad("grad.k.cols() is 2; expected the columns of K", {.grad_k_columns = 2});
    grad("grad.v.rows() is 1; expected the rows of V", {.grad_v_rows = 1});
    grad("grad.v.cols() is 5; expected the columns of V", {.grad_v_columns = 5});
  }
  for (int missing : {-1, 2}) {
    const std::string message = "visible is " + std::to_string(missing) + "; expected a row of K";
    expect_refused(message, row_value({.visible = {0, missing}}));
    expect_refused(message, row_grad({.visible = {0, missing}}));
  }
}

BOOST_AUTO_TEST_CASE(attention_refuses_sizes) {
  const auto shape = [](const std::string& message, const auto& change) {
    expect_problem_refused(message, [&](auto& problem) { change(problem.x.shape); });
  };
  shape("batch is 0; expected at least 1", [](auto& s) { s.batch = 0; });
  shape("kv_heads is 0; expected at least 1", [](auto& s) { s.kv_heads = 0; });
  shape("heads is 0; expected a multiple of kv_heads", [](auto& s) { s.heads = 0; });
  shape("heads is 2; expected a multiple of kv_heads", [](auto& s) { s.kv_heads = 3; });
  shape("queries is 0; expected at least 1", [](auto& s) { s.queries = 0; });
  shape("keys is 0; expected at least 1", [](auto& s) { s.keys = 0; });
  shape("query_offset is -1073741825; expected positions within 2^30",
        [](auto& s) { s.query_offset = -(1 << 30) - 1; });
  shape("query_offsets.size() is 1; expected one a sequence, or none",
        [](auto& s) { s.query_offsets = {0}; });
  shape("head_dim is 0; expected at least 1", [](auto& s) { s.head_dim = 0; });
  shape("value_dim is -1; expected at least 0", [](auto& s) { s.value_dim = -1; });
}

BOOST_AUTO_TEST_CASE(attention_refuses_tensors) {
  const auto tensor = [](const std::string& message, const auto& change) {
    expect_problem_refused(message, [&](auto& problem) { change(problem.x); });
  };
  tensor("q is 3; expected one matrix a head", [](auto& x) { x.q.pop_back(); });
  tensor("k is 1; expected one matrix a head", [](auto& x) { x.k.pop_back(); });
  tensor("v is 0; expected one matrix a head", [](auto& x) { x.v.clear(); });
  tensor("q is 1; expected the shape's number of rows",
         [](auto& x) { x.q[3].conservativeResize(1, 4); });
  tensor("k is 2; expected the shape's number of rows",
         [](auto& x) { x.k[0].conservativeResize(2, 4); });
  tensor("v is 3; expected value_dim columns", [](auto& x) { x.v[1].conservativeResize(3, 3); });
  tensor("ssmax_scale.size() is 1; expected heads, or none",
         [](auto& x) { x.ssmax_scale.assign(1, x.scale); });
  tensor("sinks.size() is 1; expected heads, or none", [](auto& x) { x.sinks.assign(1, x.scale); });
  tensor("window (left) is -2; expected at least 0, or -1 for none",
         [](auto& x) { x.mask.window = -2; });
  tensor("batch is 1; expected a sequence that has a length",
         [](auto& x) { x.mask.lengths = {3}; });
  tensor("documents.size() is 4; expected a multiple of keys", [](auto& x) {
    x.mask.documents = {0, 0, 0, 0};
  });
  tensor("batch is 1; expected a sequence that has document ids", [](auto& x) {
    x.mask.documents = {0, 0, 1};
  });
}

BOOST_AUTO_TEST_CASE(attention_refuses_gradients_from_above) {
  expect_upstream_refused("upstream.output.size() is 3; expected one matrix a head",
                          [](auto& upstream) { upstream.output.pop_back(); });
  expect_upstream_refused("upstream.lse.size() is 3; expected one vector a head, or none",
                          [](auto& upstream) { upstream.lse.pop_back(); });
  expect_upstream_refused("upstream.output rows is 1; expected one a query row",
                          [](auto& upstream) { upstream.output[1].conservativeResize(1, 4); });
  expect_upstream_refused("upstream.output columns is 3; expected value_dim",
                          [](auto& upstream) { upstream.output[3].conservativeResize(2, 3); });
  expect_upstream_refused("upstream.lse rows is 1; expected one a query row",
                          [](auto& upstream) { upstream.lse[2].conservativeResize(1); });
}

BOOST_AUTO_TEST_CASE(cope_refuses) {
  struct Arguments {
    int q = 3, table_rows = 2, table_columns = 3, grad = 2;
    std::vector<int> visible = {0, 1};
  };
  const auto grad = [](const std::string& message, const Arguments& a) {
    expect_refused(message, [&](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      cope_row_grad(zeros<R>(a.q), zeros<R>(2, 3), a.visible, zero,
                    zeros<R>(a.table_rows, a.table_columns), zeros<R>(a.grad));
    });
  };
  const auto both = [&](const std::string& message, const Arguments& a) {
    expect_refused(message, [&](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      cope_row(zeros<R>(a.q), zeros<R>(2, 3), a.visible, zero,
               zeros<R>(a.table_rows, a.table_columns));
    });
    grad(message, a);
  };
  both("table.rows() is 0; expected at least 1", {.table_rows = 0});
  both("table.cols() is 2; expected the size of q_i", {.table_columns = 2});
  both("K.cols() is 3; expected the size of q_i", {.q = 4, .table_columns = 4});
  both("visible is 2; expected a row of K", {.visible = {1, 2}});
  grad("grad_logits.size() is 1; expected the number of visible keys", {.grad = 1});
}

BOOST_AUTO_TEST_CASE(dape_refuses) {
  struct Arguments {  // two heads over three keys, a hidden width of 5, layers of width 3
    int width = 3, first_columns = 12, first_bias = 5, second_rows = 2, second_columns = 15;
    int b_rows = 2, b_columns = 3, seen = 2, grad_rows = 2, grad_columns = 3;
  };
  const auto grad = [](const std::string& message, const Arguments& a) {
    expect_refused(message, [&](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      const DapeLayers<R> f{
          {zeros<R>(5, a.first_columns), zeros<R>(a.first_bias), a.width},
          {zeros<R>(a.second_rows, a.second_columns), zeros<R>(a.second_rows), 3}};
      dape_row_grad(zeros<R>(2, 3), zeros<R>(a.b_rows, a.b_columns), f, a.seen,
                    zeros<R>(a.grad_rows, a.grad_columns));
    });
  };
  const auto both = [&](const std::string& message, const Arguments& a) {
    expect_refused(message, [&](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      const DapeLayers<R> f{
          {zeros<R>(5, a.first_columns), zeros<R>(a.first_bias), a.width},
          {zeros<R>(a.second_rows, a.second_columns), zeros<R>(a.second_rows), 3}};
      dape_row(zeros<R>(2, 3), zeros<R>(a.b_rows, a.b_columns), f, a.seen);
    });
    grad(message, a);
  };
  both("width is 2; expected odd and at least 1", {.width = 2});
  both("width is -1; expected odd and at least 1", {.width = -1});
  both("weight.cols() is 11; expected channels times width", {.first_columns = 11});
  both("weight.cols() is 14; expected channels times width", {.second_columns = 14});
  both("bias.size() is 4; expected the rows of weight", {.first_bias = 4});
  both("second.weight.rows() is 3; expected the rows of A", {.second_rows = 3});
  both("B.rows() is 1; expected the rows of A", {.b_rows = 1});
  both("B.cols() is 4; expected the columns of A", {.b_columns = 4});
  both("seen is 4; expected a number of keys", {.seen = 4});
  both("seen is -1; expected a number of keys", {.seen = -1});
  grad("grad_logits.rows() is 3; expected the rows of A", {.grad_rows = 3});
  grad("grad_logits.cols() is 2; expected the columns of A", {.grad_columns = 2});

  const auto convolution = [](const std::string& message, int rows, int columns) {
    expect_refused(message, [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      key_convolution_grad(zeros<R>(2, 3), {zeros<R>(5, 6), zeros<R>(5), 3},
                           zeros<R>(rows, columns));
    });
  };
  convolution("grad_y.rows() is 4; expected the rows of weight", 4, 3);
  convolution("grad_y.cols() is 2; expected the columns of x", 5, 2);
}

BOOST_AUTO_TEST_SUITE_END()
