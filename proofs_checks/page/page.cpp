// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/page/page.hpp"

#include "proofs_checks/formula/text.hpp"
#include "proofs_checks/page/parts.hpp"
#include "support/markup.hpp"

namespace plumbline::proofs_checks {

std::string_view in_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::holds_under_condition:
      return "holds under a condition";
    case Verdict::refuted:
      return "refuted";
    case Verdict::undecided:
      return "undecided";
    case Verdict::not_mathematical:
      return "not mathematical";
  }
  return "";
}

std::string paper_of(const std::string& id) { return id.substr(0, id.find('/')); }

Texts::Texts(const ClaimsReport& report) {
  for (const ClaimResult& result : report.results) ids_.insert(result.claim.id);
}

std::string Texts::operator()(std::string_view text) const {
  return formula::html_of(text, [this](const std::string& id) { return ids_.count(id) > 0; });
}

std::string html(const ClaimsReport& report) {
  const Texts texts(report);
  std::string out =
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n";
  out += page_generator;
  out +=
      "\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\"/>\n"
      "<title>Claims of the papers, checked</title>\n<style>\n";
  out += style();
  out += "</style>\n</head>\n<body>\n";
  out += side(report, texts);
  out += "<main>\n";
  out += overview(report, texts);
  out += controls(report);
  std::map<std::string, std::string> drawn;
  std::string paper;
  for (const ClaimResult& result : report.results) {
    if (paper_of(result.claim.id) != paper) {
      paper = paper_of(result.claim.id);
      out += "<h2 id=\"" + escaped_markup(paper) + "\">" +
             escaped_markup(result.claim.source.paper) + "</h2>\n";
    }
    out += article(result, texts, drawn);
  }
  out += "</main>\n<script>\n";
  out += script;
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace plumbline::proofs_checks
