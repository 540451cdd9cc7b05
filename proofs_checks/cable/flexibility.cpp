// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// Tokens x_k of width 1 and one weight w_c: B_ij of CABLE minus that of CABLE_NW.
template <bool mutant>
struct WithoutWeights {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto& x = in["x"];
    const R& w = in.number("w_c");
    const R weight = reference::softplus(R(0.0));
    reference::Vector<R> plain(x.size()), scaled(x.size());
    for (int k = 0; k < x.size(); ++k) {
      plain[k] = reference::relu(x[k] * w);
      scaled[k] = reference::relu(mutant ? x[k] * w : x[k] * (w / weight));
    }
    const auto bias = published_bias<R>(scaled, weight);
    const reference::CableNw<R> bias_nw{reference::prefix_sum(plain)};
    std::vector<R> residuals;
    for (int i = 0; i < x.size(); ++i) {
      for (int j = 0; j < x.size(); ++j) residuals.push_back(bias(i, j) - bias_nw(i, j));
    }
    return residuals;
  }
};

std::vector<Sample> inputs() {
  std::vector<Sample> samples;
  for (double w : {1.0, -0.75, 3.0, 0.0}) {
    samples.push_back(Sample{}.with("x", {1, 2}).with("w_c", {w}));
    samples.push_back(Sample{}.with("x", {0.5, -1, 2, 0, -3, 0.25}).with("w_c", {w}));
  }
  return samples;
}

struct SoftplusScales {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &z = in.number("x w_c"), ln_2 = reference::log(R(2.0));
    return {ln_2 * reference::softplus(R(z / ln_2)) - reference::softplus(z)};
  }
};

}  // namespace

Claim flexibility() {
  Claim claim;
  claim.id = "cable/flexibility";
  claim.title = "Adding the weights only adds flexibility";
  claim.source = source("Section 3, before eq. 6");
  claim.statement =
      "To further enhance flexibility, a linear layer learns a weight vector g: every bias of "
      "CABLE_NW is a bias of CABLE for some parameters of eqs 2 and 6.";
  claim.derivation =
      "w_s = 0 gives every token the weight Softplus(0) = ln 2, for every input, and ReLU(X w_c / "
      "ln 2) = ReLU(X w_c) / ln 2: the factors cancel. No bias terms are needed (for the reduction "
      "to ALiBi they are: cable/alibi_reduction_code_sign).";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement,
                   "B(w_c / ln 2, w_s = 0) - B_NW(w_c) = 0 for every pair of tokens",
                   WithoutWeights<false>{}, inputs());
  };
  claim.mutant = "w_s = 0 with w_c unchanged gives CABLE_NW.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "B(w_c, w_s = 0) - B_NW(w_c) = 0", WithoutWeights<true>{},
                   inputs());
  };
  claim.hypotheses = {needed(
      "f is a ReLU (eq. 2).", "A softplus is not homogeneous: scaling w_c does not scale it.", [] {
        return for_all(Role::statement, "ln 2 Softplus(x w_c/ln 2) - Softplus(x w_c) = 0",
                       SoftplusScales{}, {Sample{}.with("x w_c", {1})});
      })};
  claim.implicit = {definition("The same parameters serve every input X.",
                               "It is the order of \"some parameters\" and \"every input\".")};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
