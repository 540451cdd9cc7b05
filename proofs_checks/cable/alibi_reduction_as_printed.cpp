// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// Two tokens, the first with increment 0: B_10 - ALiBi_10 for the second token's pre-activation z,
/// the gain g and the slope m. S_1 - S_0 = ReLU(z) whatever the first increment is.
struct PrintedBiasIsAlibiOfAlibiReductionAsPrinted {
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    reference::Vector<R> increments(2);
    increments << R(0.0), reference::relu(in.number("z"));
    const R bias = printed_bias<R>(increments, in.number("g"))(1, 0);
    return {bias - reference::Alibi<R>{in.number("m")}(1, 0)};
  }
};

/// The same with the sign of the published code.
struct PublishedBiasIsAlibi {
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    reference::Vector<R> increments(2);
    increments << R(0.0), reference::relu(in.number("z"));
    const R bias = published_bias<R>(increments, in.number("g"))(1, 0);
    return {bias - reference::Alibi<R>{in.number("m")}(1, 0)};
  }
};

/// ReLU(z) + 1: the increment is -1.
struct ReluIsMinusOne {
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::relu(in.number("z")) + R(1.0)};
  }
};

constexpr double large = 0x1p100;  // the derivation covers all reals; the box, all trained weights

std::vector<Sample> every_parameter() {
  const auto box = [](double lower, double upper) {
    return Sample{}.within("z", lower, upper).within("g", 0, large).within("m", 0x1p-8, 0.5);
  };
  return {box(-large, 0), box(0, large)};
}

}  // namespace

Claim alibi_reduction_as_printed() {
  Claim claim;
  claim.id = "cable/alibi_reduction_as_printed";
  claim.title = "CABLE as printed reduces to ALiBi";
  claim.source = source("Section 3, after eq. 7, with eqs 2-7");
  claim.statement =
      "Some parameters of eqs 2-7 give every token the bias -1 and the weight 1/2^h, and with them "
      "B_ij = -(i - j)/2^h, the bias of ALiBi.";
  claim.hypotheses = {
      "f = ReLU(X w_c) (eq. 2), S = L f (eqs 3-4), g = Softplus(X w_s) (eq. 6), "
      "B_ij = g_i (S_i - S_j) (eq. 7)."};
  claim.implicit = {
      "\"Each token's bias\" is f, the only quantity that eqs 2-7 have per token "
      "besides the weight.",
      "Attention is causal: j <= i.", "The slope is positive."};
  claim.correction =
      "With the published code's sign the pair z = 1, g = m gives ALiBi with slope m "
      "(cable/alibi_reduction_code_sign for every token at once); with f set to -1 by hand, eqs "
      "3-5 "
      "and 7 do (cable/alibi_reduction_values).";
  claim.derivation =
      "A ReLU is never negative, so no z gives f = -1: |ReLU(z) + 1| >= 1. Nor do other parameters "
      "help: S_i - S_j = sum_{k=j+1..i} ReLU(z_k) >= 0 and g_i > 0, so B_ij >= 0 > -m (i - j) for "
      "j < i, and the distance from ALiBi is at least m. The boxes cover the parameters up to "
      "2^100; "
      "the two inequalities hold for all reals.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {exists(Role::statement, "some z, g: ReLU(z) + 1 = 0", ReluIsMinusOne{},
                {Sample{}.within("z", -large, 0), Sample{}.within("z", 0, large)}),
         exists(Role::statement, "some z, g: printed B_10 + m = 0, m in [2^-8, 1/2]",
                PrintedBiasIsAlibiOfAlibiReductionAsPrinted{}, every_parameter()),
         exists(Role::correction, "z = 1, g = m: published B_10 + m = 0", PublishedBiasIsAlibi{},
                {Sample{}.with("z", {1}).with("g", {0.125}).with("m", {0.125})})});
  };
  claim.mutant = "Some z < 0 with any g gives ALiBi under the published sign.";
  claim.mutant_checks = [] {
    return exists(Role::statement, "some z <= 0, g: published B_10 + m = 0", PublishedBiasIsAlibi{},
                  {every_parameter().front()});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
