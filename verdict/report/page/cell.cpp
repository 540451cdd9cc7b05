// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/markup.hpp"
#include "support/pages/page.hpp"
#include "support/text.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/conventions/lax_fields.hpp"
#include "verdict/report/page/parts.hpp"

namespace plumbline::verdict {
namespace {

using pages::code;
using pages::paragraph;

std::string heading(const char* text) { return fmt::format("<h4>{}</h4>\n", text); }

/// The pairs of a spec's line as two rows of a table.
std::string case_table(const cases::Spec& spec) {
  std::vector<std::string> names, values;
  const std::string line = cases::to_line(spec);
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    const std::size_t equals = line.find('=', begin);
    names.push_back(escaped_markup(line.substr(begin, equals - begin)));
    values.push_back(escaped_markup(line.substr(equals + 1, end - equals - 1)));
    begin = end + 1;
  }
  return pages::table("", names, pages::row(values));
}

std::string failure(const VerifyReport& report, const CellResult& cell, const std::string& id) {
  const cases::Spec& spec = cell.counterexample->spec;
  const Judgement& judgement = cell.counterexample->judgement;
  const bool fails = judgement.outcome == Outcome::fail;
  std::string out = heading(fails ? "The smallest failing case found" : "An undecided case");
  out += case_table(spec);
  if (!judgement.kind.empty()) out += paragraph("Kind of failure: " + code(judgement.kind));
  for (const Match& match : judgement.matches) {
    out += paragraph(code(match.name) + " " + escaped_markup(match.text));
  }
  out += "<pre>" + escaped_markup(describe(judgement)) + "</pre>\n";
  for (const auto& place : cell.counterexample->drawn_places) {
    out += paragraph("In the case as drawn, " + code(cases::to_line(cell.counterexample->drawn)) +
                     ", " + escaped_markup(place));
  }
  for (const auto& what : cell.counterexample->separates) {
    out += paragraph("It " + escaped_markup(what) + ".");
  }
  out += paragraph("To repeat it:") + "<pre>" + code(repro_line(report, cell)) + "</pre>\n";
  for (const auto& output : judgement.outputs) {
    if (output.outcome == Outcome::pass) continue;
    out += map_figure(error_map(output), output.name,
                      fails ? "the smallest failing case" : "the undecided case",
                      id + "_smallest_" + output.name);
  }
  return out;
}

std::string outputs_table(const CellResult& cell) {
  std::string rows;
  for (const auto& [output, summary] : cell.outputs) {
    rows +=
        pages::row({escaped_markup(output), std::to_string(summary.elements),
                    std::to_string(summary.distribution.count(0)), std::to_string(summary.blind),
                    ratio_text(summary.worst), code(cases::to_line(summary.worst_case))});
  }
  return pages::table("numbers",
                      {"output", "elements", "equal to the oracle", "bound above the value",
                       "largest |error| / bound", "in the case"},
                      rows);
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
  out += ".</p>\n" +
         pages::details("Its contract", paragraph(code(cases::to_json(cell.contract).dump())));
  if (const auto lax = lax_fields(cell.contract, cell.format); !lax.empty()) {
    out += paragraph("Laxer than the default: " + escaped_markup(in_words(lax)) + ".");
  }
  if (cell.cases > 0) out += paragraph("Judged on: " + escaped_markup(in_words(cell.cover)) + ".");
  if (!cell.declined.empty()) {
    out += paragraph("Declined by the kernel: " +
                     escaped_markup(fmt::format("{}", fmt::join(cell.declined, ", "))) + ".");
  }
  if (cell.counterexample) out += failure(report, cell, id);
  if (!cell.outputs.empty()) {
    out += heading("Errors over all cases") + outputs_table(cell) + distribution_figure(cell, id);
    if (cell.counterexample || report.cells.size() <= most_cells_with_maps) {
      out += worst_map(cell, id);
    }
  }
  return out + "</article>\n";
}

}  // namespace plumbline::verdict
