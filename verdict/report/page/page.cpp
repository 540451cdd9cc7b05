// SPDX-License-Identifier: Apache-2.0
#include "verdict/report/page/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "support/markup.hpp"
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
  return fmt::format(
      "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
      "<td>{}</td><td>{}</td></tr>\n",
      cell.supported ? fmt::format("<a href=\"#{}\">{}</a>", id, kernel) : kernel,
      cases::name(cell.pass), cases::name(cell.bias), cases::name(cell.format), cell.cases,
      cell.rows, worst(cell, [](const auto& output) { return output == "o"; }),
      worst(cell, [](const auto& output) { return output == "lse"; }),
      worst(cell, [](const auto& output) { return output.starts_with("grad_"); }), badge(cell));
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
    out += "<p>Also, " + exposed + ".</p>\n";
  }
  if (!report.not_offered.empty()) {
    out += "<details><summary>Not judged, because no kernel supports it</summary><p>" +
           escaped_markup(fmt::format("{}", fmt::join(report.not_offered, ", "))) +
           "</p></details>\n";
  }
  for (const auto& cell : report.cells) {
    if (const auto blind = cell.blind_outputs(); !blind.empty()) {
      out += "<p>Unresolved, because every element's bound is above its value: " +
             escaped_markup(label(cell) + ": " + fmt::format("{}", fmt::join(blind, ", "))) +
             ".</p>\n";
    }
  }
  out +=
      "<div class=\"wide\"><table class=\"numbers\"><thead><tr><th>kernel</th><th>pass</th>"
      "<th>bias</th><th>format</th><th>cases</th><th>rows</th><th>worst o</th><th>worst lse</th>"
      "<th>worst gradient</th><th>verdict</th></tr></thead><tbody>\n";
  for (std::size_t n = 0; n < report.cells.size(); ++n) out += row(report.cells[n], id_of(n));
  out +=
      "</tbody></table></div>\n<p>Worst: the largest |error| / bound, at most 1 for a correct "
      "kernel. The bounds follow from the kernel's contract.";
  if (report.cells.size() > most_cells_with_maps) {
    out += fmt::format(" With more than {} checks, only those that do not pass have maps.",
                       most_cells_with_maps);
  }
  return out + "</p>\n";
}

}  // namespace

std::string label(const CellResult& cell) {
  return fmt::format("{} {} {} {}", cell.kernel, cases::name(cell.pass), cases::name(cell.bias),
                     cases::name(cell.format));
}

std::string badge(const CellResult& cell) {
  if (!cell.supported) return "<span class=\"badge\">not offered</span>";
  const char* css = cell.outcome == Outcome::pass   ? "pass"
                    : cell.outcome == Outcome::fail ? "fail"
                                                    : "undecided";
  return fmt::format("<span class=\"badge {}\">{}</span>", css, name(cell.outcome));
}

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "∞";
  if (ratio != 0 && (ratio < 0.001 || ratio >= 1000)) return fmt::format("{:.1e}", ratio);
  return fmt::format("{:.3f}", ratio);
}

std::string to_html(const VerifyReport& report) {
  std::string out =
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n";
  out += page_generator;
  out +=
      "\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\"/>\n";
  out += fmt::format("<title>{}: {}</title>\n<style>\n", escaped_markup(report.library),
                     name(report.outcome()));
  out += style() + "</style>\n</head>\n<body>\n<main>\n" + summary(report);
  // What fails first, then what is undecided.
  for (const Outcome outcome : {Outcome::fail, Outcome::undecided, Outcome::pass}) {
    for (std::size_t n = 0; n < report.cells.size(); ++n) {
      const auto& cell = report.cells[n];
      if (cell.supported && cell.outcome == outcome) out += article(report, cell, id_of(n));
    }
  }
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace plumbline::verdict
