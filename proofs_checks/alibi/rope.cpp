// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/rope_score.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

template <class R>
Vector<R> turn(const Vector<R>& x, const R& angle) {
  const R c = cos(angle), s = sin(angle);
  return Vector<R>{{c * x[0] - s * x[1], s * x[0] + c * x[1]}};
}

}  // namespace

void claims_of_rope(Claims& claims) {
  const auto turned = equals_zero<"phi", "q", "k">(
      []<class R>(R phi, const Vector<R>& q, const Vector<R>& k, bool key_turns) {
        const R none(0.0);
        const auto q_0 = turn(q, none), k_0 = turn(k, none);
        const auto q_phi = turn(q, phi), k_phi = turn(k, key_turns ? phi : none);
        return at_each("i = 7, j", {0, 3, 7}, [&](int j) {
          return rope_score<R>(q_phi, 7, k_phi, j) - rope_score<R>(q_0, 7, k_0, j);
        });
      });
  const std::vector<Sample> vectors = {{{"q", {1, 0}}, {"k", {0, 1}}, {"phi", 1}},
                                       {{"q", {0.5, -2}}, {"k", {3, 0.25}}, {"phi", -0.75}}};
  claims["alibi/rope_rotation_invariance"] = Claim({
      .title = "RoPE preserves rotation invariance within its planes",
      .source = source("Comparison with RoPE"),
      .statement = "RoPE preserves certain geometric properties, such as rotation invariance "
                   "within 2D subspaces: turning query and key by one angle in the plane of a pair "
                   "leaves all scores as they are.",
      .implicit = {needed_as_the_mutant_shows(
          "One angle for each pair of components, the same for query and key.",
          "Turning one of them changes the angle between them.")},
      .proof = holds("Rotations of a plane commute: <R_i R_phi q, R_j R_phi k> = <R_phi R_i q, "
                     "R_phi R_j k> = <R_i q, R_j k>."),
      .checks = check("<R_i R_phi q, R_j R_phi k> - <R_i q, R_j k> = 0", turned(true), vectors),
      .mutant = {"Turning the query alone leaves them as well.",
                 check("<R_i R_phi q, R_j k> - <R_i q, R_j k> = 0", turned(false), vectors)},
  });
}

}  // namespace plumbline::proofs_checks::alibi
