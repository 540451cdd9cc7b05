// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// Two tokens x = (1), (-1) of width 1 and one weight w without a bias term: both increments are 1.
struct IncrementsAreOne {
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R& w = in.number("w_c");
    return {{reference::relu(w) - R(1.0), "the token 1"},
            {reference::relu(-w) - R(1.0), "the token -1"}};
  }
};

/// Weights 0, bias terms 1 and the one that the softplus maps to m: the increments, the gain, and
/// B_ij + m |i - j| for every pair of five tokens, whatever the tokens are.
template <bool mutant>
struct BiasTermsGiveAlibi {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& m = in.number("m");
    const R increment = reference::relu(R(1.0));
    const R pre_activation = mutant ? m : reference::log(reference::exp(m) - R(1.0));
    const R gain = reference::softplus(pre_activation);
    const int tokens = 5;
    const auto bias = published_bias<R>(reference::Vector<R>::Constant(tokens, increment), gain);
    const reference::Alibi<R> alibi{m};
    std::vector<R> residuals = {increment - R(1.0), gain - m};
    for (int i = 0; i < tokens; ++i) {
      for (int j = 0; j < tokens; ++j) residuals.push_back(bias(i, j) - alibi(i, j));
    }
    return residuals;
  }
};

/// 1/2^h, the official slopes of 12 heads that are dyadic, and a few others.
std::vector<Sample> slopes_of_alibi_reduction_code_sign() {
  std::vector<Sample> samples;
  for (double m : {0.5, 0.25, 0.125, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8, 1.0, 0.75, 3.0}) {
    samples.push_back(Sample{}.with("m", {m}));
  }
  return samples;
}

struct GainIsSlope {
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::softplus(in.number("z")) - in.number("m")};
  }
};

}  // namespace

Claim alibi_reduction_code_sign() {
  Claim claim;
  claim.id = "cable/alibi_reduction_code_sign";
  claim.title = "CABLE with the sign of the published code reduces to ALiBi";
  claim.source = source("Section 3, after eq. 7, with the sign of axiomlab/Cable");
  claim.statement =
      "With B_ij = -g_i sum_{k=j+1..i} f_k, some parameters give every token of every input the "
      "increment f = ReLU(X w_c) = 1 and the weight g = Softplus(X w_s) = m, and with them "
      "B_ij = -m (i - j), the bias of ALiBi with slope m > 0.";
  claim.condition =
      "The two linear maps have a bias term, as in the published code: weights 0, bias terms 1 and "
      "ln(e^m - 1).";
  claim.derivation =
      "f = 1 gives S_i - S_j = i - j and B_ij = -m |i - j|, in both directions. Reaching these "
      "values: ReLU(0 x + 1) = 1, and Softplus(z) = ln(1 + e^z) = m has the one solution "
      "z = ln(e^m - 1) for m > 0. Without bias terms it fails: tokens x and -x need w x = 1 and "
      "-w x = 1 at once; also X = 0 forces f = 0 and g = ln 2.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {exists(Role::statement, "some w_c without bias term: both of the tokens 1, -1 get f = 1",
                IncrementsAreOne{},
                {Sample{}.within("w_c", -0x1p100, 0), Sample{}.within("w_c", 0, 0x1p100)}),
         for_all(Role::condition,
                 "with bias terms 1 and ln(e^m - 1): f - 1 = 0, g - m = 0, B_ij + m |i - j| = 0",
                 BiasTermsGiveAlibi<false>{}, slopes_of_alibi_reduction_code_sign())});
  };
  claim.mutant = "The bias term m, in place of ln(e^m - 1), gives the weight m.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "with bias terms 1 and m: g - m = 0, B_ij + m |i - j| = 0",
                   BiasTermsGiveAlibi<true>{}, slopes_of_alibi_reduction_code_sign());
  };
  claim.hypotheses = {
      definition("f = ReLU(X w_c) (eq. 2), g = Softplus(X w_s) (eq. 6), without bias terms.",
                 "It says what f and g are; the condition replaces its last words."),
      needed("The slope m is above 0.", "A softplus takes positive values only.", [] {
        return exists(Role::statement, "some z in [-2^10, 2^10] has Softplus(z) = m", GainIsSlope{},
                      {Sample{}.with("m", {-0.5}).within("z", -0x1p10, 0),
                       Sample{}.with("m", {-0.5}).within("z", 0, 0x1p10)});
      }).where("m", above(0))};
  claim.implicit = {definition("The same parameters serve every input X.",
                               "It is the order of \"some parameters\" and \"every input\".")};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
