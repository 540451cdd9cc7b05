// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// p_joint(j) - p_cont(j) p_pos(j) Z^power with Z = 1/<p_cont, p_pos>: Theorem 1 has power -1, the
/// correction +1, the mutant +2.
template <int power>
struct JointFromReciprocalOverlap {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    const R z = R(1.0) / n.overlap();
    const R factor = power == -1 ? n.overlap() : power == 1 ? z : z * z;
    std::vector<Placed<R>> residuals;
    for (int j = 0; j < n.keys(); ++j) {
      residuals.push_back(
          {n.p_joint(j) - n.p_cont(j) * n.p_pos(j) * factor, "j = " + std::to_string(j)});
    }
    return residuals;
  }
};

}  // namespace

Claim z_reciprocal_overlap() {
  Claim claim;
  claim.id = "bam/z_reciprocal_overlap";
  claim.title = "Z as one over the overlap";
  claim.source = source("Appendix K.2, last paragraph, against Theorem 1");
  claim.statement = "The Z of Theorem 1, p_joint = p_cont p_pos / Z, is Z = 1/<p_cont, p_pos>.";
  claim.hypotheses = {"p_cont and p_pos are softmax vectors over the same keys.",
                      "One letter Z names one quantity throughout the paper."};
  claim.implicit = shared_hypotheses();
  claim.correction =
      "With Z = 1/<p_cont, p_pos> it is p_joint = p_cont p_pos Z: Z multiplies. Theorem 1's Z, "
      "which "
      "divides, is <p_cont, p_pos>.";
  claim.derivation =
      "bam/z_sum: the divisor is unique and equals <p_cont, p_pos>. It equals its own reciprocal "
      "only at 1, which two keys or more never reach (bam/z_overlap_range). Two keys with f = g = "
      "0: "
      "p_joint = 1/2, while p_cont p_pos / 2 = 1/8.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement, "p_joint - p_cont p_pos / Z = 0, Z = 1/overlap",
                             JointFromReciprocalOverlap<-1>{}, score_pairs(true)),
                     for_all(Role::correction, "p_joint - p_cont p_pos Z = 0, Z = 1/overlap",
                             JointFromReciprocalOverlap<+1>{}, score_pairs(true))});
  };
  claim.mutant = "p_joint = p_cont p_pos Z^2 with Z = 1/<p_cont, p_pos>.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "p_joint - p_cont p_pos Z^2 = 0, Z = 1/overlap",
                   JointFromReciprocalOverlap<+2>{}, score_pairs(true));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
