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

/// The search, and the mark at the side of the claim that is read: what needs a script. Without &
/// and <, so that the page stays XML.
///
/// A word is followed by its number as one term ("Theorem 4", "Table 8"), and what stands in
/// quotation marks is one; a term is found at the beginning of a word, a number as a whole. What is
/// folded is unfolded where a term is found in it, and when the page is printed.
constexpr const char* script = R"js("use strict";
(function () {
  var claims = Array.from(document.querySelectorAll(".claim"), function (claim) {
    var text = claim.id + " " + claim.id.replace(/[_/]/g, " ") + " " + claim.textContent;
    return {element: claim, text: text.toLowerCase()};
  });
  var field = document.getElementById("search");
  var found = document.getElementById("found");
  document.getElementById("search-row").hidden = false;
  document.getElementById("controls").addEventListener("submit", function (event) {
    event.preventDefault();
  });
  function pattern(term) {
    var text = term.replace(/"/g, "").trim()
      .replace(/[.*+?^${}()|[\]\\]/g, function (sign) { return "\\" + sign; });
    return new RegExp((/^\w/.test(text) ? "\\b" : "") + text.replace(/\s+/g, "\\s+") +
                      (/\d$/.test(text) ? "(?!\\.?\\d)" : ""));
  }
  field.addEventListener("input", function () {
    var words = (field.value.toLowerCase().match(/"[^"]+"|[a-z]+\.?\s+\d[\d.]*|\S+/g) || [])
      .map(pattern);
    var shown = 0;
    claims.forEach(function (claim) {
      var hit = words.every(function (word) { return word.test(claim.text); });
      claim.element.hidden = !hit;
      claim.element.querySelectorAll(".folds details").forEach(function (fold) {
        var text = fold.textContent.toLowerCase();
        fold.open = words.some(function (word) { return word.test(text); });
      });
      if (hit) shown += 1;
    });
    found.textContent = words.length === 0 ? "" : shown + " of " + claims.length;
  });
  // A link to a claim that the search or the filter hides shows it.
  window.addEventListener("hashchange", function () {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target === null) return;
    target.hidden = false;
    var folded = target.querySelector("details");
    if (folded !== null) folded.open = true;
    target.scrollIntoView();
  });
  var fold = document.getElementById("fold");
  fold.addEventListener("click", function () {
    var open = fold.textContent === "Unfold all";
    claims.forEach(function (claim) { claim.element.querySelector("details").open = open; });
    fold.textContent = open ? "Fold all" : "Unfold all";
  });
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (fold) { fold.open = true; });
  });
  // The link at the side to the claim that is read.
  var links = {};
  document.querySelectorAll(".side a").forEach(function (link) {
    links[link.getAttribute("href").slice(1)] = link;
  });
  var current = null;
  var reading = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      var link = links[entry.target.id];
      if (!(entry.isIntersecting) || link === undefined || link === current) return;
      if (current !== null) current.removeAttribute("aria-current");
      current = link;
      link.setAttribute("aria-current", "true");
      link.scrollIntoView({block: "nearest"});
    });
  }, {rootMargin: "0px 0px -80% 0px"});
  claims.forEach(function (claim) { reading.observe(claim.element); });
})();
)js";

}  // namespace

std::string_view in_words(Verdict verdict) {
  return std::find_if(std::begin(verdicts), std::end(verdicts),
                      [&](const Shown& shown) { return shown.verdict == verdict; })
      ->words;
}

std::string paper_of(const std::string& id) { return id.substr(0, id.find('/')); }

std::string paper_in_words(const std::string& paper) {
  if (paper == "bam") return "BAM: Bayesian attention mechanism";
  if (paper == "cable") return "CABLE: context-aware biases";
  if (paper == "alibi") return "ALiBi: attention with linear biases";
  return paper;
}

std::string short_place(const Claim& claim) {
  const std::string& place = claim.source.place;
  const bool several = place.starts_with("Appendices ") || place.find("s ") < place.find(' ');
  std::size_t end = place.find_first_of(several ? ";:(" : ",;:(");
  for (const char* more : {" and its ", " with ", " against ", " after ", " before "}) {
    end = std::min(end, place.find(more));
  }
  return place.substr(0, place.find_last_not_of(' ', std::min(end, place.size()) - 1) + 1);
}

std::string titled_link(const ClaimResult& result, const Texts& texts) {
  return pages::link(result.claim.id,
                     pages::span("place", escaped_markup(short_place(result.claim))) + " " +
                         texts(result.title()));
}

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
