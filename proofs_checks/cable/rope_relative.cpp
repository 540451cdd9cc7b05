// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rope_score.hpp"
#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <int key_moves>
struct Moved {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    std::vector<Placed<R>> residuals;
    for (int s : {1, 7, 1000}) {
      residuals.push_back({rope_score<R>(in["q"], 3, in["k"], 1) -
                               rope_score<R>(in["q"], 3 + s, in["k"], 1 + key_moves * s),
                           "i = 3, j = 1, s = " + std::to_string(s)});
      residuals.push_back({rope_score<R>(in["q"], 0, in["k"], 5) -
                               rope_score<R>(in["q"], s, in["k"], 5 + key_moves * s),
                           "i = 0, j = 5, s = " + std::to_string(s)});
    }
    return residuals;
  }
};

struct OtherSide {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {rope_score<R>(in["q"], 3, in["k"], 1) - rope_score<R>(in["q"], 1, in["k"], 3)};
  }
};

}  // namespace

Claim rope_relative() {
  Claim claim;
  claim.id = "cable/rope_relative";
  claim.title = "RoPE makes attention a function of the relative distance";
  claim.source = source("Section 2, RPE");
  claim.statement =
      "RoPE rotates query and key, which results in attention being a function of the relative "
      "distance i - j: <R_i q, R_j k> does not change when i and j move by the same amount.";
  claim.derivation =
      "Rotations of one pair by the same frequency add their angles: <R_i q, R_j k> = <q, R_{j-i} "
      "k>. It is the signed distance: at i - j = 1 and -1 the scores differ in general. (Each "
      "vector turns with its own position, not with the distance, as \"an angle proportional to "
      "their relative positions\" could be read.)";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "<R_i q, R_j k> - <R_{i+s} q, R_{j+s} k> = 0", Moved<1>{},
                   rope_vectors());
  };
  claim.mutant = "It does not change when the query alone moves.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "<R_i q, R_j k> - <R_{i+s} q, R_j k> = 0", Moved<0>{},
                   rope_vectors());
  };
  claim.hypotheses = {needed("i and j move by the same amount.",
                             "A query that moves alone is at another distance.",
                             claim.mutant_checks)};
  claim.implicit = {
      needed("The distance is signed.", "The score at i - j = 2 is not that at i - j = -2.", [] {
        return for_all(Role::statement, "<R_3 q, R_1 k> - <R_1 q, R_3 k> = 0", OtherSide{},
                       rope_vectors());
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
