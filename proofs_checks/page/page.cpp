// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "proofs_checks/formula/text.hpp"
#include "proofs_checks/page/parts.hpp"
#include "support/markup.hpp"
#include "support/pages/page.hpp"

namespace plumbline::proofs_checks {
namespace {

/// The search: the one thing that needs a script. Without & and <, so that the page stays XML.
constexpr const char* script = R"("use strict";
(function () {
  var claims = Array.from(document.querySelectorAll(".claim"), function (claim) {
    return {element: claim, text: (claim.id + " " + claim.textContent).toLowerCase()};
  });
  var field = document.getElementById("search");
  var found = document.getElementById("found");
  document.getElementById("search-row").hidden = false;
  document.getElementById("controls").addEventListener("submit", function (event) {
    event.preventDefault();
  });
  field.addEventListener("input", function () {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    claims.forEach(function (claim) {
      var hit = words.every(function (word) { return claim.text.includes(word); });
      claim.element.hidden = !hit;
      if (hit) shown += 1;
    });
    found.textContent = words.length === 0 ? "" : shown + " of " + claims.length;
  });
  // A link to a claim that the search or the filter hides shows it.
  window.addEventListener("hashchange", function () {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target === null) return;
    target.hidden = false;
    target.scrollIntoView();
  });
})();
)";

}  // namespace

std::string_view in_words(Verdict verdict) {
  return std::find_if(std::begin(verdicts), std::end(verdicts),
                      [&](const Shown& shown) { return shown.verdict == verdict; })
      ->words;
}

std::string paper_of(const std::string& id) { return id.substr(0, id.find('/')); }

std::string html(const ClaimsReport& report) {
  const Texts texts = [&](std::string_view text) {
    return formula::html_of(text, [&](const std::string& id) {
      return std::any_of(report.results.begin(), report.results.end(),
                         [&](const ClaimResult& result) { return result.claim.id == id; });
    });
  };
  std::string main = overview(report, texts) + controls(report);
  std::set<std::string> drawn;
  std::string paper;
  for (const ClaimResult& result : report.results) {
    if (paper_of(result.claim.id) != paper) {
      paper = paper_of(result.claim.id);
      main += fmt::format("<h2 id=\"{}\">{}</h2>\n", escaped_markup(paper),
                          escaped_markup(result.claim.source.paper));
    }
    main += article(result, texts, drawn);
  }
  return pages::html(
      {page_generator, page_title, main, side(report, texts), rules(report), script});
}

}  // namespace plumbline::proofs_checks
