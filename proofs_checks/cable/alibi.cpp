// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/alibi.hpp"

#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_alibi(Claims& claims) {
  // 0: the query is scaled. 1: nothing is. 2: the sum is. 3: the query, against the sum.
  const auto logits = equals_zero<"b", "q", "k">(
      []<class R>(R b, const Vector<R>& q, const Vector<R>& k, int reading) {
        const R root = sqrt(R(static_cast<int>(q.size())));
        R product(0.0), scaled_query(0.0);
        for (int c = 0; c < q.size(); ++c) {
          product += q[c] * k[c];
          scaled_query += q[c] / root * k[c];
        }
        const R scaled = product / root + b;
        if (reading == 0) return scaled_query + b - scaled;
        if (reading == 3) return scaled_query + b - (product + b) / root;
        return (reading == 1 ? product + b : (product + b) / root) - scaled;
      });
  const Samples pairs_of_vectors = {
      {{"q", {1, 2, -1, 0.5}}, {"k", {2, 0, 1, 4}}, {"b", -0.5}},
      {{"q", std::vector<double>(64, 1)}, {"k", std::vector<double>(64, 1)}, {"b", -3}}};
  claims["cable/equation_1_scale"] = Claim({
      .title = "Additive biases join the products of queries and keys",
      .source = source("Section 2, eq. 1"),
      .statement = "A_RPE(X) = X W_Q (X W_K)^T + B: the logits of scaled attention with an "
                   "additive bias, q . k / sqrt(d) + b.",
      .implicit = {needed(
          "Attention is scaled by 1/sqrt(d) before the bias is added, as in ALiBi and in the "
          "published code.",
          "A scale of the sum reaches the bias as well, and W_Q cannot make up for that.",
          check("(q / sqrt(d)) . k + b - (q . k + b) / sqrt(d) = 0", logits(3), pairs_of_vectors))},
      .condition = "W_Q contains the factor 1/sqrt(d).",
      .proof = holds_under_condition(
          "Eq. 1 has no 1/sqrt(d). With the same W_Q and W_K and d = 64, q . k = 64 gives 64 + b "
          "in place of 8 + b. Dividing W_Q by sqrt(d) gives the scaled logits exactly, so nothing "
          "is lost in what can be learned; but the size of b against q . k, which a slope of 1/2^h "
          "fixes, differs by the factor sqrt(d) if the scale is applied to the sum."),
      .theorem = "other_methods.equation_1_scale",
      .checks = {check("q . k + b - (q . k / sqrt(d) + b) = 0", logits(1), pairs_of_vectors),
                 condition("(q / sqrt(d)) . k + b - (q . k / sqrt(d) + b) = 0", logits(0),
                           pairs_of_vectors)},
      .mutant = {"Scaling the sum with the bias is the same: (q . k + b) / sqrt(d).",
                 check("(q . k + b) / sqrt(d) - (q . k / sqrt(d) + b) = 0", logits(2),
                       pairs_of_vectors)},
  });

  const auto bias_shrinks = above_zero<"r">([]<class R>(R r) {
    const reference::Alibi<R> b{r};
    return at_each("d", 1, 8, [&](int d) { return absolute(b(d, 0)) - absolute(b(d + 1, 0)); });
  });
  const auto factor_shrinks = at_least_zero<"r">([]<class R>(R r, double divisor) {
    const reference::Alibi<R> b{r};
    std::vector<R> residuals;
    for (int d : {0, 1, 2, 3, 10, 100}) {
      const R factor = exp(b(d, 0));
      residuals.push_back(factor - exp(b(d + 1, 0)));
      residuals.push_back(R(1.0) / (R(divisor) * (R(1.0) + r * R(d))) - factor);
    }
    return residuals;
  });
  const auto slopes = grid({{"r", {0.5, 0.0625, 0x1p-8, 1}}});
  claims["cable/alibi_approaches_zero"] = Claim({
      .title = "ALiBi's function approaches zero",
      .source = source("Section 2, ALiBi"),
      .statement = "b(i, j) = -r |i - j|, r > 0: the function rapidly approaches the zero point as "
                   "the distance grows.",
      .implicit =
          {"\"The function\" is the kernel function b(i, j) that the sentence before defines."},
      .correction = "e^b(i,j), the factor by which ALiBi multiplies a key's weight, approaches "
                    "zero geometrically, and is at most 1/(1 + r |i - j|).",
      .proof =
          refuted("|b| = r |i - j| starts at 0 and grows without bound: |b(1)| = r < |b(2)| = 2r. "
                  "What approaches zero is e^b = e^(-r |i - j|), the factor on the attention "
                  "weight, and that geometrically: e^(-x) <= 1/(1 + x) encloses the limit."),
      .theorem = "alibi.alibi_approaches_zero_fails",
      .checks = {check("|b(d)| - |b(d + 1)| > 0, b(d) = -r d", bias_shrinks, slopes),
                 correction("e^b(d) - e^b(d + 1) > 0 and 1/(1 + r d) - e^b(d) >= 0",
                            factor_shrinks(1), slopes)},
      .mutant = {"The factor e^b is below half of that enclosure.",
                 check("1/(2 + 2 r d) - e^b(d) >= 0", factor_shrinks(2), slopes)},
      .pictures = {pictures::exponential_weights},
  });

  const auto weights = []<class R>(const R& r) {
    const reference::Alibi<R> bias{r};
    return softmax_of<R>(5, [&](int d) { return bias(d, 0); });
  };
  const auto equal_steps = equals_zero<"r">([=]<class R>(R r, bool of_logarithms) {
    const auto p = weights(r);
    return at_each("d", 0, 3, [&](int d) {
      return of_logarithms ? R(log(p[d]) - log(p[d + 1]) - r)
                           : R(p[d] - p[d + 1] - (p[d + 1] - p[d + 2]));
    });
  });
  const auto some_slopes = grid({{"r", {0.5, 0.0625, 1}}});
  claims["cable/decay_proportional"] = Claim({
      .title = "Additive biases make weights decay in proportion to the distance",
      .source = source("Section 2, before eq. 1"),
      .statement = "Additive methods are designed to enforce a decay in attention weights "
                   "proportional to the relative distance: under ALiBi, for equal content, every "
                   "step of distance takes the same amount from the weight.",
      .implicit = {"\"Proportional\" is linear; ALiBi stands for the additive methods, with "
                   "content scores that are equal."},
      .correction = "The logit decays in proportion to the distance, the weight geometrically.",
      .proof = refuted("The weights are p(d) = p(0) e^(-r d): each step takes the same factor, not "
                       "the same amount: (p(0) - p(1)) - (p(1) - p(2)) = p(0) (1 - e^(-r))^2 > 0. "
                       "It is the logit, ln p, that decays in proportion to the distance."),
      .theorem = "alibi.decay_proportional_fails",
      .checks = {check("(p(d) - p(d + 1)) - (p(d + 1) - p(d + 2)) = 0, p(d) = e^(-r d) over its "
                       "sum for d = 0..4",
                       equal_steps(false), some_slopes),
                 correction("ln p(d) - ln p(d + 1) - r = 0", equal_steps(true), some_slopes)},
      .mutant = {"Every step halves the weight.",
                 check("p(d) - 2 p(d + 1) = 0", equals_zero<"r">([=]<class R>(R r) {
                         const auto p = weights(r);
                         return p[0] - p[1] - p[1];
                       }),
                       some_slopes)},
      .pictures = {pictures::exponential_weights},
  });
}

}  // namespace plumbline::proofs_checks::cable
