// SPDX-License-Identifier: Apache-2.0
// One claim on the page.
#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>

#include "proofs_checks/page/parts.hpp"
#include "proofs_checks/pictures/picture.hpp"
#include "support/markup.hpp"
#include "support/pages/page.hpp"
#include "support/pictures/svg.hpp"

namespace plumbline::proofs_checks {
namespace {

using pages::paragraph;

std::string under(const char* heading, const std::string& markup) {
  return markup.empty() ? "" : fmt::format("<h4>{}</h4>\n{}", heading, paragraph(markup));
}

/// The residual and the relation as text: numbers that a person may copy, and lines that may end.
std::string found(const std::string& text) {
  return boost::replace_all_copy(boost::replace_all_copy(escaped_markup(text), "&gt;=", "≥"),
                                 "&lt;=", "≤");
}

std::string counterexample(const Check& check, const Texts& texts) {
  std::string numbers;
  for (const Quantity& quantity : check.counterexample->sample.quantities) {
    numbers += pages::row({texts(quantity.name), to_string(quantity)});
  }
  return paragraph(texts(check.what)) + pages::table("quantities", {}, numbers) +
         paragraph(fmt::format("At these numbers {}. <small>({})</small>",
                               found(check.counterexample->found), escaped_markup(check.reading)));
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
    if (const Check* check = refuting(result.checks)) {
      out += pages::details("Numbers at which it fails", counterexample(*check, texts));
    }
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
  out += under("Condition", texts(claim.condition));
  if (const Check* check = refuting(result.checks, Role::statement)) {
    out += "<h4>Counterexample to the statement as printed</h4>\n" + counterexample(*check, texts);
  }
  out += under(result.verdict == Verdict::refuted ? "True instead" : "True beside it",
               texts(claim.correction));
  if (out.empty()) return "";
  return fmt::format("<div class=\"box {}\">\n{}</div>\n", name(result.verdict), out);
}

}  // namespace

std::string article(const ClaimResult& result, const Texts& texts, std::set<std::string>& drawn) {
  const Claim& claim = result.claim;
  std::string out =
      fmt::format("<article id=\"{}\" class=\"claim {} {}\">\n<h3>{}</h3>\n",
                  escaped_markup(claim.id), name(result.verdict),
                  escaped_markup(paper_of(claim.id)), pages::link(claim.id, texts(claim.title)));
  out += paragraph(
      fmt::format("{} {}{} {}; {}", pages::badge(name(result.verdict), in_words(result.verdict)),
                  claim.theorem.empty() ? "" : pages::span("role", "machine-checked") + " ",
                  pages::code(claim.id), texts(claim.source.place), texts(claim.source.version)),
      "meta");
  out += paragraph(texts(claim.statement), "statement");
  out += verdict_box(result, texts);
  out += pictures(claim, texts, drawn);
  std::string hypotheses;
  for (const HypothesisResult& one : result.hypotheses) hypotheses += hypothesis(one, texts);
  if (!hypotheses.empty()) {
    out += "<h4>Hypotheses</h4>\n<ul class=\"hypotheses\">\n" + hypotheses + "</ul>\n";
  }
  out += under("Derivation", texts(claim.proof.derivation));
  if (!claim.theorem.empty()) {
    out += paragraph(fmt::format("Machine-checked: Coq has checked a proof, {} in {}.",
                                 pages::code(claim.theorem), pages::code("proofs_checks/coq")),
                     "note");
  }
  if (const Note* note = note_of(claim.id)) {
    out += paragraph(fmt::format("The proof in full: {}, {}.", escaped_markup(note->title),
                                 pages::code("docs/proofs/" + note->file)),
                     "note");
  }
  if (!result.checks.empty()) {
    out += pages::details(fmt::format("Checks ({})", result.checks.size()),
                          checks_table(result.checks, texts));
  }
  if (!claim.mutant.statement.empty()) {
    out += paragraph("Mutant, which the same checks must refute: " + texts(claim.mutant.statement),
                     "note");
  }
  return out + "</article>\n";
}

}  // namespace plumbline::proofs_checks
