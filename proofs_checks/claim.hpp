// SPDX-License-Identifier: Apache-2.0
// A claim of a paper: what it says, under which hypotheses, how it is checked, and what follows.
#pragma once

#include <string>
#include <vector>

#include "proofs_checks/check.hpp"
#include "proofs_checks/hypothesis.hpp"

namespace plumbline::proofs_checks {

struct Picture;  // picture.hpp

/// Where the claim stands.
struct Source {
  std::string paper, version, place;
};

/// The derivation of the verdict, on paper.
struct Proof {
  std::string derivation = {};
  Verdict derived = Verdict::undecided;  ///< what the derivation proves; the checks must agree
};

/// A deliberately false neighbour, which the claim's own checks must refute.
struct Mutant {
  std::string statement = {};
  Checks checks = {};
};

struct Claim {
  std::string id = {};  ///< paper/name, e.g. "bam/theorem_1"
  std::string title = {};
  Source source = {};
  std::string statement = {};               ///< own wording plus the formula as printed
  std::vector<Hypothesis> hypotheses = {};  ///< what the paper states
  /// What it takes for granted and does not state: what its words mean, and hypotheses. If one of
  /// these is needed, the claim holds under a condition.
  std::vector<Hypothesis> implicit = {};
  /// Under which the statement holds that is refuted as printed; may be empty. It says something of
  /// the setting that the sentence could have said, and takes away no case that the sentence names
  /// or counts.
  std::string condition = {};
  std::vector<Hypothesis> conditions = {};  ///< the condition's parts, if it has more than one
  std::string correction = {};  ///< a true statement close to the refuted one; may be empty
  std::vector<Hypothesis> correction_hypotheses = {};  ///< what the correction needs
  Proof proof = {};
  /// The theorem of proofs_checks/coq/ that proves what the verdict says, with the statement's
  /// hypotheses and the condition and no other: "posterior.theorem_1" is theorem_1 of posterior.v.
  /// Empty if none does. Tests check that Coq accepts it.
  std::string theorem = {};
  Checks checks = {};
  Mutant mutant = {};
  std::vector<Picture (*)()> pictures = {};  ///< what can be drawn of it: proofs_checks/pictures/
};

/// In the order of the reports. CMakeLists.txt lists the files of claims, and writes this.
std::vector<Claim> all_claims();

/// The verdict that the checks support, and nothing else:
///  - a claim without checks is not_mathematical if its derivation says so, otherwise undecided;
///  - a check on no samples decides nothing;
///  - only a rigorous check refutes; then the claim holds_under_condition if every condition check
///    is supported, in double and by intervals at two precisions, otherwise it is refuted;
///  - if every statement check is supported, in double and by intervals at two precisions, it holds
///    where it follows from what the paper states, and holds_under_condition where a hypothesis
///    that the paper does not state is needed.
Verdict verdict_of(const Claim&, const std::vector<Check>&);

/// Under what the statement holds, of a claim that holds under a condition: the claim's condition,
/// and each needed hypothesis that the paper does not state. Empty for any other claim.
std::string condition_of(const Claim&, Verdict);

/// Each hypothesis of the claim dropped alone, in the order: stated, implicit, the condition (its
/// parts where it has several), those of the correction. `checks` are the claim's own.
///
/// What the others support is the statement of a claim that holds, the statement under the
/// condition of one that holds under it, and the correction of a refuted one. Its checks together
/// with those of the hypothesis give the verdict without the hypothesis. A condition in one part
/// is dropped by the printed statement's own counterexample.
std::vector<HypothesisResult> drop_each(const Claim&, const std::vector<Check>& checks);

}  // namespace plumbline::proofs_checks
