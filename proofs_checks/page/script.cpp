// SPDX-License-Identifier: Apache-2.0
// The search: the one thing that needs a script. Written without & and <, so that the page stays
// XML.
#include "proofs_checks/page/parts.hpp"

namespace plumbline::proofs_checks {

const char* const script = R"("use strict";
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

}  // namespace plumbline::proofs_checks
