// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// Z - exp(factor I) with Theorem 1's Z: +1 as printed, -1 corrected, -2 the mutant.
template <int factor>
struct ZIsExpOfInformation {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.overlap() - reference::exp(R(static_cast<double>(factor)) * n.information())};
  }
};

}  // namespace

Claim z_exp_information() {
  Claim claim;
  claim.id = "bam/z_exp_information";
  claim.title = "Z is the exponential of I";
  claim.source = source("Appendix K.3, Z = exp(I(cont; pos)), against Theorem 1");
  claim.statement =
      "The Z of Theorem 1, sum_j p_cont(j) p_pos(j), equals exp(I), "
      "I = sum_j p_joint(j) ln[p_joint(j) / (p_cont(j) p_pos(j))].";
  claim.hypotheses = {"One letter Z names one quantity throughout the paper."};
  claim.implicit = shared_hypotheses();
  claim.correction =
      "Z = exp(-I) for the Z of Theorem 1. exp(I) is the first expression of K.1, "
      "Z_cont Z_pos / Z_joint (bam/z_information_identity), which is 1/Z.";
  claim.derivation =
      "I = ln(Z_cont Z_pos / Z_joint) = -ln Z by bam/z_information_identity and bam/z_sum. Two "
      "keys "
      "with f = g = 0: Z = 1/2, I = ln 2, exp(I) = 2.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "sum p_cont p_pos - exp(I) = 0, I = ln(Z_cont Z_pos / Z_joint)",
                 ZIsExpOfInformation<+1>{}, score_pairs(true)),
         for_all(Role::correction, "sum p_cont p_pos - exp(-I) = 0", ZIsExpOfInformation<-1>{},
                 score_pairs(true))});
  };
  claim.pictures = {pictures::z_random_pairs};
  claim.mutant = "Z = exp(-2 I).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "sum p_cont p_pos - exp(-2 I) = 0", ZIsExpOfInformation<-2>{},
                   score_pairs(true));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
