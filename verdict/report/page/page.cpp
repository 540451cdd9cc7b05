// SPDX-License-Identifier: Apache-2.0
#include "verdict/report/page/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "support/markup.hpp"
#include "support/pages/page.hpp"
#include "support/text.hpp"
#include "verdict/report/page/parts.hpp"

namespace plumbline::verdict {
namespace {

/// Of an output's name, the worst over the cell; "-" where there is none.
template <class Chosen>
std::string worst(const CellResult& cell, Chosen chosen) {
  bool any = false;
  double ratio = 0;
  for (const auto& [output, summary] : cell.outputs) {
    if (!chosen(output)) continue;
    any = true;
    ratio = std::max(ratio, summary.worst);
  }
  return any ? ratio_text(ratio) : "-";
}

std::string row(const CellResult& cell, const std::string& id) {
  const std::string kernel = escaped_markup(cell.kernel);
  return pages::row(
      {cell.supported ? pages::link(id, kernel) : kernel, std::string(cases::name(cell.pass)),
       std::string(cases::name(cell.bias)), std::string(cases::name(cell.format)),
       std::to_string(cell.cases), std::to_string(cell.rows),
       worst(cell, [](const auto& output) { return output == "o"; }),
       worst(cell, [](const auto& output) { return output == "lse"; }),
       worst(cell, [](const auto& output) { return output.starts_with("grad_"); }), badge(cell)});
}

std::string id_of(std::size_t cell) { return fmt::format("cell_{}", cell + 1); }

std::string summary(const VerifyReport& report) {
  long rows = 0;
  std::size_t failing = 0, undecided = 0;
  for (const auto& cell : report.cells) {
    rows += cell.rows;
    failing += cell.outcome == Outcome::fail;
    undecided += cell.outcome == Outcome::undecided;
  }
  std::string out =
      fmt::format("<h1>{}: {}</h1>\n<p>{}, {}{}", escaped_markup(report.library),
                  name(report.outcome()), counted(static_cast<std::size_t>(report.cases()), "case"),
                  counted(static_cast<std::size_t>(rows), "row"),
                  report.device.empty() ? "" : " on " + escaped_markup(report.device));
  if (report.repeat.empty()) out += fmt::format(", seed {}", report.seed);
  if (!report.shard.empty()) out += ", shard " + escaped_markup(report.shard);
  out += fmt::format(". {} of the {} checks below fail, {} are undecided.</p>\n", failing,
                     report.cells.size(), undecided);
  if (const std::string exposed = exposure(report); !exposed.empty()) {
    out += pages::paragraph("Also, " + exposed + ".");
  }
  if (!report.not_offered.empty()) {
    out += pages::details(
        "Not judged, because no kernel supports it",
        pages::paragraph(escaped_markup(fmt::format("{}", fmt::join(report.not_offered, ", ")))));
  }
  std::string table;
  for (std::size_t n = 0; n < report.cells.size(); ++n) {
    const auto& cell = report.cells[n];
    table += row(cell, id_of(n));
    if (const auto blind = cell.blind_outputs(); !blind.empty()) {
      out += pages::paragraph(
          "Unresolved, because every element's bound is above its value: " +
          escaped_markup(fmt::format("{}: {}.", label(cell), fmt::join(blind, ", "))));
    }
  }
  out += pages::table("numbers",
                      {"kernel", "pass", "bias", "format", "cases", "rows", "worst o", "worst lse",
                       "worst gradient", "verdict"},
                      table);
  std::string note =
      "Worst: the largest |error| / bound, at most 1 for a correct kernel. The bounds follow from "
      "the kernel's contract.";
  if (report.cells.size() > most_cells_with_maps) {
    note += fmt::format(" With more than {} checks, only those that do not pass have maps.",
                        most_cells_with_maps);
  }
  return out + pages::paragraph(note);
}

}  // namespace

std::string badge(const CellResult& cell) {
  if (!cell.supported) return pages::badge("", "not offered");
  return pages::badge(name(cell.outcome), name(cell.outcome));
}

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "∞";
  if (ratio != 0 && (ratio < 0.001 || ratio >= 1000)) return fmt::format("{:.1e}", ratio);
  return fmt::format("{:.3f}", ratio);
}

std::string to_html(const VerifyReport& report) {
  std::string main = summary(report);
  // What fails first, then what is undecided.
  for (const Outcome outcome : {Outcome::fail, Outcome::undecided, Outcome::pass}) {
    for (std::size_t n = 0; n < report.cells.size(); ++n) {
      const auto& cell = report.cells[n];
      if (cell.supported && cell.outcome == outcome) main += article(report, cell, id_of(n));
    }
  }
  return pages::html({.generator = page_generator,
                      .title = fmt::format("{}: {}", report.library, name(report.outcome())),
                      .main = main});
}

}  // namespace plumbline::verdict
