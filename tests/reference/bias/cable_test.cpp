// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/cable.hpp"

#include "tests/reference/bias/bias_readings.hpp"

BOOST_AUTO_TEST_SUITE(cable_test)

using namespace plumbline::reference;

namespace {

// f = (1, 2, 0, 4), so S = (1, 3, 3, 7); the numbers below are CABLE's equations 3-5 and 7 by hand.
const Vector<double> f = lifted<double>({1, 2, 0, 4});
const Vector<double> S = lifted<double>({1, 3, 3, 7});
const Vector<double> g = lifted<double>({1, 0.5, 2, 3});
const double distance[4][4] = {{0, 2, 2, 6}, {2, 0, 0, 4}, {2, 0, 0, 4}, {6, 4, 4, 0}};

}  // namespace

BOOST_AUTO_TEST_CASE(the_prefix_sum_is_inclusive) {
  BOOST_TEST(prefix_sum(f) == S);
  BOOST_TEST(prefix_sum(Vector<double>()).size() == 0);
}

BOOST_AUTO_TEST_CASE(its_adjoint_sums_from_the_right) {
  BOOST_TEST(prefix_sum_grad(lifted<double>({1, 2, 3, 4})) == lifted<double>({10, 9, 7, 4}));
}

BOOST_AUTO_TEST_CASE(the_query_s_increment_counts_and_the_key_s_does_not) {
  // B_ij = -g_i sum of f_k over k = j+1 .. i.
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j <= i; ++j) {
      double between = 0;
      for (int k = j + 1; k <= i; ++k) between += f[k];
      BOOST_TEST((Cable<double>{S, g}(i, j) == -g[i] * between));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_bias_penalises_on_both_sides_and_the_printed_form_rewards) {
  const Cable<double> cable{S, g};
  const CablePaper<double> paper{S, g};
  const CableNw<double> unweighted{S};
  const CableNwPaper<double> unweighted_paper{S};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      BOOST_TEST(cable(i, j) == -g[i] * distance[i][j]);
      BOOST_TEST(paper(i, j) == g[i] * (S[i] - S[j]));
      BOOST_TEST(unweighted(i, j) == -distance[i][j]);
      BOOST_TEST(unweighted_paper(i, j) == S[i] - S[j]);
      if (j <= i) {
        BOOST_TEST(cable(i, j) <= 0.0);
        BOOST_TEST(paper(i, j) == -cable(i, j));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gains_belong_to_query_rows) {
  const Cable<double> decoding{S, lifted<double>({2, 3}), 2};  // queries at positions 2 and 3
  BOOST_TEST(decoding(2, 0) == -4.0);
  BOOST_TEST(decoding(3, 0) == -18.0);
  BOOST_CHECK_THROW(decoding(1, 0), std::invalid_argument);
  BOOST_CHECK_THROW(decoding(4, 0), std::invalid_argument);
  BOOST_CHECK_THROW(decoding(2, 4), std::invalid_argument);
  BOOST_CHECK_THROW(decoding(2, -1), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // b_31 = -3 |7 - 3|: dS_3 = -3, dS_1 = 3, dg_3 = -4; twice, for a gradient of 2 from above.
  const Cable<double> cable{S, g};
  auto grad = cable.zero_grad();
  cable.accumulate_grad(grad, 3, 1, 2.0);
  BOOST_TEST(grad.prefix_sum == lifted<double>({0, 6, 0, -6}));
  BOOST_TEST(grad.gain == lifted<double>({0, 0, 0, -8}));
  // A later key: b_13 = -0.5 |3 - 7|: dS_1 = 0.5, dS_3 = -0.5, dg_1 = -4.
  grad = cable.zero_grad();
  cable.accumulate_grad(grad, 1, 3, 1.0);
  BOOST_TEST(grad.prefix_sum == lifted<double>({0, 0.5, 0, -0.5}));
  BOOST_TEST(grad.gain == lifted<double>({0, -4, 0, 0}));
}

BOOST_AUTO_TEST_CASE(at_the_kink_the_prefix_sum_has_no_gradient) {
  // S_2 = S_1, as f_2 = 0: the middle of the subgradients of |S_2 - S_1| is 0.
  const Cable<double> cable{S, g};
  auto grad = cable.zero_grad();
  cable.accumulate_grad(grad, 2, 1, 1.0);
  BOOST_TEST(grad.prefix_sum == zeros<double>(4));
  auto unweighted = CableNw<double>{S}.zero_grad();
  CableNw<double>{S}.accumulate_grad(unweighted, 2, 1, 1.0);
  BOOST_TEST(unweighted.prefix_sum == zeros<double>(4));
}

BOOST_AUTO_TEST_CASE(with_constant_increments_it_is_alibi) {
  // f = 1 and g = m: CABLE, section 3, "reduces to ALiBi".
  const Vector<double> steps = prefix_sum(lifted<double>({1, 1, 1, 1}));
  const Cable<double> cable{steps, lifted<double>({0.25, 0.25, 0.25, 0.25})};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) BOOST_TEST(cable(i, j) == Alibi<double>{0.25}(i, j));
  }
}

BOOST_AUTO_TEST_CASE(readings_and_adjoints_agree) {
  for (std::uint64_t seed : {1, 2, 3}) {
    expect_bias_is_right(CableMethod{}, seed);
    expect_bias_is_right(CablePaperMethod{}, seed);
    expect_bias_is_right(CableNwMethod{}, seed);
    expect_bias_is_right(CableNwPaperMethod{}, seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
