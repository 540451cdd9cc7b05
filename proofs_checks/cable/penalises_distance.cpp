// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/samples.hpp"

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

struct PrintedBiasPenalises {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto bias = printed_bias<R>(in["f"], in.number("g"));
    return penalties(bias, static_cast<int>(in["f"].size()) - 1);
  }
};

struct PublishedBiasPenalises {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto bias = published_bias<R>(in["f"], in.number("g"));
    return penalties(bias, static_cast<int>(in["f"].size()) - 1);
  }
};

/// The mutant of the correction: the penalty of a key is at least that of the key before it.
struct PublishedBiasRewards {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto bias = published_bias<R>(in["f"], in.number("g"));
    const int last = static_cast<int>(in["f"].size()) - 1;
    std::vector<R> residuals;
    for (int j = 0; j < last; ++j) residuals.push_back(bias(last, j) - bias(last, j + 1));
    return residuals;
  }
};

}  // namespace

Claim penalises_distance() {
  Claim claim;
  claim.id = "cable/penalises_distance";
  claim.title = "The bias penalises distant keys";
  claim.source = source("Section 3, eqs 2-7 and the paragraph after eq. 7");
  claim.statement =
      "B_ij = g_i (S_i - S_j), with S the prefix sum of ReLU outputs and g a softplus, penalises "
      "distant query-key pairs: B_ij <= 0 and B_i,j <= B_i,j+1 for j < i.";
  claim.hypotheses = {"f = ReLU(X w_c) >= 0 (eq. 2).",
                      "S = L f, L lower triangular ones (eqs 3-4).",
                      "g = Softplus(X w_s) > 0 (eq. 6)."};
  claim.implicit = {"Attention is causal: j <= i.", "The bias is added to the logits (eq. 1)."};
  claim.correction =
      "With negated increments, as the published code has them, "
      "B_ij = -g_i sum_{k=j+1..i} f_k <= 0 and B_ij <= B_i,j+1: distance is never rewarded.";
  claim.derivation =
      "S_i - S_j = sum_{k=j+1..i} f_k >= 0, so B_ij >= 0, and B_ij - B_i,j+1 = g_i f_{j+1} >= 0: "
      "the "
      "printed sign rewards distance, strictly wherever f_{j+1} > 0. f = (1, 1), g = 1/2: "
      "B_10 = 1/2 and B_11 = 0. Negating the increments reverses both inequalities.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement, "as printed: -B_ij >= 0 and B_i,j+1 - B_ij >= 0",
                             PrintedBiasPenalises{}, increments_and_gains(false)),
                     for_all(Role::correction, "published sign: -B_ij >= 0 and B_i,j+1 - B_ij >= 0",
                             PublishedBiasPenalises{}, increments_and_gains(false))});
  };
  claim.pictures = {pictures::bias_maps};
  claim.mutant = "With the published sign, B_i,j >= B_i,j+1.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "published sign: B_ij - B_i,j+1 >= 0", PublishedBiasRewards{},
                   increments_and_gains(false));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
