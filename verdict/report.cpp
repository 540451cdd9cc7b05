// SPDX-License-Identifier: Apache-2.0
#include "verdict/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "cases/case_file.hpp"
#include "support/text.hpp"

namespace plumbline::verdict {
namespace {

using nlohmann::ordered_json;

std::string verdict_of(const CellResult& cell) {
  if (!cell.supported) return "not offered";
  return std::string(name(cell.outcome));
}

std::string ratio(double value) {
  if (std::isinf(value)) return "inf";
  if (value != 0 && (value < 0.001 || value >= 1000)) return fmt::format("{:.1e}", value);
  return fmt::format("{:.3f}", value);
}

/// JSON has no infinity and no NaN: those become strings.
ordered_json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

ordered_json to_json(const OutputJudgement& output) {
  const Element& worst = output.worst;
  return {{"outcome", name(output.outcome)},
          {"elements", output.elements},
          {"failed", output.failed},
          {"undecided", output.undecided},
          {"failed_by_head", output.failed_by_head},
          {"worst",
           {{"batch", worst.batch},
            {"head", worst.head},
            {"query", worst.query},
            {"component", worst.component},
            {"got", number(worst.got)},
            {"expected", number(worst.expected)},
            {"bound", number(worst.bound)},
            {"ratio", number(worst.ratio)}}}};
}

}  // namespace

Outcome VerifyReport::outcome() const {
  Outcome result = Outcome::pass;
  for (const auto& cell : cells) result = worse(result, cell.outcome);
  return result;
}

int VerifyReport::cases() const {
  int total = 0;
  for (const auto& cell : cells) total += cell.cases;
  return total;
}

std::string repro_line(const VerifyReport& report, const CellResult& cell) {
  return fmt::format("./plumbline verify{}{} --kernels {} --case '{}'",
                     report.kernel_option.empty() ? "" : " ", report.kernel_option, cell.kernel,
                     cases::to_line(cell.counterexample->spec));
}

std::string describe_failure(const VerifyReport& report, const CellResult& cell) {
  return fmt::format("{} {} {}: {} after {}; the smallest failing case found:\n{}  repeat: {}\n",
                     cell.kernel, cases::name(cell.bias), cases::name(cell.format),
                     name(cell.outcome), counted(cell.cases, "case"),
                     describe(cell.counterexample->judgement), repro_line(report, cell));
}

std::string to_table(const VerifyReport& report) {
  std::string text =
      fmt::format("{:<10} {:<11} {:<6} {:>6} {:>8} {:>10} {:>10}  {}\n", "kernel", "bias", "format",
                  "cases", "rows", "worst o", "worst lse", "verdict");
  for (const auto& cell : report.cells) {
    text += fmt::format("{:<10} {:<11} {:<6} {:>6} {:>8} {:>10} {:>10}  {}\n", cell.kernel,
                        cases::name(cell.bias), cases::name(cell.format), cell.cases, cell.rows,
                        cell.rows > 0 ? ratio(cell.worst_o) : "-",
                        cell.rows > 0 ? ratio(cell.worst_lse) : "-", verdict_of(cell));
  }
  long rows = 0, ill_conditioned = 0;
  for (const auto& cell : report.cells) {
    rows += cell.rows;
    ill_conditioned += cell.ill_conditioned_rows;
  }
  text += fmt::format(
      "worst: largest |error| / bound. {}, {} ({} ill-conditioned: held to the hull of "
      "their values) on {} in {:.1f} s, seed {}: {}\n",
      counted(report.cases(), "case"), counted(rows, "row"), ill_conditioned, report.device,
      report.seconds, report.seed, name(report.outcome()));
  return text;
}

ordered_json to_json(const Judgement& judgement) {
  ordered_json json = {{"outcome", name(judgement.outcome)}};
  if (!judgement.failure.empty()) {
    json["failure"] = judgement.failure;
    return json;
  }
  json["rows"] = judgement.rows;
  json["ill_conditioned_rows"] = judgement.ill_conditioned_rows;
  json["o"] = to_json(judgement.o);
  json["lse"] = to_json(judgement.lse);
  return json;
}

ordered_json to_json(const VerifyReport& report) {
  ordered_json cells = ordered_json::array();
  for (const auto& cell : report.cells) {
    ordered_json entry = {{"kernel", cell.kernel},
                          {"bias", cases::name(cell.bias)},
                          {"format", cases::name(cell.format)},
                          {"contract", cases::to_json(cell.contract)},
                          {"supported", cell.supported},
                          {"outcome", verdict_of(cell)},
                          {"cases", cell.cases},
                          {"undecided_cases", cell.undecided},
                          {"rows", cell.rows},
                          {"ill_conditioned_rows", cell.ill_conditioned_rows},
                          {"worst_o", number(cell.worst_o)},
                          {"worst_lse", number(cell.worst_lse)}};
    if (cell.counterexample) {
      entry["counterexample"] = {{"case", cases::to_line(cell.counterexample->spec)},
                                 {"repeat", repro_line(report, cell)},
                                 {"judgement", to_json(cell.counterexample->judgement)}};
    }
    cells.push_back(std::move(entry));
  }
  return {{"library", report.library}, {"device", report.device},
          {"seed", report.seed},       {"seconds", report.seconds},
          {"cases", report.cases()},   {"outcome", name(report.outcome())},
          {"cells", std::move(cells)}};
}

std::string xml_escape(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        // Control characters other than tab and newline are not allowed in XML 1.0.
        result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return result;
}

std::string to_junit(const VerifyReport& report) {
  std::map<std::string, std::vector<const CellResult*>> suites;
  for (const auto& cell : report.cells) suites[cell.kernel].push_back(&cell);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [kernel, cells] : suites) {
    int failures = 0, errors = 0, skipped = 0;
    for (const auto* cell : cells) {
      failures += cell->outcome == Outcome::fail;
      errors += cell->outcome == Outcome::undecided;
      skipped += !cell->supported;
    }
    text += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        xml_escape(kernel), cells.size(), failures, errors, skipped);
    for (const auto* cell : cells) {
      text += fmt::format("    <testcase classname=\"{}\" name=\"{} {}\">", xml_escape(kernel),
                          cases::name(cell->bias), cases::name(cell->format));
      if (!cell->supported) {
        text += "<skipped/>";
      } else if (cell->counterexample) {
        const std::string details = xml_escape(describe_failure(report, *cell));
        text += cell->outcome == Outcome::fail
                    ? fmt::format("<failure message=\"outside the bound\">{}</failure>", details)
                    : fmt::format("<error message=\"undecided\">{}</error>", details);
      } else if (cell->outcome == Outcome::undecided) {
        text += "<error message=\"undecided\"/>";
      }
      text += "</testcase>\n";
    }
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace plumbline::verdict
