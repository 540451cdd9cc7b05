// SPDX-License-Identifier: Apache-2.0
// docs/claims.md, from the same source as the checks.
#include <fmt/format.h>

#include "proofs_checks/report.hpp"

namespace plumbline::proofs_checks {
namespace {

void write_paragraph(std::ostream& out, const std::string& heading, const std::string& text) {
  if (!text.empty()) out << "**" << heading << "** " << text << "\n\n";
}

void write_checks(std::ostream& out, const ClaimResult& result) {
  if (result.checks.empty()) return;
  out << "| role | what is examined | reading | samples | outcome |\n|---|---|---|---|---|\n";
  for (const Check& check : result.checks) {
    std::string what;
    for (char c : check.what) what += c == '|' ? std::string("\\|") : std::string(1, c);
    out << fmt::format("| {} | {} | {} | {} | {} |\n", name(check.role), what, check.reading,
                       check.samples, name(check.outcome));
  }
  out << "\n";
}

void write_hypothesis(std::ostream& out, const HypothesisResult& result) {
  const Hypothesis& hypothesis = result.hypothesis;
  out << "- " << hypothesis.text << " (" << name(result.origin) << ")";
  if (hypothesis.need == Need::unexamined) {
    out << "\n";
    return;
  }
  const std::string need =
      hypothesis.need == Need::not_needed ? "not needed" : std::string(name(hypothesis.need));
  out << " **" << need << ".** " << hypothesis.why;
  if (hypothesis.checks.empty() && hypothesis.need == Need::needed) {
    out << " The witness is the counterexample below.";
  } else if (const Check* check = refuting(result.checks)) {
    out << " " << in_words(*check->counterexample) << ".";
  } else if (!result.checks.empty()) {
    out << " " << result.checks.front().what << ": supported at " << result.checks.front().samples
        << " samples.";
  }
  out << "\n";
}

const char* const preface =
    R"(# Claims of the papers

Written by `plumbline claims --markdown`; a test compares this page with what the program finds.

A claim is examined under `double`, with a bound on its own rounding errors, and under interval
arithmetic at two precisions. The verdict is computed from the checks and must agree with the
derivation on paper; `plumbline claims` fails where it does not.

- **holds**: it follows from the hypotheses that the paper states. The derivation proves it, and no check
  contradicts it. A finite sample alone proves nothing; what it does is to contradict a wrong derivation.
- **holds_under_condition**: refuted as it stands, or where a hypothesis fails that the paper does not state;
  the derivation proves it under the condition. A condition says something of the setting (model, data, length,
  what a word means) that the sentence could have said; it takes away no case that the sentence names or counts.
- **refuted**: an interval that encloses the exact value excludes the claim, at the numbers shown.
- **undecided**: the checks settle it neither way.
- **not_mathematical**: nothing in it can be checked.

Each claim has a mutant, a false neighbour that the same checks refute in the tests.

Each hypothesis of what is true (of a claim that holds, or of the correction of a refuted theorem)
is dropped alone, while the others hold:

- **needed**: at the numbers shown it fails, and so does the statement.
- **not needed**: the statement was found true where it fails as well; the reason says why.
- **definition**: without it the statement means nothing.

A claim that names a theorem is **machine-checked**: Coq has checked its proof, for all sizes and contents
([coq.md](coq.md)).

The proofs of the theorems and lemmas are in [proofs/](proofs/README.md).

`plumbline claims --coverage` prints what each passage of the papers says, and the claims that examine it or why
none does. The index is data, proofs_checks/coverage; a test compares it with the papers' texts where
`PLUMBLINE_PAPERS` names a folder that has them.

)";

}  // namespace

void write_markdown(const ClaimsReport& report, std::ostream& out) {
  out << preface << "| claim | verdict | what it says |\n|---|---|---|\n";
  for (const ClaimResult& result : report.results) {
    out << fmt::format("| `{}` | {} | {} |\n", result.claim.id, name(result.verdict),
                       result.title());
  }
  for (const ClaimResult& result : report.results) {
    const Claim& claim = result.claim;
    out << "\n## " << claim.id << "\n\n"
        << result.title() << ": **" << name(result.verdict) << "**\n\n";
    write_paragraph(
        out, "Source.",
        claim.source.paper + "; " + claim.source.version + "; " + claim.source.place + ".");
    write_paragraph(out, "Statement.", claim.statement);
    if (!result.hypotheses.empty()) out << "**Hypotheses, each dropped alone.**\n\n";
    for (const HypothesisResult& one : result.hypotheses) write_hypothesis(out, one);
    if (!result.hypotheses.empty()) out << "\n";
    write_paragraph(out, "Condition.", result.condition());
    if (const Check* check = result.counterexample()) {
      write_paragraph(out, "Counterexample.",
                      fmt::format("{} ({}).", in_words(*check->counterexample), check->reading));
    }
    write_paragraph(out, "True beside it.", claim.correction);
    write_paragraph(out, "Derivation.", claim.proof.derivation);
    if (!claim.theorem.empty()) {
      write_paragraph(out, "Machine-checked.", "`" + claim.theorem + "` in proofs_checks/coq/.");
    }
    if (const Note* note = note_of(claim.id)) {
      write_paragraph(out, "Proof.", fmt::format("[{}](proofs/{}).", note->title, note->file));
    }
    write_checks(out, result);
    if (!claim.mutant.statement.empty()) out << "**Mutant.** " << claim.mutant.statement << "\n";
  }
}

}  // namespace plumbline::proofs_checks
