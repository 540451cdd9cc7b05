// SPDX-License-Identifier: Apache-2.0
// The page's beginning: counts, what is wrong and why, controls.
#include <fmt/format.h>

#include <algorithm>

#include "proofs_checks/page/parts.hpp"
#include "support/markup.hpp"

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

/// All claims with this verdict, of one paper or of all ("").
long count(const ClaimsReport& report, const std::string& paper, Verdict verdict) {
  return std::count_if(report.results.begin(), report.results.end(), [&](const ClaimResult& one) {
    return one.verdict == verdict && (paper.empty() || paper_of(one.claim.id) == paper);
  });
}

/// A row for each verdict, a column for each paper: narrow enough for a telephone.
std::string counts(const ClaimsReport& report) {
  const std::vector<std::string> papers = papers_of(report);
  std::string out = "<table class=\"counts\"><thead><tr><th>verdict</th>";
  for (const std::string& paper : papers) {
    out += fmt::format("<th><a href=\"#{0}\">{0}</a></th>", escaped_markup(paper));
  }
  out += "<th>all</th></tr></thead><tbody>";
  for (const Verdict verdict : verdicts_in_order) {
    out += fmt::format("<tr><th class=\"{}\">{}</th>", name(verdict), in_words(verdict));
    for (const std::string& paper : papers) {
      out += fmt::format("<td>{}</td>", count(report, paper, verdict));
    }
    out += fmt::format("<td>{}</td></tr>", count(report, "", verdict));
  }
  out += "<tr class=\"total\"><th>all</th>";
  for (const std::string& paper : papers) {
    out += fmt::format("<td>{}</td>", std::count_if(report.results.begin(), report.results.end(),
                                                    [&](const ClaimResult& one) {
                                                      return paper_of(one.claim.id) == paper;
                                                    }));
  }
  return out + fmt::format("<td>{}</td></tr></tbody></table>\n", report.results.size());
}

/// What to know of a claim besides its title.
std::string gist(const Claim& claim, Verdict verdict, const Texts& texts) {
  if (verdict == Verdict::refuted && !claim.correction.empty()) {
    return "True instead: " + texts(claim.correction);
  }
  if (verdict == Verdict::holds_under_condition) return "Holds if: " + texts(claim.condition);
  return "";
}

std::string list(const ClaimsReport& report, Verdict verdict, const Texts& texts) {
  std::string out = "<ul class=\"contents\">\n";
  for (const ClaimResult& result : report.results) {
    if (result.verdict != verdict) continue;
    const std::string more = gist(result.claim, verdict, texts);
    out += fmt::format("<li><a href=\"#{}\">{}</a> <span class=\"paper\">{}</span>{}</li>\n",
                       escaped_markup(result.claim.id), texts(result.claim.title),
                       escaped_markup(paper_of(result.claim.id)),
                       more.empty() ? "" : "<div class=\"gist\">" + more + "</div>");
  }
  return out + "</ul>\n";
}

std::string checkbox(const std::string& id, std::string_view label) {
  return fmt::format("<label><input type=\"checkbox\" id=\"{}\" checked=\"checked\"/> {}</label>\n",
                     id, label);
}

std::string theme(const char* which, bool chosen) {
  return fmt::format(
      "<label><input type=\"radio\" name=\"theme\" id=\"theme-{0}\"{1}/> {0}</label>\n", which,
      chosen ? " checked=\"checked\"" : "");
}

}  // namespace

std::string overview(const ClaimsReport& report, const Texts& texts) {
  std::string out = fmt::format(
      "<header>\n<h1>Claims of the papers, checked</h1>\n"
      "<p>{} claims, each examined in <code>double</code> with a bound on its rounding errors and "
      "by "
      "interval arithmetic at two precisions. A verdict is computed from the checks and must agree "
      "with the derivation on paper{}.</p>\n",
      report.results.size(), report.as_derived() ? "; all do" : ". <strong>Some do not</strong>");
  out += counts(report);
  out += "<fieldset class=\"theme\"><legend>Colours</legend>\n" + theme("auto", true) +
         theme("light", false) + theme("dark", false) + "</fieldset>\n</header>\n";
  for (const Verdict verdict : verdicts_in_order) {
    const long number = count(report, "", verdict);
    if (number == 0) continue;
    const char* heading = verdict == Verdict::refuted ? "What is refuted, and what is true instead"
                          : verdict == Verdict::holds_under_condition
                              ? "What holds under a condition"
                          : verdict == Verdict::undecided        ? "What is undecided"
                          : verdict == Verdict::not_mathematical ? "What cannot be checked"
                                                                 : "What holds";
    const bool open = verdict == Verdict::refuted;
    out += fmt::format(
        "<details class=\"verdicts\"{}><summary><h2>{} <span class=\"badge {}\">{}</span></h2>"
        "</summary>\n{}</details>\n",
        open ? " open=\"open\"" : "", heading, name(verdict), number, list(report, verdict, texts));
  }
  return out;
}

std::string controls(const ClaimsReport& report) {
  std::string out =
      "<form id=\"controls\" class=\"controls\">\n<fieldset><legend>Verdicts shown</legend>\n";
  for (const Verdict verdict : verdicts_in_order) {
    if (count(report, "", verdict) > 0) {
      out += checkbox("show-" + std::string(name(verdict)), in_words(verdict));
    }
  }
  out += "</fieldset>\n<fieldset><legend>Papers shown</legend>\n";
  for (const std::string& paper : papers_of(report)) out += checkbox("show-" + paper, paper);
  return out +
         "</fieldset>\n<p id=\"search-row\" hidden=\"hidden\"><label>Search <input type=\"search\" "
         "id=\"search\" placeholder=\"words, e.g. theorem beta\"/></label> "
         "<output id=\"found\"></output></p>\n</form>\n";
}

std::string side(const ClaimsReport& report, const Texts& texts) {
  std::string out = "<nav class=\"side\" aria-label=\"All claims\">\n";
  std::string paper;
  for (const ClaimResult& result : report.results) {
    if (paper_of(result.claim.id) != paper) {
      if (!paper.empty()) out += "</ul>\n";
      paper = paper_of(result.claim.id);
      out += fmt::format("<p><a href=\"#{0}\">{0}</a></p>\n<ul>\n", escaped_markup(paper));
    }
    out += fmt::format("<li class=\"{}\"><a href=\"#{}\">{}</a></li>\n", name(result.verdict),
                       escaped_markup(result.claim.id), texts(result.claim.title));
  }
  return out + (paper.empty() ? "" : "</ul>\n") + "</nav>\n";
}

}  // namespace plumbline::proofs_checks
