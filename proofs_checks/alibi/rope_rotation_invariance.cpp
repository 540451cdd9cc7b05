// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/rope_score.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

template <class R>
reference::Vector<R> turn(const reference::Vector<R>& x, const R& angle) {
  const R c = reference::cos(angle), s = reference::sin(angle);
  reference::Vector<R> turned(2);
  turned[0] = c * x[0] - s * x[1];
  turned[1] = s * x[0] + c * x[1];
  return turned;
}

template <int key_turns>
struct Turned {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R& phi = in.number("phi");
    const R none(0.0);
    const auto q = turn<R>(in["q"], none), k = turn<R>(in["k"], none);
    const auto q_phi = turn<R>(in["q"], phi), k_phi = turn<R>(in["k"], key_turns ? phi : none);
    std::vector<Placed<R>> residuals;
    for (int j : {0, 3, 7})
      residuals.push_back({rope_score<R>(q_phi, 7, k_phi, j) - rope_score<R>(q, 7, k, j),
                           "i = 7, j = " + std::to_string(j)});
    return residuals;
  }
};

std::vector<Sample> vectors() {
  return {Sample{}.with("q", {1, 0}).with("k", {0, 1}).with("phi", {1}),
          Sample{}.with("q", {0.5, -2}).with("k", {3, 0.25}).with("phi", {-0.75})};
}

}  // namespace

Claim rope_rotation_invariance() {
  Claim claim;
  claim.id = "alibi/rope_rotation_invariance";
  claim.title = "RoPE preserves rotation invariance within its planes";
  claim.source = source("Comparison with RoPE");
  claim.statement =
      "RoPE preserves certain geometric properties, such as rotation invariance within 2D "
      "subspaces: turning query and key by one angle in the plane of a pair leaves all scores as "
      "they are.";
  claim.derivation =
      "Rotations of a plane commute: <R_i R_phi q, R_j R_phi k> = <R_phi R_i q, R_phi R_j k> = "
      "<R_i q, R_j k>.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "<R_i R_phi q, R_j R_phi k> - <R_i q, R_j k> = 0", Turned<1>{},
                   vectors());
  };
  claim.mutant = "Turning the query alone leaves them as well.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "<R_i R_phi q, R_j k> - <R_i q, R_j k> = 0", Turned<0>{},
                   vectors());
  };
  claim.implicit = {needed("One angle for each pair of components, the same for query and key.",
                           "Turning one of them changes the angle between them.",
                           claim.mutant_checks)};
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
