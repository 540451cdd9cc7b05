// SPDX-License-Identifier: Apache-2.0
// One claim on the page.
#include <fmt/format.h>

#include "proofs_checks/page/parts.hpp"
#include "proofs_checks/pictures/picture.hpp"
#include "support/markup.hpp"
#include "support/pages/page.hpp"
#include "support/pictures/svg.hpp"

namespace plumbline::proofs_checks {
namespace {

using pages::paragraph;

std::string under(std::string_view heading, const std::string& markup) {
  return markup.empty() ? "" : paragraph(fmt::format("<strong>{}.</strong> {}", heading, markup));
}

std::string counterexample(const Check& check, const Texts& texts) {
  return fmt::format("{}. <small>({})</small>", texts(in_words(*check.counterexample)),
                     escaped_markup(check.reading));
}

/// A row for each statement, a column for each reading: they stand one after the other, the same of
/// every statement.
std::string checks_table(const std::vector<Check>& checks, const Texts& texts) {
  std::vector<std::string> headings = {"what is examined", "samples"}, cells;
  std::string rows;
  for (const Check& check : checks) {
    if (check.reading == checks.front().reading) {
      if (!cells.empty()) rows += pages::row(cells);
      cells = {pages::span("role", name(check.role)) + " " + texts(check.what),
               std::to_string(check.samples)};
    }
    if (rows.empty()) headings.push_back(escaped_markup(check.reading));
    cells.push_back(
        pages::span(name(check.outcome),
                    fmt::format("{} <small>{:.1e}</small>", name(check.outcome), check.worst)));
  }
  return pages::table("checks", headings, rows + pages::row(cells)) +
         paragraph("Below each outcome: the widest enclosure of a residual.", "note");
}

std::string hypothesis(const HypothesisResult& result, const Texts& texts) {
  const Hypothesis& hypothesis = result.hypothesis;
  std::string out =
      fmt::format("<li>{} {}", texts(hypothesis.text), pages::span("role", name(result.origin)));
  if (hypothesis.need != Need::unexamined) {
    out += " " + pages::span("need", hypothesis.need == Need::not_needed ? "not needed"
                                                                         : name(hypothesis.need));
    if (!hypothesis.why.empty()) out += "<div class=\"why\">" + texts(hypothesis.why) + "</div>";
    if (const Check* check = refuting(result.checks))
      out += paragraph(counterexample(*check, texts));
  }
  return out + "</li>\n";
}

std::string pictures(const Claim& claim, const Texts& texts, std::set<std::string>& drawn) {
  std::string out;
  for (const auto draw : claim.pictures) {
    const Picture picture = draw();
    const std::string id = "picture-" + picture.name, title = texts(picture.title);
    out += drawn.insert(id).second
               ? pages::figure(
                     svg(picture),
                     fmt::format("<strong>{}.</strong> {}", title, texts(picture.description)), id)
               : paragraph("Picture: " + pages::link(id, title) + ".");
  }
  return out;
}

std::string verdict_box(const ClaimResult& result, const Texts& texts) {
  const Claim& claim = result.claim;
  std::string out;
  if (!result.as_derived()) {
    out += paragraph(
        fmt::format("<strong>Not as derived:</strong> the derivation gives {}, or a check of "
                    "the correction or of a hypothesis is against it.",
                    in_words(claim.proof.derived)));
  }
  out += under("Condition", texts(result.condition()));
  if (const Check* check = result.counterexample()) {
    out += under(refuting(result.checks, Role::statement)
                     ? "Counterexample to the statement as printed"
                     : "Counterexample without the condition",
                 counterexample(*check, texts));
  }
  out += under(result.verdict == Verdict::refuted ? "True instead" : "True beside it",
               texts(claim.correction));
  if (out.empty()) return "";
  return fmt::format("<div class=\"box {}\">\n{}</div>\n", name(result.verdict), out);
}

}  // namespace

std::string article(const ClaimResult& result, const Texts& texts, std::set<std::string>& drawn) {
  const Claim& claim = result.claim;
  std::string out = fmt::format(
      "<article id=\"{}\" class=\"claim {} {}\">\n<details open=\"open\">\n"
      "<summary><h3>{}</h3> {}</summary>\n",
      escaped_markup(claim.id), name(result.verdict), escaped_markup(paper_of(claim.id)),
      titled_link(result, texts), pages::badge(name(result.verdict), in_words(result.verdict)));
  out += paragraph(
      fmt::format("{}{} {}; {}",
                  claim.theorem.empty() ? "" : pages::span("role", "machine-checked") + " ",
                  pages::code(claim.id), texts(claim.source.place), texts(claim.source.version)),
      "meta");
  out += paragraph(texts(claim.statement), "statement");
  out += verdict_box(result, texts);
  out += pictures(claim, texts, drawn);
  out += "<div class=\"folds\">\n";
  std::string hypotheses;
  for (const HypothesisResult& one : result.hypotheses) hypotheses += hypothesis(one, texts);
  if (!hypotheses.empty()) {
    out += pages::details(fmt::format("Hypotheses ({})", result.hypotheses.size()),
                          "<ul class=\"hypotheses\">\n" + hypotheses + "</ul>\n");
  }
  std::string derivation = paragraph(texts(claim.proof.derivation));
  if (!claim.theorem.empty()) {
    derivation +=
        paragraph(fmt::format("Machine-checked: Coq has checked a proof, {} in {}.",
                              pages::code(claim.theorem), pages::code("proofs_checks/coq")),
                  "note");
  }
  if (const Note* note = note_of(claim.id)) {
    derivation += paragraph(fmt::format("The proof in full: {}, {}.", escaped_markup(note->title),
                                        pages::code("docs/proofs/" + note->file)),
                            "note");
  }
  out += pages::details("Derivation", derivation);
  std::string checks = result.checks.empty() ? "" : checks_table(result.checks, texts);
  if (!claim.mutant.statement.empty()) {
    checks += paragraph(
        "Mutant, which the same checks must refute: " + texts(claim.mutant.statement), "note");
  }
  if (!checks.empty()) {
    out += pages::details(fmt::format("Checks ({})", result.checks.size()), checks);
  }
  return out + "</div>\n</details>\n</article>\n";
}

}  // namespace plumbline::proofs_checks
