// SPDX-License-Identifier: Apache-2.0
// What the positions that are no additive bias refuse, in every reading.
#include "reference/position/learnable.hpp"
#include "reference/position/rope.hpp"
#include "reference/position/sinusoidal.hpp"
#include "reference/position/sliding_window.hpp"
#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(position_test)

using namespace plumbline::reference;

namespace {

const double not_a_number = std::nan("");

}  // namespace

BOOST_AUTO_TEST_CASE(rope_refuses) {
  const auto expect = [](const std::string& message, int head_dim, double base) {
    for (RopePairs pairs : {RopePairs::interleaved, RopePairs::half_split}) {
      expect_refused(message, [=](const auto& zero) {
        using R = RealOf<decltype(zero)>;
        rope(zeros<R>(2, head_dim), 0, R(base), pairs);
      });
      expect_refused(message, [=](const auto& zero) {
        using R = RealOf<decltype(zero)>;
        rope_grad(zeros<R>(2, head_dim), 0, R(base), pairs);
      });
    }
  };
  expect("head_dim is 3; expected even and above 0", 3, 1e4);
  expect("head_dim is 0; expected even and above 0", 0, 1e4);
  expect("base is 0; expected above 0", 4, 0);
  expect("base is nan; expected above 0", 4, not_a_number);

  const auto frequency = [](double base, int k, int head_dim) {
    return [=](const auto& zero) { rope_frequency(RealOf<decltype(zero)>(base), k, head_dim); };
  };
  expect_refused("base is -1; expected above 0", frequency(-1, 0, 4));
  expect_refused("head_dim is 3; expected even and above 0", frequency(1e4, 0, 3));
  expect_refused("head_dim is -2; expected even and above 0", frequency(1e4, 0, -2));
  expect_refused("k is 2; expected a pair of components", frequency(1e4, 2, 4));
  expect_refused("k is -1; expected a pair of components", frequency(1e4, -1, 4));
  expect_refused("head_dim is 3; expected even and above 0",
                 [](const auto&) { half_split_order(3); });
  expect_refused("head_dim is 0; expected even and above 0",
                 [](const auto&) { half_split_order(0); });
}

BOOST_AUTO_TEST_CASE(a_sliding_window_refuses) {
  expect_refused("window is -1; expected at least 0",
                 [](const auto&) { sliding_window(-1, WindowCount::distance); });
  expect_refused("window is 0; expected at least 1",
                 [](const auto&) { sliding_window(0, WindowCount::keys); });
}

BOOST_AUTO_TEST_CASE(the_sinusoidal_table_refuses) {
  const auto table = [](int length, int width, double base) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      sinusoidal_table(length, width, R(base), SinusoidalCosine::own_frequency, R(1.0));
    };
  };
  expect_refused("length is -1; expected at least 0", table(-1, 2, 1e4));
  expect_refused("width is 3; expected even and above 0", table(1, 3, 1e4));
  expect_refused("width is 0; expected even and above 0", table(1, 0, 1e4));
  expect_refused("base is 0; expected above 0", table(0, 2, 0));
  expect_refused("base is nan; expected above 0", table(1, 2, not_a_number));
}

BOOST_AUTO_TEST_CASE(learnable_positions_refuse) {
  const auto value = [](int offset, int length) {
    return [=](const auto& zero) {
      learnable_positions(zeros<RealOf<decltype(zero)>>(3, 2), offset, length);
    };
  };
  const auto grad = [](int offset, int length) {
    return [=](const auto& zero) {
      learnable_positions_grad(3, offset, zeros<RealOf<decltype(zero)>>(length, 2));
    };
  };
  expect_refused("offset is -1; expected at least 0", value(-1, 1));
  expect_refused("length is -1; expected at least 0", value(0, -1));
  expect_refused("length is 4; expected at most the table's positions from offset", value(0, 4));
  expect_refused("length is 0; expected at most the table's positions from offset", value(4, 0));
  expect_refused("offset is -1; expected at least 0", grad(-1, 1));
  expect_refused("length is 2; expected at most the table's positions from offset", grad(2, 2));
}

BOOST_AUTO_TEST_SUITE_END()
