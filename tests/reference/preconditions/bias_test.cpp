// SPDX-License-Identifier: Apache-2.0
// What the biases and the equations of their parameters refuse, in every reading.
#include "reference/bias/alibi.hpp"
#include "reference/bias/cable.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/bias/cable_parameters.hpp"
#include "reference/bias/fire.hpp"
#include "reference/bias/fox.hpp"
#include "reference/bias/ggd.hpp"
#include "reference/bias/k_cable.hpp"
#include "reference/bias/k_cable_nw.hpp"
#include "reference/bias/kerple.hpp"
#include "reference/bias/t5.hpp"
#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(bias_test)

using namespace plumbline::reference;

namespace {

const double not_a_number = std::nan("");

/// `bias(R(0.0))` is asked for b_ij, and for its gradient.
template <class MakeBias>
void expect_pair_refused(const std::string& message, const MakeBias& bias, int i, int j) {
  expect_refused(message, [&](const auto& zero) { bias(zero)(i, j); });
  expect_refused(message, [&](const auto& zero) {
    auto grad = bias(zero).zero_grad();
    bias(zero).accumulate_grad(grad, i, j, zero);
  });
}

/// Three keys, and gains for the queries at 1 and 2.
template <template <class> class B>
void expect_gains_and_sums_needed() {
  const auto bias = [](const auto& zero) {
    using R = RealOf<decltype(zero)>;
    return B<R>{zeros<R>(3), zeros<R>(2), 1};
  };
  expect_pair_refused("i is 0; expected a position with a gain", bias, 0, 0);
  expect_pair_refused("j is 3; expected a position of the prefix sum", bias, 2, 3);
  expect_pair_refused("j is -1; expected a position of the prefix sum", bias, 2, -1);
  const auto later = [](const auto& zero) {
    using R = RealOf<decltype(zero)>;
    return B<R>{zeros<R>(3), zeros<R>(2), 2};
  };
  expect_pair_refused("i is 3; expected a position of the prefix sum", later, 3, 0);
  // Neither a gain nor a sum: the readings agree on which of the two they name.
  expect_refused("i is 9; expected a position with a gain",
                 [&](const auto& zero) { bias(zero)(9, 0); });
}

template <template <class> class B>
void expect_sums_needed() {
  const auto bias = [](const auto& zero) {
    using R = RealOf<decltype(zero)>;
    return B<R>{zeros<R>(3)};
  };
  expect_pair_refused("i is 3; expected a position of the prefix sum", bias, 3, 0);
  expect_pair_refused("i is -1; expected a position of the prefix sum", bias, -1, 0);
  expect_pair_refused("j is 3; expected a position of the prefix sum", bias, 0, 3);
  expect_pair_refused("j is -1; expected a position of the prefix sum", bias, 0, -1);
}

}  // namespace

BOOST_AUTO_TEST_CASE(cable_and_its_forms_refuse) {
  expect_gains_and_sums_needed<Cable>();
  expect_gains_and_sums_needed<CablePaper>();
  expect_gains_and_sums_needed<KCable>();
  expect_gains_and_sums_needed<KCablePaper>();
  expect_sums_needed<CableNw>();
  expect_sums_needed<CableNwPaper>();  // FoX
  expect_sums_needed<KCableNw>();
}

BOOST_AUTO_TEST_CASE(alibi_refuses) {
  expect_refused("heads is 0; expected at least 1",
                 [](const auto& zero) { alibi_slopes<RealOf<decltype(zero)>>(0); });
  expect_refused("heads is -3; expected at least 1",
                 [](const auto& zero) { alibi_slopes<RealOf<decltype(zero)>>(-3); });
  expect_refused("heads is -2; expected at least 1",
                 [](const auto& zero) { alibi_slopes_geometric<RealOf<decltype(zero)>>(-2); });
}

BOOST_AUTO_TEST_CASE(the_maps_of_a_layers_input_refuse) {
  for (int rows : {0, 3}) {
    const auto value = [&](const auto& map) {
      expect_refused("w.size() is 3; expected the columns of X", [&](const auto& zero) {
        using R = RealOf<decltype(zero)>;
        map(zeros<R>(rows, 2), zeros<R>(3), zero);
      });
    };
    value([](const auto& X, const auto& w, const auto& b) { linear(X, w, b); });
    value([](const auto& X, const auto& w, const auto& b) { increments(X, w, b); });
    value([](const auto& X, const auto& w, const auto& b) { gain(X, w, b); });
    value([](const auto& X, const auto& w, const auto& b) { log_forget_gates(X, w, b); });
  }
  const auto grad = [&](const std::string& name, const auto& map) {
    const auto of = [&](int width, int tokens) {
      return [&map, width, tokens](const auto& zero) {
        using R = RealOf<decltype(zero)>;
        map(zeros<R>(3, 2), zeros<R>(width), zero, zeros<R>(tokens));
      };
    };
    expect_refused("w.size() is 3; expected the columns of X", of(3, 3));
    expect_refused(name + " is 2; expected the rows of X", of(2, 2));
  };
  grad("grad_z.size()",
       [](const auto& X, const auto& w, const auto&, const auto& dz) { linear_grad(X, w, dz); });
  grad("grad_f.size()", [](const auto& X, const auto& w, const auto& b, const auto& df) {
    increments_grad(X, w, b, df);
  });
  grad("grad_g.size()",
       [](const auto& X, const auto& w, const auto& b, const auto& dg) { gain_grad(X, w, b, dg); });
  grad("grad_log_f.size()", [](const auto& X, const auto& w, const auto& b, const auto& df) {
    log_forget_gates_grad(X, w, b, df);
  });
}

BOOST_AUTO_TEST_CASE(fire_refuses) {
  struct Arguments {
    int bias = 2, output = 2;
    double c = 0.1, L = 1, L0 = 4, epsilon = 0;
  };
  const auto make = [](const Arguments& a) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      Fire<R>({zeros<R>(2), zeros<R>(a.bias), zeros<R>(a.output), zero, R(a.c), R(a.L)}, R(a.L0),
              R(a.epsilon));
    };
  };
  expect_refused("hidden_bias.size() is 3; expected the size of hidden_weight", make({.bias = 3}));
  expect_refused("output_weight.size() is 1; expected the size of hidden_weight",
                 make({.output = 1}));
  expect_refused("epsilon is -1e-06; expected at least 0", make({.epsilon = -1e-6}));
  expect_refused("epsilon is nan; expected at least 0", make({.epsilon = not_a_number}));
  const std::string divisor = "ln(1 + |c L L0|) + epsilon is 0; expected above 0";
  expect_refused(divisor, make({.c = 0}));
  expect_refused(divisor, make({.L = 0}));
  expect_refused(divisor, make({.L0 = 0}));
  expect_refused("ln(1 + |c L L0|) + epsilon is nan; expected above 0", make({.c = not_a_number}));
}

BOOST_AUTO_TEST_CASE(ggd_refuses) {
  const auto expect = [](const std::string& message, double epsilon) {
    expect_refused(message, [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      Ggd<R>(zero, zero, zero, R(epsilon));
    });
    expect_refused(message, [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      GgdInferenceCode<R>(zero, zero, zero, R(epsilon));
    });
  };
  expect("epsilon is 0; expected above 0", 0);
  expect("epsilon is -1e-05; expected above 0", -1e-5);
  expect("epsilon is nan; expected above 0", not_a_number);
}

BOOST_AUTO_TEST_CASE(kerple_refuses) {
  const auto log_form = [](double p, double a) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      KerpleLog<R>(R(p), R(a));
    };
  };
  const auto power_form = [](double p, double a) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      KerplePower<R>(R(p), R(a));
    };
  };
  expect_refused("p is 0.0099; expected at least 0.01", log_form(0.0099, 1));
  expect_refused("a is 0; expected at least 0.01", log_form(1, 0));
  expect_refused("p is nan; expected at least 0.01", log_form(not_a_number, 1));
  expect_refused("a is nan; expected at least 0.01", log_form(1, not_a_number));
  expect_refused("p is 0; expected in [0.01, 2]", power_form(0, 1));
  expect_refused("p is 2.5; expected in [0.01, 2]", power_form(2.5, 1));
  expect_refused("p is nan; expected in [0.01, 2]", power_form(not_a_number, 1));
  expect_refused("a is -1; expected at least 0.01", power_form(1, -1));
}

BOOST_AUTO_TEST_CASE(t5_refuses) {
  const auto table = [](const auto& row) {
    return [row](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      RelativeTable<R, std::remove_cvref_t<decltype(row)>>(zeros<R>(3), row);
    };
  };
  const std::string wrong = "table.size() is 3; expected the number of rows";
  expect_refused(wrong, table(T5Buckets(4, 8, false)));
  expect_refused(wrong, table(ClippedDistance(3)));
  expect_refused(wrong, table(ClippedOffset(2)));
  const auto buckets = [](int count, int max_distance, bool bidirectional) {
    return [=](const auto&) { T5Buckets(count, max_distance, bidirectional); };
  };
  expect_refused("buckets is 1; expected at least 2 for each direction", buckets(1, 8, false));
  expect_refused("buckets is 3; expected at least 2 for each direction", buckets(3, 8, true));
  expect_refused("buckets is 9; expected even, if bidirectional", buckets(9, 8, true));
  expect_refused("max_distance is 4; expected above half of a direction", buckets(8, 4, false));
  expect_refused("max_distance is 2; expected above half of a direction", buckets(8, 2, true));
  expect_refused("largest is -1; expected at least 0", [](const auto&) { ClippedDistance(-1); });
  expect_refused("largest is -1; expected at least 0", [](const auto&) { ClippedOffset(-1); });
}

BOOST_AUTO_TEST_SUITE_END()
