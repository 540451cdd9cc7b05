// SPDX-License-Identifier: Apache-2.0
// The page's beginning: counts, what is wrong and why, controls.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "proofs_checks/page/parts.hpp"
#include "support/markup.hpp"
#include "support/pages/page.hpp"

namespace plumbline::proofs_checks {
namespace {

std::vector<std::string> papers_of(const ClaimsReport& report) {
  std::vector<std::string> papers;
  for (const ClaimResult& result : report.results) {
    const std::string paper = paper_of(result.claim.id);
    if (std::find(papers.begin(), papers.end(), paper) == papers.end()) papers.push_back(paper);
  }
  return papers;
}

/// The claims of this paper, or of all (""), with this verdict, or with any.
std::string count(const ClaimsReport& report, const std::string& paper,
                  std::optional<Verdict> verdict) {
  return std::to_string(
      std::count_if(report.results.begin(), report.results.end(), [&](const ClaimResult& one) {
        return verdict.value_or(one.verdict) == one.verdict &&
               (paper.empty() || paper_of(one.claim.id) == paper);
      }));
}

/// A row for each verdict, a column for each paper: narrow enough for a telephone.
std::string counts(const ClaimsReport& report) {
  std::vector<std::string> papers = papers_of(report), head = {"verdict"};
  for (const std::string& paper : papers) {
    head.push_back(pages::link(paper, escaped_markup(paper_in_words(paper))));
  }
  head.push_back("all");
  papers.push_back("");
  const auto row = [&](const std::string& heading, std::optional<Verdict> verdict) {
    std::vector<std::string> cells = {heading};
    for (const std::string& paper : papers) cells.push_back(count(report, paper, verdict));
    return pages::row(cells, verdict ? "" : "total");
  };
  std::string rows;
  for (const auto& [verdict, words, heading] : verdicts) {
    rows += row(pages::span(name(verdict), words), verdict);
  }
  return pages::table("counts", head, rows + row("all", {}));
}

/// The claims with this verdict, each with what to know of it besides its title.
std::string list(const ClaimsReport& report, Verdict verdict, const Texts& texts) {
  std::string out = "<ul class=\"contents\">\n";
  for (const ClaimResult& result : report.results) {
    if (result.verdict != verdict) continue;
    const std::string& correction = result.claim.correction;
    std::string gist;
    if (verdict == Verdict::refuted && !correction.empty()) {
      gist = "True instead: " + texts(correction);
    }
    if (verdict == Verdict::holds_under_condition) gist = "Holds if: " + texts(result.condition());
    out += fmt::format("<li>{} {}{}</li>\n", titled_link(result, texts),
                       pages::span("paper", escaped_markup(result.claim.source.paper)),
                       gist.empty() ? "" : "<div class=\"gist\">" + gist + "</div>");
  }
  return out + "</ul>\n";
}

/// The criterion, which is one for all claims.
constexpr const char* meanings = R"(<ul>
<li><strong>holds</strong>: it follows from the hypotheses that the paper states. The derivation proves it, and no
check contradicts it.</li>
<li><strong>holds under a condition</strong>: it is false as it stands, or where a hypothesis fails that the paper does
not state; the derivation proves it under the condition. A condition says something of the setting (model, data,
length, what a word means) that the sentence could have said; it takes away no case that the sentence names.</li>
<li><strong>refuted</strong>: an interval that encloses the exact value excludes it, at the numbers shown.</li>
<li><strong>undecided</strong>: the checks settle it neither way.</li>
<li><strong>not mathematical</strong>: nothing in it can be checked.</li>
<li><strong>machine-checked</strong>: Coq has checked a proof, for all sizes and contents.</li>
</ul>
)";

std::string checkbox(std::string_view kind, std::string_view label) {
  return fmt::format(
      "<label><input type=\"checkbox\" id=\"show-{}\" checked=\"checked\"/> {}</label>\n", kind,
      label);
}

}  // namespace

std::string overview(const ClaimsReport& report, const Texts& texts) {
  std::string out = fmt::format(
      "<header>\n<h1>{}</h1>\n"
      "<p>{} claims, each examined in <code>double</code> with a bound on its rounding errors and "
      "by interval arithmetic at two precisions. A verdict is computed from the checks and must "
      "agree with the derivation on paper{}.</p>\n{}",
      page_title, report.results.size(),
      report.as_derived() ? "; all do" : ". <strong>Some do not</strong>", counts(report));
  out += pages::details("What the verdicts mean", meanings);
  out += R"(<fieldset class="theme"><legend>Colours</legend>
<label><input type="radio" name="theme" id="theme-auto" checked="checked"/> auto</label>
<label><input type="radio" name="theme" id="theme-light"/> light</label>
<label><input type="radio" name="theme" id="theme-dark"/> dark</label>
</fieldset>
</header>
)";
  for (const auto& [verdict, words, heading] : verdicts) {
    const std::string number = count(report, "", verdict);
    if (number == "0") continue;
    out +=
        pages::details(fmt::format("<h2>{} {}</h2>", heading, pages::badge(name(verdict), number)),
                       list(report, verdict, texts));
  }
  return out;
}

std::string controls(const ClaimsReport& report) {
  std::string out =
      "<form id=\"controls\" class=\"controls\">\n<fieldset><legend>Verdicts shown</legend>\n";
  for (const auto& [verdict, words, heading] : verdicts) {
    if (count(report, "", verdict) != "0") out += checkbox(name(verdict), words);
  }
  out += "</fieldset>\n<fieldset><legend>Papers shown</legend>\n";
  for (const std::string& paper : papers_of(report)) out += checkbox(paper, paper_in_words(paper));
  return out +
         "</fieldset>\n<p id=\"search-row\" hidden=\"hidden\"><label>Search <input type=\"search\" "
         "id=\"search\" placeholder=\"e.g. Theorem 4, or Table 8 cost\"/></label> "
         "<output id=\"found\"></output> "
         "<button type=\"button\" id=\"fold\">Fold all</button></p>\n</form>\n";
}

std::string rules(const ClaimsReport& report) {
  std::vector<std::string> kinds = papers_of(report);
  for (const auto& shown : verdicts) kinds.emplace_back(name(shown.verdict));
  std::string out;
  for (const std::string& kind : kinds) {
    out += fmt::format("body:has(#show-{0}:not(:checked)) .claim.{0}{{display:none}}\n", kind);
  }
  return out;
}

std::string side(const ClaimsReport& report, const Texts& texts) {
  std::string out = "<nav class=\"side\" aria-label=\"All claims\">\n";
  for (const std::string& paper : papers_of(report)) {
    out += pages::paragraph(pages::link(paper, escaped_markup(paper_in_words(paper)))) + "<ul>\n";
    for (const ClaimResult& result : report.results) {
      if (paper_of(result.claim.id) != paper) continue;
      out += fmt::format("<li class=\"{}\">{}</li>\n", name(result.verdict),
                         titled_link(result, texts));
    }
    out += "</ul>\n";
  }
  return out + "</nav>\n";
}

}  // namespace plumbline::proofs_checks
