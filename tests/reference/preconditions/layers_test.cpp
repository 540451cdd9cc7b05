// SPDX-License-Identifier: Apache-2.0
// What the layers of a model and their parameters refuse, in every reading.
#include "reference/model/layers.hpp"
#include "reference/attention/attention_layer.hpp"
#include "reference/model/decode.hpp"
#include "reference/model/llama_style.hpp"
#include "reference/position/context_position.hpp"
#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(layers_test)

using namespace plumbline::reference;

namespace {

const HeadLayout layout{4, 2, 2};

/// `change` spoils the position method's or SSMax's parameters.
template <class Change>
void expect_parameters_refused(const std::string& message, const Change& change) {
  expect_refused(message, [&](const auto& zero) {
    using R = RealOf<decltype(zero)>;
    using P = AttentionLayerParameters<R, FusedProjection<R>, CablePosition>;
    P p = P::zero(layout, CablePosition(), true, true);
    change(p);
    check_position_parameters(p, layout, CablePosition());
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_layout_of_heads_refuses) {
  const auto expect = [](const std::string& message, const HeadLayout& bad) {
    expect_refused(message, [=](const auto&) { check(bad); });
  };
  expect("kv_heads is 0; expected at least 1", {4, 2, 0});
  expect("heads is 0; expected a multiple of kv_heads", {4, 0, 1});
  expect("heads is 3; expected a multiple of kv_heads", {12, 3, 2});
  expect("width is 4; expected a multiple of heads", {4, 3, 1});
  expect("width is 0; expected a multiple of heads", {0, 3, 1});
}

BOOST_AUTO_TEST_CASE(splitting_and_merging_heads_refuse) {
  expect_refused("X.cols() is 4; expected the columns of all heads", [](const auto& zero) {
    split_heads(zeros<RealOf<decltype(zero)>>(2, 4), 1, 2, 2);
  });
  const auto merge = [](int rows, int first) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      Matrix<R> X = zeros<R>(2, 4);
      merge_heads<R>({zeros<R>(rows, 2), zeros<R>(rows, 2)}, X, first);
    };
  };
  expect_refused("head.rows() is 3; expected the rows of X", merge(3, 0));
  expect_refused("X.cols() is 4; expected the columns of all heads", merge(2, 1));
}

BOOST_AUTO_TEST_CASE(projections_refuse_weights_for_other_heads) {
  expect_refused("qkv.weight.rows() is 8; expected the columns of all queries, keys and values",
                 [](const auto& zero) {
                   using R = RealOf<decltype(zero)>;
                   const FusedProjection<R> grouped = FusedProjection<R>::zero({4, 2, 1}, true);
                   grouped.template heads<Equations<R>>(layout, zeros<R>(1, 4));
                 });
  expect_refused("weight.rows() is 2; expected the columns of all heads", [](const auto& zero) {
    using R = RealOf<decltype(zero)>;
    const SeparateProjections<R> grouped = SeparateProjections<R>::zero({4, 2, 1}, true);
    grouped.template heads<Equations<R>>(layout, zeros<R>(1, 4));
  });
}

BOOST_AUTO_TEST_CASE(a_layer_refuses_parameters_of_other_shapes) {
  const std::string shape = "; expected what the layer's heads and width ask for";
  expect_parameters_refused("position.increment.weight.rows() is 1" + shape,
                            [](auto& p) { p.position.increment.weight.conservativeResize(1, 4); });
  expect_parameters_refused("position.gain.weight.cols() is 3" + shape,
                            [](auto& p) { p.position.gain.weight.conservativeResize(2, 3); });
  expect_parameters_refused("position.gain.bias.rows() is 1" + shape,
                            [](auto& p) { p.position.gain.bias.conservativeResize(1); });
  expect_parameters_refused("parameters of position is 3; expected as many as the method has",
                            [](auto& p) { p.position.gain.bias.resize(0); });
  expect_parameters_refused("ssmax_scale.size() is 1; expected heads, or 0",
                            [](auto& p) { p.ssmax_scale.conservativeResize(1); });
}

BOOST_AUTO_TEST_CASE(elementwise_operations_refuse_other_shapes) {
  const auto expect = [](const std::string& rows, const std::string& columns, const auto& call) {
    for (bool by_rows : {true, false}) {
      expect_refused(by_rows ? rows : columns, [&](const auto& zero) {
        using R = RealOf<decltype(zero)>;
        call(zeros<R>(2, 3), by_rows ? zeros<R>(1, 3) : zeros<R>(2, 4));
      });
    }
  };
  expect("grad_y.rows() is 1; expected the rows of X",
         "grad_y.cols() is 4; expected the columns of X", [](const auto& X, const auto& other) {
           elementwise_grad(
               X, [](const auto& x) { return x; }, other);
         });
  expect("more.rows() is 1; expected the rows of what it is added to",
         "more.cols() is 4; expected the columns of what it is added to",
         [](auto X, const auto& other) { add_to(X, other); });
  expect("up.rows() is 1; expected the rows of gate",
         "up.cols() is 4; expected the columns of gate",
         [](const auto& X, const auto& other) { swiglu(X, other); });
  expect_refused("more.cols() is 4; expected the columns of the rows before", [](const auto& zero) {
    using R = RealOf<decltype(zero)>;
    Matrix<R> all = zeros<R>(1, 3);
    append_rows(all, zeros<R>(1, 4));
  });
}

BOOST_AUTO_TEST_SUITE_END()
