// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/source.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {

void claims_of_code(Claims& claims) {
  const auto code_is_formula = equals_zero<"m">([]<class R>(R m, bool causal) {
    const reference::Alibi<R> formula{m};
    std::vector<Placed<R>> residuals;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < (causal ? i + 1 : 5); ++j) {
        residuals.push_back({m * R(j - i) - formula(i, j),
                             "i = " + std::to_string(i) + ", j = " + std::to_string(j)});
      }
    }
    return residuals;
  });
  const auto slopes = grid({{"m", {0.5, 0x1p-8}}});
  claims["alibi/code_bias"] = Claim({
      .title = "The code computes the bias of the formula",
      .source = source("Code example against the formula"),
      .statement = "build_alibi_bias computes bias_ij = -m |i - j|, as slopes * (j - i).",
      .implicit = {definition("The tensor alibi_bias of step 3, before the mask of step 4.",
                              "It is what the claim is about.")},
      .condition = "Attention is causal, j <= i.",
      .proof = holds_under_condition(
          "m (j - i) = -m |i - j| for j <= i. For j > i the product is +m |i - j|, a reward; the "
          "code then adds minus infinity there, so its result is right, while the product without "
          "the mask (an encoder) is not: i = 0, j = 1, m = 1/2 gives +1/2 in place of -1/2."),
      .checks = {check("m (j - i) + m |i - j| = 0 for all i, j < 5", code_is_formula(false),
                       slopes),
                 condition("the same for j <= i", code_is_formula(true), slopes)},
      .mutant = {"m (i - j) would do as well for j <= i.",
                 check("m (i - j) + m |i - j| = 0 for j <= i", equals_zero<"m">([]<class R>(R m) {
                         const reference::Alibi<R> formula{m};
                         return m * R(1.0) - formula(1, 0);
                       }),
                       slopes)},
  });

  const auto scaled_before =
      equals_zero<"q . k", "b", "d_k">([]<class R>(R product, R b, R d_k, bool mutant) {
        const R root = sqrt(d_k);
        return (mutant ? product + b : (product + b) / root) - (product / root + b);
      });
  const auto pairs = [](double width) {
    return std::vector<Sample>{{{"q . k", 16}, {"b", -0.5}, {"d_k", width}},
                               {{"q . k", -3}, {"b", -8}, {"d_k", width}}};
  };
  claims["alibi/bias_place"] = Claim({
      .title = "The bias is added directly to the product of query and key",
      .source = source("Technical details, sentence before the formula, against the formula"),
      .statement = "\"Adding a static, non-learned bias matrix directly to the QK^T term before "
                   "the softmax\" is the formula softmax(QK^T/sqrt(d_k) + bias): (q . k + "
                   "b)/sqrt(d_k) = q . k/sqrt(d_k) + b.",
      .implicit = {definition(
          "The scores are scaled by 1/sqrt(d_k), as in the article's first formula.",
          "Without a scale there are no two places.")},
      .condition = "The \"QK^T term\" is the scaled one, or d_k = 1.",
      .proof = holds_under_condition(
          "The two differ by b (1/sqrt(d_k) - 1). With d_k = 64 the bias would be an eighth of "
          "what the formula has, and slopes of 1/2 to 1/256 would be 1/16 to 1/2048. The article's "
          "code adds it after scaling."),
      .checks = {check("(q . k + b)/sqrt(d_k) - (q . k/sqrt(d_k) + b) = 0", scaled_before(false),
                       pairs(64)),
                 condition("the same for d_k = 1", scaled_before(false), pairs(1))},
      .mutant = {"Nothing needs to be scaled at all: q . k + b.",
                 check("q . k + b - (q . k/sqrt(d_k) + b) = 0", scaled_before(true), pairs(4))},
  });
}

}  // namespace plumbline::proofs_checks::alibi
