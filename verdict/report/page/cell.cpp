// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/markup.hpp"
#include "support/text.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/conventions/lax_fields.hpp"
#include "verdict/report/page/parts.hpp"

namespace plumbline::verdict {
namespace {

std::string code(const std::string& text) { return "<code>" + escaped_markup(text) + "</code>"; }

/// The pairs of a spec's line as two rows of a table.
std::string case_table(const cases::Spec& spec) {
  std::string names, values;
  const std::string line = cases::to_line(spec);
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    const std::size_t equals = line.find('=', begin);
    names += "<th>" + escaped_markup(line.substr(begin, equals - begin)) + "</th>";
    values += "<td>" + escaped_markup(line.substr(equals + 1, end - equals - 1)) + "</td>";
    begin = end + 1;
  }
  return "<div class=\"wide\"><table><thead><tr>" + names + "</tr></thead><tbody><tr>" + values +
         "</tr></tbody></table></div>\n";
}

std::string failure(const VerifyReport& report, const CellResult& cell, const std::string& id) {
  const cases::Spec& spec = cell.counterexample->spec;
  const Judgement& judgement = cell.counterexample->judgement;
  const bool fails = judgement.outcome == Outcome::fail;
  std::string out =
      fails ? "<h4>The smallest failing case found</h4>\n" : "<h4>An undecided case</h4>\n";
  out += case_table(spec);
  if (!judgement.kind.empty()) out += "<p>Kind of failure: " + code(judgement.kind) + "</p>\n";
  for (const Match& match : judgement.matches) {
    out += "<p>" + code(match.name) + " " + escaped_markup(match.text) + "</p>\n";
  }
  out += "<pre>" + escaped_markup(describe(judgement)) + "</pre>\n";
  for (const auto& place : cell.counterexample->drawn_places) {
    out += "<p>In the case as drawn, " + code(cases::to_line(cell.counterexample->drawn)) + ", " +
           escaped_markup(place) + "</p>\n";
  }
  for (const auto& what : cell.counterexample->separates) {
    out += "<p>It " + escaped_markup(what) + ".</p>\n";
  }
  out += "<p>To repeat it:</p>\n<pre><code>" + escaped_markup(repro_line(report, cell)) +
         "</code></pre>\n";
  for (const auto& output : judgement.outputs) {
    if (output.outcome == Outcome::pass) continue;
    out += map_figure(error_map(output), output.name,
                      fails ? "the smallest failing case" : "the undecided case",
                      id + "_smallest_" + output.name);
  }
  return out;
}

std::string outputs_table(const CellResult& cell) {
  std::string out =
      "<div class=\"wide\"><table class=\"numbers\"><thead><tr><th>output</th><th>elements</th>"
      "<th>equal to the oracle</th><th>bound above the value</th><th>largest |error| / bound</th>"
      "<th>in the case</th></tr></thead><tbody>\n";
  for (const auto& [output, summary] : cell.outputs) {
    out += fmt::format(
        "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td "
        "class=\"case\">{}</td></tr>\n",
        escaped_markup(output), summary.elements, summary.distribution.count(0), summary.blind,
        ratio_text(summary.worst), code(cases::to_line(summary.worst_case)));
  }
  return out + "</tbody></table></div>\n";
}

/// Of the output with the largest error.
std::string worst_map(const CellResult& cell, const std::string& id) {
  const auto worst = std::max_element(
      cell.outputs.begin(), cell.outputs.end(),
      [](const auto& a, const auto& b) { return a.second.worst < b.second.worst; });
  return map_figure(worst->second.worst_map, worst->first, "the case with its largest error",
                    id + "_worst_" + worst->first);
}

}  // namespace

std::string article(const VerifyReport& report, const CellResult& cell, const std::string& id) {
  std::string out = fmt::format("<article id=\"{}\">\n<h3>{} {}</h3>\n", id,
                                escaped_markup(label(cell)), badge(cell));
  out += fmt::format("<p>{}, {}", counted(static_cast<std::size_t>(cell.cases), "case"),
                     counted(static_cast<std::size_t>(cell.rows), "row"));
  if (cell.ill_conditioned_rows > 0) {
    out += fmt::format(
        ", of which {} are ill-conditioned and only checked to lie in the convex hull of their "
        "values",
        cell.ill_conditioned_rows);
  }
  out += ".</p>\n<details><summary>Its contract</summary><p>" +
         code(cases::to_json(cell.contract).dump()) + "</p></details>\n";
  if (const auto lax = lax_fields(cell.contract, cell.format); !lax.empty()) {
    out += "<p>Laxer than the default: " + escaped_markup(in_words(lax)) + ".</p>\n";
  }
  if (cell.cases > 0) out += "<p>Judged on: " + escaped_markup(in_words(cell.cover)) + ".</p>\n";
  if (!cell.declined.empty()) {
    out += "<p>Declined by the kernel: " +
           escaped_markup(fmt::format("{}", fmt::join(cell.declined, ", "))) + ".</p>\n";
  }
  if (cell.counterexample) out += failure(report, cell, id);
  if (!cell.outputs.empty()) {
    out += "<h4>Errors over all cases</h4>\n" + outputs_table(cell) + distribution_figure(cell, id);
    if (cell.counterexample || report.cells.size() <= most_cells_with_maps) {
      out += worst_map(cell, id);
    }
  }
  return out + "</article>\n";
}

}  // namespace plumbline::verdict
