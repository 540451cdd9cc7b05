// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// For the last query i and every key j < i: -B_ij (no reward) and B_i,j+1 - B_ij (the nearer key
/// is not worse off).
template <class Bias>
auto penalties(const Bias& bias, int last) {
  std::vector<Placed<decltype(bias(0, 0))>> residuals;
  for (int j = 0; j < last; ++j) {
    const std::string ij = "i = " + std::to_string(last) + ", j = " + std::to_string(j);
    residuals.push_back({-bias(last, j), "-B_ij, " + ij});
    residuals.push_back({bias(last, j + 1) - bias(last, j), "B_i,j+1 - B_ij, " + ij});
  }
  return residuals;
}

}  // namespace

void claims_of_distance(Claims& claims) {
  const auto penalises =
      at_least_zero<"g", "f">([]<class R>(R g, const Vector<R>& f, bool published) {
        return published ? penalties(published_bias<R>(f, g), last_of(f))
                         : penalties(printed_bias<R>(f, g), last_of(f));
      });
  // How much better off the nearer key is, times a sign.
  const auto steps = [](double sign) {
    return [=]<class R>(const R& g, const Vector<R>& f) {
      std::vector<R> residuals = nearer_less_farther(g, f);
      for (R& residual : residuals) residual = R(sign) * residual;
      return residuals;
    };
  };
  const auto increments = increments_and_gains(false);
  claims["cable/penalises_distance"] = Claim({
      .title = "The bias penalises distant keys",
      .source = source("Section 3, eqs 2-7 and the paragraph after eq. 7"),
      .statement =
          "B_ij = g_i (S_i - S_j), with S the prefix sum of ReLU outputs and g a softplus, "
          "penalises distant query-key pairs: B_ij <= 0 and B_i,j <= B_i,j+1 for j < i.",
      .hypotheses = {"f = ReLU(X w_c) >= 0 (eq. 2).", "S = L f, L lower triangular ones (eqs 3-4).",
                     "g = Softplus(X w_s) > 0 (eq. 6)."},
      .implicit = {"Attention is causal: j <= i.", "The bias is added to the logits (eq. 1)."},
      .correction = "With negated increments, as the published code has them, B_ij = -g_i "
                    "sum_{k=j+1..i} f_k <= 0 and B_ij <= B_i,j+1: distance is never rewarded.",
      .proof = refuted(
          "S_i - S_j = sum_{k=j+1..i} f_k >= 0, so B_ij >= 0, and B_ij - B_i,j+1 = g_i f_{j+1} >= "
          "0: the printed sign rewards distance, strictly wherever f_{j+1} > 0. f = (1, 1), g = "
          "1/2: B_10 = 1/2 and B_11 = 0. Negating the increments reverses both inequalities."),
      .theorem = "cable.penalises_distance_fails",
      .checks = {check("as printed: -B_ij >= 0 and B_i,j+1 - B_ij >= 0", penalises(false),
                       increments),
                 correction("published sign: -B_ij >= 0 and B_i,j+1 - B_ij >= 0", penalises(true),
                            increments)},
      .mutant = {"With the published sign, B_i,j >= B_i,j+1.",
                 check("published sign: B_ij - B_i,j+1 >= 0", at_least_zero<"g", "f">(steps(-1)),
                       increments)},
      .pictures = {pictures::bias_maps},
  });

  // The published sign, with the increments Softplus(z), which are positive.
  const auto with_softplus = above_zero<"g", "z">([]<class R>(R g, const Vector<R>& z) {
    Vector<R> increments = z;
    for (R& increment : increments) increment = softplus(increment);
    return nearer_less_farther(g, increments);
  });
  const auto better_off = above_zero<"g", "f">(steps(+1));
  const auto positive_increments = increments_and_gains(true);
  claims["cable/penalties_increase"] = Claim({
      .title = "The penalties increase with distance",
      .source = source("Section 3, paragraph after eq. 7"),
      .statement = "With the sign of the published code, the penalty increases with every step of "
                   "distance: B_ij < B_i,j+1 for j < i.",
      .hypotheses =
          {not_needed("f = ReLU(X w_c) (eq. 2).",
                      "Of it the derivation uses f_k > 0 only, the condition, which a softplus "
                      "meets always.",
                      check("B_i,j+1 - B_ij > 0 with f = Softplus(z)", with_softplus,
                            {{{"z", {1, -3, 0, 2, -8}}, {"g", 0.5}}, {{"z", {-1, -2}}, {"g", 4}}})),
           needed({"g = Softplus(X w_s) (eq. 6), so g > 0.", "g", above(0)},
                  "With a weight of 0 no key is penalised.",
                  check("B_i,j+1 - B_ij > 0 with g = 0", better_off, {{{"f", {1, 1}}, {"g", 0}}}))},
      .implicit = {needed_as_the_mutant_shows("Increments are negated (cable/penalises_distance).",
                                              "The printed sign rewards the farther key."),
                   needed("Attention is causal: j <= i.",
                          "Beyond the query, j + 1 is the farther key.",
                          check("B_0,j+1 - B_0j > 0: keys after the query",
                                above_zero<"g", "f">([]<class R>(R g, const Vector<R>& f) {
                                  const auto bias = published_bias<R>(f, g);
                                  return bias(0, 1) - bias(0, 0);
                                }),
                                {{{"f", {1, 1}}, {"g", 0.5}}}))},
      .condition = "Every token's ReLU is active: f_k > 0 for all k.",
      .proof = holds_under_condition(
          "B_i,j+1 - B_ij = g_i f_{j+1} and g_i > 0, so the inequality is strict exactly where "
          "f_{j+1} > 0. A ReLU gives 0 on half of its domain: f = (1, 0), g = 1 has B_10 = B_11 = "
          "0, and a head whose increments are all 0 is NoPE."),
      .theorem = "cable.penalties_increase",
      .checks = {check("B_i,j+1 - B_ij > 0 for increments >= 0", better_off, increments),
                 condition("B_i,j+1 - B_ij > 0 for increments > 0", better_off,
                           positive_increments)},
      .mutant = {"For increments > 0 the penalty decreases with distance.",
                 check("B_ij - B_i,j+1 > 0 for increments > 0", above_zero<"g", "f">(steps(-1)),
                       positive_increments)},
  });
}

}  // namespace plumbline::proofs_checks::cable
