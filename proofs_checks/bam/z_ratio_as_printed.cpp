// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// exp(sign ln(Z_cont Z_pos / Z_joint)) - sum_j p_cont(j) p_pos(j): sign +1 as printed, -1
/// corrected.
template <int sign>
struct RatioIsOverlap {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {reference::exp(R(static_cast<double>(sign)) * n.log_ratio()) - n.overlap()};
  }
};

/// The mutant of the correction: Z_joint / Z_cont.
struct HalfRatioIsOverlap {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {reference::exp(n.joint.lse - n.content.lse) - n.overlap()};
  }
};

}  // namespace

Claim z_ratio_as_printed() {
  Claim claim;
  claim.id = "bam/z_ratio_as_printed";
  claim.title = "The factorization normalizer of K.1, printed as two expressions";
  claim.source = source("Appendix K.1, displayed formula of the factorization normalizer");
  claim.statement = "Z = Z_cont Z_pos / Z_joint = sum_j softmax(f)_j softmax(g)_j.";
  claim.hypotheses = {
      "Z_cont = sum_j exp(f_j), Z_pos = sum_j exp(g_j), "
      "Z_joint = sum_j exp(f_j + g_j)."};
  claim.implicit = shared_hypotheses();
  claim.correction = "Z_joint / (Z_cont Z_pos) = sum_j softmax(f)_j softmax(g)_j.";
  claim.derivation =
      "By bam/z_sum the sum is Z_joint / (Z_cont Z_pos): the two printed expressions are each "
      "other's reciprocal. They agree only where both are 1, which takes a sum of products of 1; "
      "with "
      "two or more keys and finite scores the sum is below 1. Two keys with f = g = 0: "
      "Z_cont = Z_pos = Z_joint = 2, so the left side is 2 and the right side 1/2.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement, "Z_cont Z_pos / Z_joint - sum p_cont p_pos = 0",
                             RatioIsOverlap<+1>{}, score_pairs(false)),
                     for_all(Role::correction, "Z_joint / (Z_cont Z_pos) - sum p_cont p_pos = 0",
                             RatioIsOverlap<-1>{}, score_pairs(true))});
  };
  claim.pictures = {pictures::z_random_pairs};
  claim.mutant = "Z_joint / Z_cont = sum_j softmax(f)_j softmax(g)_j.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "Z_joint / Z_cont - sum p_cont p_pos = 0", HalfRatioIsOverlap{},
                   score_pairs(true));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
