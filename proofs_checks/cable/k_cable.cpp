// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/k_cable.hpp"
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <class R>
R square(const R& x) {
  return absolute(x) * absolute(x);
}

/// The biases of all keys for a query, by CABLE and by K-CABLE.
template <class R>
std::pair<Vector<R>, Vector<R>> without_and_with_kernel(const Vector<R>& f, const R& g, int query) {
  const auto sums = reference::prefix_sum(f);
  const auto gain = same_gain<R>(g, sums.size());
  return {row_of(reference::Cable<R>{sums, gain}, query),
          row_of(reference::KCable<R>{sums, gain}, query)};
}

}  // namespace

void claims_of_k_cable(Claims& claims) {
  const auto value_difference =
      at_least_zero<"b">([]<class R>(R b) { return b - reference::log_kernel(b); });
  const auto points = grid({{"b", {0, 0x1p-6, 0.5, 1, 1.5, 2, 10, 1024, 0x1p20}}});
  claims["cable/k_cable_slope"] = Claim({
      .title = "The kernel has a slower slope",
      .source = source("Section 5.6"),
      .statement =
          "With the kernel -log(b^2 + 1), K-CABLE has a slower slope for biases than CABLE: |d/db "
          "ln(1 + b^2)| <= 1, ln(1 + b^2) <= b, and ln(1 + b^2) / b falls to 0.",
      .hypotheses = {needed(
          {"b >= 0 is the penalty of CABLE for the pair.", "b", at_least(0)},
          "For b < 0 the kernel's penalty is positive and CABLE's a reward.",
          check("b - ln(1 + b^2) >= 0 at b = -1", value_difference, {{{"b", -1}}}))},
      .implicit = {definition(
          "The slope is taken in b. In the distance it is that times the increment, for both.",
          "It says what \"slope\" means.")},
      .proof = holds(
          "1 - 2b/(1 + b^2) = (1 - b)^2/(1 + b^2) >= 0, with equality at b = 1 only; both "
          "penalties are 0 at b = 0, so the kernel's is never larger. ln(1 + b^2) <= 2 ln(1 + b) "
          "<= 2 sqrt(b) bounds the ratio by 2/sqrt(b); the checks enclose 4/sqrt(b) on [1, 2^40]."),
      .theorem = "k_cable.k_cable_slope",
      .checks = {check("1 - 2b/(1 + b^2) - (1 - b)^2/(1 + b^2) = 0",
                       equals_zero<"b">([]<class R>(R b) {
                         const R one(1.0);
                         return one - reference::log_kernel_derivative(b) -
                                square<R>(one - b) / (one + square(b));
                       }),
                       points),
                 check("(1 - b)^2/(1 + b^2) >= 0 for b in [0, 2^100]",
                       at_least_zero<"b">([]<class R>(R b) {
                         const R one(1.0);
                         return square<R>(one - b) / (one + square(b));
                       }),
                       grid({boxes("b", {0, 1, 0x1p100})})),
                 check("b - ln(1 + b^2) >= 0", value_difference, points),
                 check("4/sqrt(b) - ln(1 + b^2)/b >= 0 on boxes that cover [1, 2^40]",
                       at_least_zero<"b">([]<class R>(R b) {
                         return R(4.0) / sqrt(b) - reference::log_kernel(b) / b;
                       }),
                       grid({boxes("b", growing(1, 0x1p40, 2))}))},
      .mutant = {"The slope is at most 3/4 of that of CABLE.",
                 check("3/4 - 2b/(1 + b^2) >= 0 at b = 1", at_least_zero<"b">([]<class R>(R b) {
                         return R(0.75) - reference::log_kernel_derivative(b);
                       }),
                       {{{"b", 1}}})},
      .pictures = {pictures::k_cable_kernel},
  });

  const auto penalties = []<class R>(R g, const Vector<R>& f) {
    const auto bias = printed_bias<R>(f, g);
    const int last = last_of(f);
    const auto penalty = [&](int j) { return reference::log_kernel<R>(bias(last, j)); };
    std::vector<Placed<R>> residuals;
    for (int j = 0; j < last; ++j) {
      const std::string place = "i = " + std::to_string(last) + ", j = " + std::to_string(j);
      residuals.push_back({penalty(j), place});
      residuals.push_back({penalty(j) - penalty(j + 1), place + ", against j + 1"});
    }
    return residuals;
  };
  const auto kernel_penalises = at_least_zero<"g", "f">(penalties);
  const auto later_penalised = at_least_zero<"g", "f">([]<class R>(R g, const Vector<R>& f) {
    const auto bias = printed_bias<R>(f, g);
    return at_each("j", 0, last_of(f), [&](int j) {
      return reference::log_kernel<R>(bias(0, j + 1)) - reference::log_kernel<R>(bias(0, j));
    });
  });
  claims["cable/k_cable_penalises"] = Claim({
      .title = "The kernel of the printed bias penalises distance",
      .source = source("Section 5.6 with eqs 5 and 7"),
      .statement = "The kernel -log(b^2 + 1), applied to the relative biases b before they are "
                   "added to the attention scores, gives penalties that do not decrease with "
                   "distance, for b of eq. 7 with its printed, positive sign.",
      .hypotheses = {needed({"The increments are not negative (eq. 2).", "f", at_least(0)},
                            "Where the sum comes back, the farther key has the smaller b^2.",
                            check("ln(1 + b_ij^2) - ln(1 + b_i,j+1^2) >= 0 with f_2 = -2",
                                  kernel_penalises, {{{"f", {1, 2, -2}}, {"g", 1}}}))},
      .implicit = {not_needed("Attention is causal: j <= i.",
                              "b^2 has no sign, so keys after the query are penalised alike.",
                              check("ln(1 + b_0,j+1^2) - ln(1 + b_0j^2) >= 0: later keys",
                                    later_penalised, increments_and_gains(false, 10)))},
      .proof =
          holds("b^2 has no sign: -ln(1 + b^2) <= 0, and b_ij >= b_i,j+1 >= 0 makes it smallest "
                "for the farthest key. So K-CABLE needs no change of sign, while CABLE does "
                "(cable/penalises_distance); in both directions of a bidirectional model as well."),
      .theorem = "k_cable.k_cable_penalises",
      .checks = check("ln(1 + b_ij^2) >= 0 and ln(1 + b_ij^2) - ln(1 + b_i,j+1^2) >= 0, j < i",
                      kernel_penalises, increments_and_gains(false)),
      .mutant = {"The penalty increases with every step, also where increments are 0.",
                 check("ln(1 + b_ij^2) - ln(1 + b_i,j+1^2) > 0", above_zero<"g", "f">(penalties),
                       increments_and_gains(false))},
  });

  const auto with_gain = [](double g) {
    return grid({vectors("f", {{1, 1, 0.5}, {1, 0.25, 0.5}, {1, 8, 0.5}}), {"g", g}});
  };
  const auto weight_place = equals_zero<"g", "f">([]<class R>(R g, const Vector<R>& f) {
    const auto sums = reference::prefix_sum(f);
    const auto gain = same_gain<R>(g, sums.size());
    const int last = last_of(f);
    return reference::KCable<R>{sums, gain}(last, 0) -
           reference::KCablePaper<R>{sums, gain}(last, 0);
  });
  claims["cable/k_cable_weight_place"] = Claim({
      .title = "Which relative biases the kernel is applied to does not matter",
      .source = source("Section 5.6 against eqs 5 and 7"),
      .statement = "The kernel is applied to \"the relative biases before adding them\": eq. 5 "
                   "calls S_i - S_j so, eq. 7 the product with the weight. Both give one formula: "
                   "-ln(1 + (g d)^2) = -g ln(1 + d^2) with d = S_i - S_j.",
      .implicit = {definition(
          "The sentence leaves open whether the weight is inside or outside of the kernel.",
          "It is the question.")},
      .condition = "The weight is 1: K-CABLE without weights.",
      .proof = holds_under_condition(
          "At g = 1 both are -ln(1 + d^2). For d = 1, g = 1/2: ln(1.25) = 0.223 against ln(2)/2 = "
          "0.347. For large d they grow apart: the weight inside adds 2 ln g and leaves the slope "
          "of 2 ln d, the weight outside multiplies that slope by g. The published code has it "
          "outside."),
      .theorem = "k_cable.k_cable_weight_place",
      .checks = {check("ln(1 + (g d)^2) - g ln(1 + d^2) = 0, d = f_1 + f_2 + ... (all but f_0)",
                       weight_place, increments_and_gains(true, 20)),
                 condition("the same for g = 1", weight_place, with_gain(1))},
      .mutant = {"The same for g = 2.", check("ln(1 + (g d)^2) - g ln(1 + d^2) = 0 for g = 2",
                                              weight_place, with_gain(2))},
  });

  // The attention at distances >= W, for every W, gained or, with sign -1, lost.
  const auto more_beyond = at_least_zero<"g", "f", "content">(
      []<class R>(R g, const Vector<R>& f, const Vector<R>& content, double sign) {
        const auto [plain, kernel] = without_and_with_kernel(f, g, last_of(f));
        const auto p = softmax(Vector<R>(content + plain)).probability;
        const auto q = softmax(Vector<R>(content + kernel)).probability;
        std::vector<Placed<R>> residuals;
        R difference(0.0);
        for (int j = 0; j < last_of(f); ++j) {
          difference += q[j] - p[j];
          residuals.push_back({R(sign) * difference, "W = " + std::to_string(last_of(f) - j)});
        }
        return residuals;
      });
  const auto more_on_both_sides = at_least_zero<"g", "f">([]<class R>(R g, const Vector<R>& f) {
    const auto [plain, kernel] = without_and_with_kernel(f, g, 1);
    return softmax(kernel).probability[3] - softmax(plain).probability[3];
  });
  // Increments and weights with content scores that favour the near key, the far key, or none.
  Samples rows_of_scores;
  for (const Sample& row : increments_and_gains(false, 30)) {
    for (double slope : {0.0, 0.75, -0.75}) {
      std::vector<double> content(row.find("f")->lower.size());
      for (std::size_t j = 0; j < content.size(); ++j) content[j] = slope * static_cast<double>(j);
      rows_of_scores.push_back(row);
      rows_of_scores.back().with({"content", content});
    }
  }
  claims["cable/k_cable_less_window"] = Claim({
      .title = "K-CABLE behaves less like a sliding window",
      .source = source("Section 5.6"),
      .statement = "K-CABLE behaves less like a sliding window than CABLE: for the same scores, "
                   "increments and weights, the attention to all keys at a distance of W or more "
                   "is at least that of CABLE, for every W.",
      .hypotheses = {needed(
          {"The weight g is above 0 (eq. 6).", "g", above(0)},
          "A negative weight turns the ratio of the two weights around.",
          check("attention at distances >= W, K-CABLE minus CABLE, with g = -1", more_beyond(1),
                {{{"f", {1, 3, 3}}, {"g", -1}, {"content", {0, 0, 0}}}}))},
      .implicit = {definition("The same scores, increments and weights: the comparison is of the "
                              "formulas, not of two trained models.",
                              "It says what is compared."),
                   needed("Attention is causal: j <= i.",
                          "A large increment on one side moves attention to that side, also to its "
                          "nearest key.",
                          check("attention of the second of four tokens at distance 2 or more, "
                                "K-CABLE minus CABLE",
                                more_on_both_sides, {{{"f", {1, 5, 0, 0}}, {"g", 1}}}))},
      .proof = holds_under_condition(
          "With b = S_i - S_j and g outside of the kernel, the weights of a key under "
          "both are in the ratio e^(g (b - ln(1 + b^2))), times one constant of the "
          "row. b - ln(1 + b^2) does not decrease (its derivative is (1 - b)^2/(1 + "
          "b^2)), and b does not decrease with distance, so the ratio does not either: "
          "K-CABLE moves attention from nearer to farther keys only. Sums over the keys "
          "beyond W then do not decrease. The argument uses nothing of the content "
          "scores; with g inside of the kernel it is the same with b = g (S_i - S_j)."),
      .theorem = "k_cable.k_cable_less_window",
      .checks =
          check("attention at distances >= W under K-CABLE minus that under CABLE >= 0, every W",
                more_beyond(1), rows_of_scores),
      .mutant =
          {"It is the other way round.",
           check("attention at distances >= W under CABLE minus that under K-CABLE >= 0, every W",
                 more_beyond(-1), rows_of_scores)},
      .pictures = {pictures::k_cable_window},
  });
}

}  // namespace plumbline::proofs_checks::cable
