// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// F = -ln Z from sums of plain exponentials.
template <class R>
R free_energy(const reference::Vector<R>& scores) {
  R total(0.0);
  for (const R& score : scores) total += reference::exp(score);
  return -reference::log(total);
}

/// F_joint - F_cont - F_pos less ln(Z_cont Z_pos / Z_joint); for the mutant the sign turned.
template <bool mutant>
struct InteractionIsLogRatio {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R interaction = free_energy(reference::Vector<R>(in["f"] + in["g"])) -
                          free_energy(in["f"]) - free_energy(in["g"]);
    const R log_ratio = Normalisers<R>(in).log_ratio();
    return {interaction - (mutant ? -log_ratio : log_ratio)};
  }
};

struct InteractionAtTemperature {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R interaction = free_energy(reference::Vector<R>(in["f"] + in["g"])) -
                          free_energy(in["f"]) - free_energy(in["g"]);
    return {in.number("T") * interaction - Normalisers<R>(in).log_ratio()};
  }
};

}  // namespace

Claim z_free_energy() {
  Claim claim;
  claim.id = "bam/z_free_energy";
  claim.title = "ln Z is the interaction free energy of content and position";
  claim.source = source("Appendix K.1, \"Its log\"");
  claim.statement =
      "ln Z = ln Z_cont + ln Z_pos - ln Z_joint is the interaction free energy between the content "
      "and position potentials: F_joint - F_cont - F_pos with F = -ln Z.";
  claim.correction =
      "This Z is the reciprocal of Theorem 1's (bam/z_ratio_as_printed), whose logarithm has the "
      "other sign. It is no measure of coupling: a constant positional score over n keys has the "
      "interaction ln n.";
  claim.derivation = "Insert F = -ln Z.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "F_joint - F_cont - F_pos - ln(Z_cont Z_pos / Z_joint) = 0",
                   InteractionIsLogRatio<false>{}, score_pairs(true));
  };
  claim.mutant = "The interaction free energy is -ln Z.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "F_joint - F_cont - F_pos + ln(Z_cont Z_pos / Z_joint) = 0",
                   InteractionIsLogRatio<true>{}, score_pairs(true));
  };
  claim.implicit = shared_hypotheses();

  claim.hypotheses = {
      definition("F_joint = -ln Z_joint; F_cont and F_pos likewise.", "It says what F is."),
      needed("Z = Z_cont Z_pos / Z_joint, the first of the two expressions of K.1.",
             "The second is its reciprocal, whose logarithm has the other sign.",
             claim.mutant_checks)};
  claim.implicit.push_back(
      needed("The temperature is 1.", "F = -T ln Z has the factor T.", [] {
        return for_all(Role::statement,
                       "T (F_joint - F_cont - F_pos) - ln(Z_cont Z_pos / Z_joint) = 0",
                       InteractionAtTemperature{}, {scores({1, 0}, {2, 0}).with("T", {2})});
      }).where("T", exactly(1)));
  claim.implicit.push_back(
      definition("The interaction is joint less separate.", "It says what the word means."));
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
