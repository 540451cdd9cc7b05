// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The score pairs with two keys or more, the positional score replaced by a constant.
std::vector<Sample> constant_position() {
  std::vector<Sample> samples;
  for (const Sample& pair : score_pairs(false)) {
    const std::vector<double>& f = pair.quantities.front().lower;
    samples.push_back(scores(f, std::vector<double>(f.size(), -0.5)));
  }
  return samples;
}

/// Z - 1 with Z = exp(I) = Z_cont Z_pos / Z_joint.
struct ZIsOne {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::exp(Normalisers<R>(in).log_ratio()) - R(1.0)};
  }
};

/// Z / n - 1 (the correction), or Z / (n - 1) - 1 (the mutant: the own key not counted).
template <int uncounted>
struct ZIsTheNumberOfKeys {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {reference::exp(n.log_ratio()) / R(static_cast<double>(n.keys() - uncounted)) - R(1.0)};
  }
};

/// I itself, which is never 0 with two keys or more.
struct InformationIsPositive {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {Normalisers<R>(in).log_ratio()};
  }
};

}  // namespace

Claim z_one_iff_independent() {
  Claim claim;
  claim.id = "bam/z_one_iff_independent";
  claim.title = "Z = 1 if and only if content and position are independent";
  claim.source = source("Appendix K.3, first bullet");
  claim.statement =
      "Z = exp(I) = Z_cont Z_pos / Z_joint is 1 if and only if content and position are "
      "statistically independent. Checked through a consequence: if the positional score is the "
      "same "
      "for every key, position cannot depend on content, so Z = 1.";
  claim.hypotheses = {"Z = exp(I), the reading of K.3."};
  claim.implicit = shared_hypotheses();
  claim.implicit.push_back(
      "There are at least two keys. (With one key everything is constant and Z = 1.)");
  claim.implicit.push_back(
      "\"Independent\" is not defined for p_joint, a law of the single index j "
      "(bam/z_mutual_information). A constant is independent of everything under every "
      "definition.");
  claim.correction =
      "A constant positional score over n keys gives Z = n. With two keys or more and finite "
      "scores "
      "I > 0 always, so Z = exp(I) is never 1 and I = 0 never happens; Z -> 1 only in the limit "
      "where "
      "content and position both concentrate on the same key.";
  claim.derivation =
      "g_j = c gives Z_pos = n e^c and Z_joint = e^c Z_cont, so Z_cont Z_pos / Z_joint = n, "
      "whatever f "
      "is. In general Z = 1/<p_cont, p_pos> (bam/z_sum) and <p_cont, p_pos> < 1 with two keys or "
      "more "
      "(bam/z_overlap_range). \"Z = 1 iff I = 0\" is true and empty: neither side occurs. With "
      "Theorem 1's Z in place of exp(I) the constant score gives 1/n instead of n; also not 1.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "Z - 1 = 0 where g is constant, Z = Z_cont Z_pos / Z_joint",
                 ZIsOne{}, constant_position()),
         for_all(Role::correction, "Z / n - 1 = 0 where g is constant", ZIsTheNumberOfKeys<0>{},
                 constant_position()),
         for_all(Role::correction, "I > 0 with 2 keys or more", InformationIsPositive{},
                 score_pairs(false))});
  };
  claim.mutant = "A constant positional score over n keys gives Z = n - 1.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "Z / (n - 1) - 1 = 0 where g is constant",
                   ZIsTheNumberOfKeys<1>{}, constant_position());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
