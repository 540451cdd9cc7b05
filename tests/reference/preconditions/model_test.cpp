// SPDX-License-Identifier: Apache-2.0
// What the blocks of a model refuse, in every reading.
#include "reference/model/embedding.hpp"
#include "reference/model/layernorm.hpp"
#include "reference/model/linear_layer.hpp"
#include "reference/model/loss.hpp"
#include "reference/model/rmsnorm.hpp"
#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(model_test)

using namespace plumbline::reference;

namespace {

const double not_a_number = std::nan("");

/// An epsilon, and sizes that fit together: X has two rows of three.
struct Sizes {
  int columns = 3, gamma = 3, beta = 3, grad_rows = 2, grad_columns = 3;
  double epsilon = 1;
  int rows = 2;
};

}  // namespace

BOOST_AUTO_TEST_CASE(layernorm_refuses) {
  const auto value = [](const Sizes& s) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      layernorm(zeros<R>(s.rows, s.columns), zeros<R>(s.gamma), zeros<R>(s.beta), R(s.epsilon));
    };
  };
  const auto grad = [](const Sizes& s) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      layernorm_grad(zeros<R>(s.rows, s.columns), zeros<R>(s.gamma), R(s.epsilon),
                     zeros<R>(s.grad_rows, s.grad_columns));
    };
  };
  expect_refused("gamma.size() is 2; expected the columns of X", value({.gamma = 2}));
  expect_refused("beta.size() is 4; expected the columns of X", value({.beta = 4}));
  expect_refused("C is 0; expected at least 1", value({.columns = 0, .gamma = 0, .beta = 0}));
  expect_refused("epsilon is 0; expected above 0", value({.epsilon = 0}));
  expect_refused("epsilon is nan; expected above 0", value({.epsilon = not_a_number}));
  expect_refused("epsilon is -1; expected above 0", value({.epsilon = -1, .rows = 0}));
  expect_refused("gamma.size() is 2; expected the columns of X", grad({.gamma = 2}));
  expect_refused("grad_y.rows() is 3; expected the rows of X", grad({.grad_rows = 3}));
  expect_refused("grad_y.cols() is 2; expected the columns of X", grad({.grad_columns = 2}));
  expect_refused("C is 0; expected at least 1",
                 grad({.columns = 0, .gamma = 0, .grad_columns = 0}));
  expect_refused("epsilon is -1e-12; expected above 0", grad({.epsilon = -1e-12}));
  expect_refused("C is 0; expected at least 1",
                 [](const auto& zero) { standardised(zeros<RealOf<decltype(zero)>>(0), zero); });
  expect_refused("epsilon is 0; expected above 0",
                 [](const auto& zero) { standardised(zeros<RealOf<decltype(zero)>>(1), zero); });
}

BOOST_AUTO_TEST_CASE(rmsnorm_refuses) {
  const auto value = [](const Sizes& s) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      rmsnorm(zeros<R>(s.rows, s.columns), zeros<R>(s.gamma), R(s.epsilon));
    };
  };
  const auto grad = [](const Sizes& s) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      rmsnorm_grad(zeros<R>(s.rows, s.columns), zeros<R>(s.gamma), R(s.epsilon),
                   zeros<R>(s.grad_rows, s.grad_columns));
    };
  };
  expect_refused("gamma.size() is 2; expected the columns of X", value({.gamma = 2}));
  expect_refused("C is 0; expected at least 1", value({.columns = 0, .gamma = 0}));
  expect_refused("epsilon is 0; expected above 0", value({.epsilon = 0, .rows = 0}));
  expect_refused("epsilon is nan; expected above 0", value({.epsilon = not_a_number}));
  expect_refused("gamma.size() is 2; expected the columns of X", grad({.gamma = 2}));
  expect_refused("grad_y.rows() is 1; expected the rows of X", grad({.grad_rows = 1}));
  expect_refused("grad_y.cols() is 4; expected the columns of X", grad({.grad_columns = 4}));
  expect_refused("C is 0; expected at least 1",
                 grad({.columns = 0, .gamma = 0, .grad_columns = 0}));
  expect_refused("epsilon is -1; expected above 0", grad({.epsilon = -1}));
  expect_refused("C is 0; expected at least 1", [](const auto& zero) {
    root_mean_square(zeros<RealOf<decltype(zero)>>(0), zero);
  });
  expect_refused("epsilon is 0; expected above 0", [](const auto& zero) {
    root_mean_square(zeros<RealOf<decltype(zero)>>(1), zero);
  });
}

BOOST_AUTO_TEST_CASE(the_linear_layer_refuses) {
  const auto value = [](int w_columns, int b) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      linear_layer(zeros<R>(2, 3), zeros<R>(4, w_columns), zeros<R>(b));
    };
  };
  const auto grad = [](int w_columns, int grad_rows, int grad_columns) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      linear_layer_grad(zeros<R>(2, 3), zeros<R>(4, w_columns), zeros<R>(grad_rows, grad_columns));
    };
  };
  expect_refused("W.cols() is 2; expected the columns of X", value(2, 4));
  expect_refused("b.size() is 3; expected the rows of W, or 0", value(3, 3));
  expect_refused("W.cols() is 4; expected the columns of X", grad(4, 2, 4));
  expect_refused("grad_y.rows() is 3; expected the rows of X", grad(3, 3, 4));
  expect_refused("grad_y.cols() is 3; expected the rows of W", grad(3, 2, 3));
}

BOOST_AUTO_TEST_CASE(the_embedding_refuses) {
  const auto value = [](const std::vector<int>& ids) {
    return [=](const auto& zero) { embedding(zeros<RealOf<decltype(zero)>>(2, 3), ids); };
  };
  const auto grad = [](int rows, const std::vector<int>& ids, int grad_rows) {
    return [=](const auto& zero) {
      embedding_grad(rows, ids, zeros<RealOf<decltype(zero)>>(grad_rows, 3));
    };
  };
  expect_refused("ids is 2; expected a row of the table", value({0, 2}));
  expect_refused("ids is -1; expected a row of the table", value({-1}));
  expect_refused("rows is -1; expected at least 0", grad(-1, {}, 0));
  expect_refused("grad_x.rows() is 1; expected the number of ids", grad(2, {0, 1}, 1));
  expect_refused("ids is 2; expected a row of the table", grad(2, {2}, 1));
  expect_refused("ids is -1; expected a row of the table", grad(2, {-1}, 1));
}

BOOST_AUTO_TEST_CASE(the_cross_entropy_refuses) {
  const auto expect = [](const std::string& message, const Targets& targets) {
    expect_refused(message, [&](const auto& zero) {
      cross_entropy(zeros<RealOf<decltype(zero)>>(2, 3), targets);
    });
    expect_refused(message, [&](const auto& zero) {
      cross_entropy_grad(zeros<RealOf<decltype(zero)>>(2, 3), targets, zero);
    });
  };
  expect("targets.size() is 1; expected the rows of the logits", {0});
  expect("targets.size() is 3; expected the rows of the logits", {0, 1, 2});
  expect("target is 3; expected a column of the logits", {0, 3});
  expect("target is -1; expected a column of the logits", {-1, std::nullopt});
  expect("the number of targets is 0; expected at least 1", {std::nullopt, std::nullopt});
}

BOOST_AUTO_TEST_SUITE_END()
