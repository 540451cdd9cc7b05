// SPDX-License-Identifier: Apache-2.0
// Running claims, and writing what came out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "proofs_checks/claim.hpp"
#include "support/error.hpp"

namespace plumbline::proofs_checks {

/// A file in docs/proofs/ with the proof that checks exercise.
struct Note {
  std::string file, title;
  std::vector<std::string> claims;  ///< ids
};
/// All notes, in the order of docs/proofs/README.md.
const std::vector<Note>& notes();
/// The note that treats the claim; nullptr if none does.
const Note* note_of(const std::string& claim);

struct ClaimResult {
  Claim claim;
  std::vector<Check> checks;
  Verdict verdict = Verdict::undecided;
  std::vector<HypothesisResult> hypotheses;  ///< each dropped alone
  double seconds = 0.0;

  /// The computed verdict is the one that the derivation proves, the correction is supported, and
  /// what becomes of the claim without each of its hypotheses is what is said of it.
  bool as_derived() const;
  /// Under what the statement holds; empty but for a claim that holds under a condition.
  std::string condition() const { return condition_of(claim, verdict); }
  /// Why the statement does not hold as the paper states it: the check that refutes it as printed,
  /// or without a hypothesis that the paper does not state. nullptr if none does.
  const Check* counterexample() const;
  /// The title, which is the paper's statement in short, or "Not: " and it where that is refuted.
  std::string title() const;
};

struct ClaimsReport {
  std::vector<ClaimResult> results;
  /// Every claim is as derived. The exit status of `plumbline claims` is verdict_against otherwise;
  /// a refuted claim alone is a result, not a failure.
  bool as_derived() const;
  /// How many claims name a theorem that Coq has checked.
  std::size_t machine_checked() const;
};

/// This is the name of a claim, or of a paper that has claims.
bool names_claims(const std::string& id);

/// For an id that selects nothing.
BadInput no_such_claim(const std::string& id);

/// Runs the claims whose id is in `ids`, or starts with one of them followed by "/" ("bam"); all of
/// them if there are no ids. Deterministic. @throws BadInput for an id that selects nothing.
ClaimsReport run_claims(const std::vector<std::string>& ids = {});

/// Verdict and counts per claim; the counterexample and the correction of what is refuted; the
/// witness against each hypothesis.
void write_text(const ClaimsReport&, std::ostream&);

/// Everything: sources, statements, checks with all numbers. Times are left out: same bytes each
/// run.
nlohmann::json to_json(const ClaimsReport&);

/// A test case per claim; a claim that is not as derived is a failure.
void write_junit(const ClaimsReport&, std::ostream&);

/// docs/claims.md. Figures that depend on the C library are left out.
void write_markdown(const ClaimsReport&, std::ostream&);

}  // namespace plumbline::proofs_checks
