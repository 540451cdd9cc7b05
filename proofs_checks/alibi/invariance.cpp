// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/rows.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {

void claims_of_invariance(Claims& claims) {
  const auto moved = equals_zero<"m">([]<class R>(R m, bool by_key) {
    const reference::Alibi<R> bias{m};
    const reference::AlibiKeyPosition<R> key_position{m};
    std::vector<R> residuals;
    for (int s : {1, 95, 10000}) {
      for (int d : {0, 1, 5}) {
        residuals.push_back(by_key ? key_position(5 + s, 5 - d + s) - key_position(5, 5 - d)
                                   : bias(5 + s, 5 - d + s) - bias(5, 5 - d));
      }
    }
    return residuals;
  });
  const std::vector<Sample> three_slopes = {{{"m", 0.5}}, {{"m", 0.1}}, {{"m", 0x1p-8}}};
  claims["alibi/translation_invariance"] = Claim({
      .title = "A distance of 5 is always a distance of 5",
      .source = source("Why does this work so well, 1"),
      .statement = "The bias is a relative measure of distance: it does not matter if a sentence "
                   "has 100 words or 10,000: b(i + s, j + s) = b(i, j).",
      .hypotheses = {needed("Query and key move by the same s.",
                            "A key that stays behind is farther away.",
                            check("b(5 + 1, 5) - b(5, 5) = 0", equals_zero<"m">([]<class R>(R m) {
                                    const reference::Alibi<R> bias{m};
                                    return bias(6, 5) - bias(5, 5);
                                  }),
                                  three_slopes))},
      .implicit = {definition("Exact arithmetic.",
                              "The statement is one about real numbers; m |i - j| is rounded in "
                              "floating point, though alike for equal distances.")},
      .proof =
          holds("|(i + s) - (j + s)| = |i - j|. The bias m j of the original code, equal up to a "
                "constant of the row, is not invariant, though the weights under it are."),
      .checks = check("b(i + s, j + s) - b(i, j) = 0, s up to 10000", moved(false), three_slopes),
      .mutant = {"So is m j, which the original code adds.",
                 check("m (j + s) - m j = 0", moved(true), three_slopes)},
  });

  const auto same_ratio = equals_zero<"m">([]<class R>(R m) {
    std::vector<R> residuals;
    for (int keys : {12, 100}) {
      const auto p = weights_by_distance(m, keys);
      for (int a : {1, 5, 11}) residuals.push_back(log(p[a]) - log(p[0]) + m * R(a));
    }
    return residuals;
  });
  const auto limit = at_least_zero<"m">([]<class R>(R m) {
    std::vector<R> residuals;
    for (int keys : {12, 100}) {
      const auto p = weights_by_distance(m, keys);
      for (int d : {0, 5, 11}) {
        const R above = p[d] - exp(-(m * R(d))) * (R(1.0) - exp(-m));
        residuals.push_back(above);
        residuals.push_back(p[d] * exp(-(m * R(keys))) - above);
      }
    }
    return residuals;
  });
  const std::vector<Sample> powers_of_two = {{{"m", 0x1p-8}}, {{"m", 0.0625}}, {{"m", 0.5}}};
  const auto ratio_with_content = equals_zero<"m", "s at distance 1">([]<class R>(R m, R s) {
    const reference::Alibi<R> bias{m};
    Vector<R> logits(12);
    for (int d = 0; d < 12; ++d) logits[d] = bias(d, 0);
    logits[1] += s;
    const auto p = softmax(logits).probability;
    return log(p[1]) - log(p[0]) + m;
  });
  const auto ratio_both_sides = equals_zero<"m">([]<class R>(R m) {
    const reference::Alibi<R> bias{m};
    Vector<R> logits(12);
    for (int j = 0; j < 12; ++j) logits[j] = bias(6, j);
    const auto p = softmax(logits).probability;
    return at_each("j", 0, 12, [&](int j) { return log(p[j]) - log(p[6]) - bias(6, j); });
  });
  claims["alibi/preferences_preserved"] = Claim({
      .title = "The preferences between near and far are preserved",
      .source = source("Why does this work so well, 1"),
      .statement = "The pattern of preferences between near and far tokens is preserved even when "
                   "absolute positions become much larger than during training: the ratio of the "
                   "weights at two distances is the same at every position.",
      .implicit = {needed({"The content scores at the two distances are the same at both "
                           "positions; the checks take equal ones.",
                           "s at distance 1", exactly(0)},
                          "The ratio has the factor e^(s_a - s_b) of the content.",
                          check("ln p(1) - ln p(0) + m = 0 with content s at distance 1",
                                ratio_with_content, {{{"m", 0.5}, {"s at distance 1", 1}}})),
                   not_needed("Attention is causal: j <= i.",
                              "Keys after the query change the denominator, which cancels.",
                              check("ln p_6j - ln p_66 + m |6 - j| = 0 for all j of 12 keys",
                                    ratio_both_sides, powers_of_two))},
      .correction = "The ratios of weights are preserved exactly; the weights themselves fall with "
                    "the number of keys n to a positive limit, at the rate e^(-m n).",
      .proof = holds("p(a)/p(b) = e^(-m (a - b)) e^(s_a - s_b) with the content scores s: the "
                     "denominator, which depends on the position, cancels. The weights themselves "
                     "do depend on it: for equal content p(d) = e^(-m d) (1 - e^(-m))/(1 - e^(-m "
                     "n)) with n keys, which falls to e^(-m d) (1 - e^(-m)) as n grows; relative "
                     "to the limit the difference is e^(-m n)/(1 - e^(-m n))."),
      .checks = {check("ln p(a) - ln p(b) + m (a - b) = 0 for 12 and 100 keys", same_ratio,
                       powers_of_two),
                 correction("0 <= p(d) - e^(-m d) (1 - e^(-m)) <= p(d) e^(-m n), n = 12, 100",
                            limit, powers_of_two)},
      .mutant = {"The weight at distance 5 is the same for 12 and for 100 keys.",
                 check("p(5) of 100 keys - p(5) of 12 keys = 0", equals_zero<"m">([]<class R>(R m) {
                         return weights_by_distance(m, 100)[5] - weights_by_distance(m, 12)[5];
                       }),
                       powers_of_two)},
  });
}

}  // namespace plumbline::proofs_checks::alibi
