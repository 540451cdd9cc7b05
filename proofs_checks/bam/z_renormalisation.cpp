// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// sum_j p_cont(j) p_pos(j) Z - 1 with Z = <p_cont, p_pos>.
struct TimesOverlapIsOne {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.overlap() * n.overlap() - R(1.0)};
  }
};

/// sum_j [p_cont(j) p_pos(j) / Z] - 1 with the same Z, term by term.
struct OverOverlapIsOne {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    R sum(0.0);
    for (int j = 0; j < n.keys(); ++j) sum += n.p_cont(j) * n.p_pos(j) / n.overlap();
    return {sum - R(1.0)};
  }
};

/// The mutant: the cosine's normaliser ||p_cont|| ||p_pos|| in place of Z.
struct OverNormsIsOne {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.overlap() / reference::sqrt(n.content_square() * n.position_square()) - R(1.0)};
  }
};

}  // namespace

Claim z_renormalisation() {
  Claim claim;
  claim.id = "bam/z_renormalisation";
  claim.title = "The re-normalization identity";
  claim.source = source("Appendix K.2, third bullet");
  claim.statement = "With Z = sum_j p_cont(j) p_pos(j), sum_j [p_cont(j) p_pos(j)] Z = 1.";
  claim.hypotheses = {"p_cont and p_pos are softmax vectors over the same keys."};
  claim.implicit = shared_hypotheses();
  claim.correction = "With that Z, sum_j [p_cont(j) p_pos(j)] / Z = 1.";
  claim.derivation =
      "The left side is Z Z = Z^2, and Z lies in (0, 1) with two keys or more "
      "(bam/z_overlap_range), so Z^2 < 1; only a single key gives 1. Two keys with f = g = 0: "
      "Z = 1/2, Z^2 = 1/4. \"Inverting that sum\" in the text asks for the factor 1/Z, which gives "
      "Z / Z = 1.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement, "sum p_cont p_pos Z - 1 = 0", TimesOverlapIsOne{},
                             score_pairs(true)),
                     for_all(Role::correction, "sum p_cont p_pos / Z - 1 = 0", OverOverlapIsOne{},
                             score_pairs(true))});
  };
  claim.mutant = "sum_j p_cont(j) p_pos(j) / (||p_cont|| ||p_pos||) = 1.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "sum p_cont p_pos / (||p_cont|| ||p_pos||) - 1 = 0",
                   OverNormsIsOne{}, score_pairs(true));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
