// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rope_score.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"
#include "reference/position/rope.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <int turned_key>
struct PeaksAt {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const int query = 8;
    std::vector<Placed<R>> residuals;
    for (int r = 0; r <= query; ++r) {
      const reference::Matrix<R> row = in["q"].transpose();
      const reference::Matrix<R> key_row =
          reference::rope<R>(row, turned_key * r, R(10000.0), reference::RopePairs::interleaved);
      const reference::Vector<R> key = key_row.transpose();
      const R peak = rope_score<R>(in["q"], query, key, query - r);
      for (int s = 0; s <= query; ++s) {
        if (s != r)
          residuals.push_back({peak - rope_score<R>(in["q"], query, key, query - s),
                               "r = " + std::to_string(r) + ", s = " + std::to_string(s)});
      }
    }
    return residuals;
  }
};

}  // namespace

Claim rope_need_not_decay() {
  Claim claim;
  claim.id = "cable/rope_need_not_decay";
  claim.title = "Attention under RoPE need not decay with distance";
  claim.source = source("Section 2, RPE, after Barbero et al.");
  claim.statement =
      "Attention weights under RoPE do not necessarily decay with the distance: for every distance "
      "r some key scores highest exactly there.";
  claim.derivation =
      "Take k = R_r q. Then <R_i q, R_j k> = sum over pairs of |q_pair|^2 cos((i - j - r) "
      "theta_pair), which is largest at i - j = r; strictly among whole numbers, as a frequency "
      "is algebraic and 2 pi is transcendental. So the claim of Su et al. that scores decay is no "
      "theorem about single pairs of vectors.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement,
                   "score at distance r minus score at distance s > 0, k = R_r q, r = 0..8, s != r",
                   PeaksAt<1>{}, rope_vectors());
  };
  claim.mutant = "The same without turning the key.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "score at distance r minus score at distance s > 0, k = q",
                   PeaksAt<0>{}, rope_vectors());
  };
  claim.hypotheses = {needed("The query is not 0.", "A query of 0 scores 0 everywhere.", [] {
    return for_all(Role::statement, "score at r minus score at s > 0 with q = 0", PeaksAt<1>{},
                   {Sample{}.with("q", {0, 0, 0, 0})});
  })};
  claim.implicit = {not_needed(
      "The query has a component in the pair that turns by 1 radian.",
      "Any pair serves: its frequency 10000^(-2p/d) is algebraic, so no multiple of it by a whole "
      "number but 0 is a multiple of 2 pi, which is transcendental.",
      [] {
        return for_all(
            Role::statement, "score at r minus score at s > 0, q in the pair that turns by 1/100",
            PeaksAt<1>{}, {Sample{}.with("q", {0, 0, 1, 0}), Sample{}.with("q", {0, 0, -1, 2})});
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
