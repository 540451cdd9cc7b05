// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/formula/text.hpp"

#include <span>

#include "proofs_checks/formula/mathml.hpp"
#include "proofs_checks/formula/runs.hpp"
#include "support/markup.hpp"

namespace plumbline::proofs_checks::formula {
namespace {

/// Claims' ids inside of a text may be cut at underscores by a narrow page.
std::string link(const std::string& id, bool shown) {
  const std::string code = "<code>" + escaped_markup(id) + "</code>";
  return shown ? "<a href=\"#" + escaped_markup(id) + "\">" + code + "</a>" : code;
}

/// A formula and the mark behind it stay on one line.
const char* const no_break = "<span class=\"nobr\">";
bool is_mark(const Token& token) {
  return token.kind == Kind::comma || token.kind == Kind::stop || token.kind == Kind::close;
}

}  // namespace

std::string html_of(std::string_view text,
                    const std::function<bool(const std::string& id)>& is_shown) {
  const std::vector<Token> all = tokens(text);
  std::string html;
  bool quoted = false;
  for (const Run& run : runs(all)) {
    if (run.formula) {
      if (run.first > 0 && all[run.first].space) html += ' ';
      html += mathml(std::span(all).subspan(run.first, run.last - run.first));
      const bool mark_follows =
          run.last < all.size() && !all[run.last].space && is_mark(all[run.last]);
      if (mark_follows) html.insert(html.rfind("<math>"), no_break);
      continue;
    }
    for (std::size_t k = run.first; k < run.last; ++k) {
      const Token& token = all[k];
      if (k > 0 && token.space) html += ' ';
      const bool after_formula = k == run.first && k > 0 && !token.space && is_mark(token);
      if (token.kind == Kind::claim) {
        html += link(token.text, is_shown && is_shown(token.text));
      } else if (token.kind == Kind::code) {
        html += "<code>" + escaped_markup(token.text) + "</code>";
      } else if (token.text == "\"") {
        html += quoted ? "”" : "“";
        quoted = !quoted;
      } else if (token.text.front() == '\'') {
        html += "’" + escaped_markup(token.text.substr(1));
      } else if (token.text == "-" && token.kind == Kind::sign) {
        html += k > run.first && all[k - 1].kind == Kind::number ? "–" : "-";
      } else if (token.text == "...") {
        html += "…";
      } else {
        html += escaped_markup(token.text);
      }
      if (after_formula) html += "</span>";
    }
  }
  return html;
}

}  // namespace plumbline::proofs_checks::formula
