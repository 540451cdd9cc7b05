// SPDX-License-Identifier: Apache-2.0
// One claim on the page.
#include <fmt/format.h>

#include <utility>

#include "proofs_checks/notes.hpp"
#include "proofs_checks/page/parts.hpp"
#include "proofs_checks/pictures/picture.hpp"
#include "support/markup.hpp"
#include "support/pictures/svg.hpp"

namespace plumbline::proofs_checks {
namespace {

std::string paragraph(const char* heading, const std::string& html) {
  return html.empty() ? "" : fmt::format("<h4>{}</h4>\n<p>{}</p>\n", heading, html);
}

const Check* refuting(const std::vector<Check>& checks, bool statement_only) {
  for (const Check& check : checks) {
    const bool role = !statement_only || check.role == Role::statement;
    if (role && check.rigorous && check.counterexample) return &check;
  }
  return nullptr;
}

/// The residual and the relation as text: numbers that a person may copy, and lines that may end.
std::string found(const std::string& text) {
  std::string html = escaped_markup(text);
  for (const auto& [plain, printed] : {std::pair{"&gt;=", "≥"}, std::pair{"&lt;=", "≤"}}) {
    for (std::size_t at; (at = html.find(plain)) != std::string::npos;)
      html.replace(at, 5, printed);
  }
  return html;
}

std::string counterexample(const Check& check, const Texts& texts) {
  return fmt::format(
      "<p class=\"what\">{}</p>\n{}<p>At these numbers {}. <small>({})</small></p>\n",
      texts(check.what), numbers_table(check.counterexample->sample, texts),
      found(check.counterexample->found), escaped_markup(check.reading));
}

std::string_view need_in_words(Need need) {
  return need == Need::not_needed ? "not needed" : name(need);
}

std::string hypothesis(const HypothesisResult& result, const Texts& texts) {
  const Hypothesis& hypothesis = result.hypothesis;
  std::string out = fmt::format("<li>{} <span class=\"role\">{}</span>", texts(hypothesis.text),
                                name(result.origin));
  if (hypothesis.need != Need::unexamined) {
    out += fmt::format(" <span class=\"need\">{}</span>", need_in_words(hypothesis.need));
    if (!hypothesis.why.empty()) out += "<div class=\"why\">" + texts(hypothesis.why) + "</div>";
    if (const Check* check = refuting(result.checks, false)) {
      out += "<details><summary>Numbers at which it fails</summary>\n" +
             counterexample(*check, texts) + "</details>";
    }
  }
  return out + "</li>\n";
}

std::string hypotheses(const ClaimResult& result, const Texts& texts) {
  std::string out;
  for (const HypothesisResult& one : result.hypotheses) out += hypothesis(one, texts);
  return out.empty() ? "" : "<h4>Hypotheses</h4>\n<ul class=\"hypotheses\">\n" + out + "</ul>\n";
}

std::string pictures(const Claim& claim, const Texts& texts,
                     std::map<std::string, std::string>& drawn) {
  std::string out;
  for (const auto draw : claim.pictures) {
    const Picture picture = draw();
    const auto [place, first] = drawn.emplace(picture.name, claim.id);
    if (!first) {
      out += fmt::format("<p>Picture: <a href=\"#picture-{}\">{}</a>.</p>\n", picture.name,
                         texts(picture.title));
      continue;
    }
    out += fmt::format(
        "<figure id=\"picture-{}\"{}>{}<figcaption><strong>{}.</strong> {}</figcaption></figure>\n",
        picture.name, picture.maps.empty() ? "" : " class=\"maps\"", svg(picture),
        texts(picture.title), texts(picture.description));
  }
  return out;
}

std::string verdict_box(const ClaimResult& result, const Texts& texts) {
  const Claim& claim = result.claim;
  std::string out;
  if (!result.as_derived()) {
    out += fmt::format(
        "<p><strong>Not as derived:</strong> the derivation gives {}, or a check of "
        "the correction or of a hypothesis is against it.</p>\n",
        in_words(claim.proof.derived));
  }
  if (!claim.condition.empty()) out += paragraph("Condition", texts(claim.condition));
  if (const Check* check = refuting(result.checks, true)) {
    out += "<h4>Counterexample to the statement as printed</h4>\n" + counterexample(*check, texts);
  }
  if (!claim.correction.empty()) {
    out += paragraph(result.verdict == Verdict::refuted ? "True instead" : "True beside it",
                     texts(claim.correction));
  }
  if (out.empty()) return "";
  return fmt::format("<div class=\"box {}\">\n{}</div>\n", name(result.verdict), out);
}

std::string note(const Claim& claim) {
  const Note* note = note_of(claim.id);
  if (note == nullptr) return "";
  return fmt::format("<p class=\"note\">The proof in full: {}, <code>docs/proofs/{}</code>.</p>\n",
                     escaped_markup(note->title), escaped_markup(note->file));
}

}  // namespace

std::string article(const ClaimResult& result, const Texts& texts,
                    std::map<std::string, std::string>& drawn) {
  const Claim& claim = result.claim;
  std::string out = fmt::format(
      "<article id=\"{0}\" class=\"claim {1} {2}\">\n<h3><a href=\"#{0}\">{3}</a></h3>\n"
      "<p class=\"meta\"><span class=\"badge {1}\">{4}</span> <code>{0}</code> {5}; {6}</p>\n",
      escaped_markup(claim.id), name(result.verdict), escaped_markup(paper_of(claim.id)),
      texts(claim.title), in_words(result.verdict), texts(claim.source.place),
      texts(claim.source.version));
  out += fmt::format("<p class=\"statement\">{}</p>\n", texts(claim.statement));
  out += verdict_box(result, texts);
  out += pictures(claim, texts, drawn);
  out += hypotheses(result, texts);
  out += paragraph("Derivation", texts(claim.proof.derivation));
  out += note(claim);
  if (!result.checks.empty()) {
    out += fmt::format("<details><summary>Checks ({})</summary>\n{}</details>\n",
                       result.checks.size(), checks_table(result.checks, texts));
  }
  if (!claim.mutant.statement.empty()) {
    out += fmt::format("<p class=\"note\">Mutant, which the same checks must refute: {}</p>\n",
                       texts(claim.mutant.statement));
  }
  return out + "</article>\n";
}

}  // namespace plumbline::proofs_checks
