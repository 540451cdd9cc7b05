// SPDX-License-Identifier: Apache-2.0
#include "verdict/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "support/markup.hpp"
#include "support/text.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/custom_bias.hpp"
#include "verdict/conventions/lax_fields.hpp"
#include "verdict/judge/element.hpp"
#include "verdict/report/error_places.hpp"

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
  ordered_json where;
  for (std::size_t axis = 0; axis < output.axes.size(); ++axis) {
    where[output.axes[axis]] = worst.index[axis];
  }
  where["got"] = number(worst.got);
  where["expected"] = number(worst.expected);
  where["bound"] = number(worst.bound);
  where["ratio"] = number(worst.ratio);
  return {{"outcome", name(output.outcome)},
          {"elements", output.elements},
          {"failed", output.failed},
          {"undecided", output.undecided},
          {"nonzero", output.nonzero},
          {"blind", output.blind},
          {"failed_by_head", output.failed_by_head},
          {"where", where_it_fails(output)},
          {"statistics", statistics_that_fail(output)},
          {"worst", where}};
}

/// A failure in one sentence.
std::string headline(const Judgement& judgement) {
  if (!judgement.failure.empty()) return judgement.failure;
  if (!judgement.matches.empty()) return judgement.matches.front().text;
  if (!judgement.remark.empty()) return judgement.remark;
  if (judgement.nearest_contract) return judgement.nearest_contract->text;
  for (const auto& output : judgement.outputs) {
    if (output.outcome != Outcome::fail) continue;
    if (output.failed > 0) break;
    const auto statistics = statistics_that_fail(output);
    if (!statistics.empty()) return output.name + ": " + statistics.front();
  }
  return "outside the bound";
}

/// Several cells in one line of the table.
struct Line {
  std::string kernel, pass, bias, format;
  int cells = 0, cases = 0;
  long rows = 0;
  double o = 0, lse = -1, gradient = 0;  ///< lse: below 0 where there is none
  std::size_t blind = 0;
  Outcome outcome = Outcome::pass;

  void add(const CellResult& cell) {
    ++cells;
    cases += cell.cases;
    rows += cell.rows;
    outcome = worse(outcome, cell.outcome);
    blind += cell.blind_outputs().size();
    for (const auto& [output, summary] : cell.outputs) {
      double& into = output == "o" ? o : output == "lse" ? lse : gradient;
      into = std::max(into, summary.worst);
    }
  }
  std::string verdict() const {
    std::string text(name(outcome));
    if (blind > 0) text += ", " + counted(static_cast<int>(blind), "output") + " unresolved";
    return text;
  }
};

/// What the cases of a kernel were, and what it declines in all of its cells.
struct CoverOfKernel {
  Cover cover;
  std::vector<std::string> declined;
  bool any = false;

  void add(const CellResult& cell) {
    cover.add(cell.cover);
    if (!any) declined = cell.declined;
    std::erase_if(declined, [&](const std::string& name) {
      return std::find(cell.declined.begin(), cell.declined.end(), name) == cell.declined.end();
    });
    any = true;
  }
};

/// Up to this many kernels each has lines of its own; then they share one.
constexpr std::size_t most_covers = 3;

std::string covered(const std::vector<CellResult>& cells) {
  std::map<std::string, CoverOfKernel> of_kernels;
  CoverOfKernel all;
  for (const auto& cell : cells) {
    if (!cell.supported || cell.cases == 0) continue;
    of_kernels[cell.kernel].add(cell);
    all.add(cell);
  }
  if (of_kernels.size() > most_covers) of_kernels = {{"all kernels", all}};
  std::string text;
  for (const auto& [kernel, of_kernel] : of_kernels) {
    text += fmt::format("{} judged on: {}\n", kernel, in_words(of_kernel.cover));
    if (!of_kernel.declined.empty()) {
      text += fmt::format("{} declined: {}\n", kernel, fmt::join(of_kernel.declined, ", "));
    }
  }
  return text;
}

/// What the contracts of the kernels let through; kernels with the same one share a line.
std::string lax_contracts(const std::vector<CellResult>& cells) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_words;
  for (const auto& cell : cells) {
    const std::string words = in_words(lax_fields(cell.contract, cell.format));
    if (!cell.supported || words.empty()) continue;
    const std::string who = fmt::format("{} {}", cell.kernel, cases::name(cell.format));
    auto found = std::find_if(by_words.begin(), by_words.end(),
                              [&](const auto& entry) { return entry.first == words; });
    if (found == by_words.end()) found = by_words.insert(found, {words, {}});
    auto& kernels = found->second;
    if (std::find(kernels.begin(), kernels.end(), who) == kernels.end()) kernels.push_back(who);
  }
  std::string text;
  for (const auto& [words, kernels] : by_words) {
    text += fmt::format("contract of {}: {}\n", fmt::join(kernels, ", "), words);
  }
  return text;
}

/// "generic", "prefix", "tokens_first", "int8", or the number itself.
std::string value_in_words(const std::string& property, int value) {
  if (property == "family") return std::string(cases::name(static_cast<cases::Family>(value)));
  if (property == "mask pattern") {
    return std::string(cases::name(static_cast<cases::Pattern>(value)));
  }
  if (property == "layout") return std::string(cases::name(static_cast<cases::Layout>(value)));
  if (property == "cache") return std::string(cases::name(static_cast<cases::CacheFormat>(value)));
  return std::to_string(value);
}

ordered_json to_json(const Cover& cover) {
  ordered_json json = ordered_json::object();
  for (const auto& [property, counts] : cover.cases) {
    for (const auto& [value, count] : counts) {
      json[property][value_in_words(property, value)] = count;
    }
  }
  json["unjudged_rows"] = cover.unjudged_rows;
  return json;
}

/// Up to this many cells each has a line of its own; then the biases share one.
constexpr int most_lines = 60;

/// The outputs that a cell's cases say nothing of, cell by cell.
std::string not_seen(const std::vector<CellResult>& cells) {
  std::string text;
  for (const auto& cell : cells) {
    const auto blind = cell.blind_outputs();
    if (!blind.empty()) text += fmt::format("  {}: {}\n", label(cell), fmt::join(blind, ", "));
  }
  if (text.empty()) return text;
  return "unresolved, because every element is smaller than its error bound:\n" + text;
}

/// What contracts leave out, kernel by kernel.
std::string left_out(const std::vector<CellResult>& cells) {
  std::map<std::string, std::pair<long, std::vector<std::string>>> kernels;
  for (const auto& cell : cells) {
    if (!cell.supported) continue;
    auto& [rows, families] = kernels[cell.kernel];
    rows += cell.rows_left_out;
    const auto contract = cases::to_json(cell.contract);
    for (const auto& family : contract["families_left_out"]) {
      const auto name = family.get<std::string>();
      if (std::find(families.begin(), families.end(), name) == families.end()) {
        families.push_back(name);
      }
    }
  }
  std::string text;
  for (const auto& [kernel, what] : kernels) {
    const auto& [rows, families] = what;
    if (rows > 0) text += fmt::format("  {}: {}\n", kernel, counted(rows, "row"));
    if (!families.empty()) {
      text += fmt::format("  {}: inputs of the {} {}\n", kernel,
                          families.size() > 1 ? "families" : "family", fmt::join(families, ", "));
    }
  }
  return text.empty() ? text : "not judged, because the contract excludes it:\n" + text;
}

/// VerifyReport::not_offered in a line.
std::string not_offered_words(const VerifyReport& report) {
  constexpr std::size_t few = 6;
  if (report.not_offered.size() <= few)
    return fmt::format("{}", fmt::join(report.not_offered, ", "));
  // "decode", "forward t5", "backward fox tf32".
  std::vector<std::string> words;
  std::map<std::string, std::size_t> biases, formats;  // by pass
  for (const std::string& one : report.not_offered) {
    const std::string pass = one.substr(0, one.find(' '));
    const auto spaces = std::count(one.begin(), one.end(), ' ');
    if (spaces == 0) words.push_back(one);
    if (spaces == 1) ++biases[pass];
    if (spaces == 2) ++formats[pass];
  }
  for (const auto& [pass, count] : biases)
    words.push_back(fmt::format("{} {} of {}", count, count == 1 ? "bias" : "biases", pass));
  for (const auto& [pass, count] : formats)
    words.push_back(fmt::format("{} of {}", counted(count, "pair") + " of bias and format", pass));
  return fmt::format("{} (the JSON and HTML reports list them)", fmt::join(words, ", "));
}

std::vector<Line> lines_of(const std::vector<CellResult>& cells) {
  const auto offered = std::count_if(cells.begin(), cells.end(),
                                     [](const CellResult& cell) { return cell.supported; });
  std::vector<Line> lines;
  for (const auto& cell : cells) {
    if (!cell.supported) continue;
    const std::string pass(cases::name(cell.pass)), format(cases::name(cell.format));
    const auto same = [&](const Line& line) {
      return offered > most_lines && line.kernel == cell.kernel && line.pass == pass &&
             line.format == format;
    };
    auto line = std::find_if(lines.begin(), lines.end(), same);
    if (line == lines.end()) {
      lines.push_back({cell.kernel, pass, std::string(cases::name(cell.bias)), format});
      line = lines.end() - 1;
    }
    line->add(cell);
    if (line->cells > 1) line->bias = fmt::format("{} biases", line->cells);
  }
  return lines;
}

}  // namespace

std::string label(const CellResult& cell) {
  return fmt::format("{} {} {} {}", cell.kernel, cases::name(cell.pass), cases::name(cell.bias),
                     cases::name(cell.format));
}

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
  if (!report.repeat.empty()) return report.repeat;
  return fmt::format("./plumbline verify{}{} --kernels {} --case '{}'",
                     report.kernel_option.empty() ? "" : " ", report.kernel_option, cell.kernel,
                     cases::to_line(cell.counterexample->spec));
}

std::string describe_failure(const VerifyReport& report, const CellResult& cell) {
  const auto& found = *cell.counterexample;
  std::string text = fmt::format("{}: {} after {}; the smallest failing case found:\n", label(cell),
                                 name(cell.outcome), counted(cell.cases, "case"));
  text += describe(found.judgement);
  for (const auto& place : found.drawn_places) {
    text += fmt::format("  in the case as drawn, queries={},keys={}: {}\n", found.drawn.queries,
                        found.drawn.keys, place);
  }
  for (const auto& what : found.separates) text += fmt::format("  {}\n", what);
  return text + fmt::format("  repeat: {}\n", repro_line(report, cell));
}

std::string exposure(const VerifyReport& report) {
  if (report.isolation != Isolation::process) return "";
  return "the kernels' process has no namespaces on this system: a kernel could end the judge, and "
         "there would be no verdict";
}

std::string to_table(const VerifyReport& report) {
  constexpr const char* format = "{:<16} {:<8} {:<17} {:<6} {:>6} {:>8} {:>9} {:>9} {:>9}  {}\n";
  std::string text = fmt::format(fmt::runtime(format), "kernel", "pass", "bias", "format", "cases",
                                 "rows", "worst o", "worst lse", "worst grad", "verdict");
  for (const auto& line : lines_of(report.cells)) {
    const bool gradients = line.pass == cases::name(cases::Pass::backward);
    text += fmt::format(fmt::runtime(format), line.kernel, line.pass, line.bias, line.format,
                        line.cases, line.rows, line.rows > 0 ? ratio(line.o) : "-",
                        line.lse >= 0 ? ratio(line.lse) : "-",
                        gradients && line.rows > 0 ? ratio(line.gradient) : "-", line.verdict());
  }
  long rows = 0, ill_conditioned = 0, gradients = 0, blind = 0;
  for (const auto& cell : report.cells) {
    for (const auto& [output, summary] : cell.outputs) {
      if (!output.starts_with("grad_")) continue;
      gradients += summary.elements;
      blind += summary.blind;
    }
    rows += cell.rows;
    ill_conditioned += cell.ill_conditioned_rows;
  }
  if (gradients > 0) {
    text += fmt::format(
        "{:.1f} % of {} gradient elements are smaller than their error bound, so 0 would pass "
        "too\n",
        100.0 * static_cast<double>(blind) / static_cast<double>(gradients), gradients);
  }
  text += not_seen(report.cells);
  text += covered(report.cells);
  text += lax_contracts(report.cells);
  text += left_out(report.cells);
  if (!report.not_offered.empty()) {
    text += "not judged, because no kernel supports it: " + not_offered_words(report) + "\n";
  }
  if (const std::string exposed = exposure(report); !exposed.empty()) text += exposed + "\n";
  const std::string uncertain = ill_conditioned == 0
                                    ? ""
                                    : fmt::format(
                                          " ({} with scores too uncertain to check more than that "
                                          "o is between the smallest and the largest v)",
                                          ill_conditioned);
  text += fmt::format(
      "worst: largest |error| / bound of the cases as drawn. {}, {}{} on {} in {:.1f} s, seed {}: "
      "{}\n",
      counted(report.cases(), "case"), counted(rows, "row"), uncertain, report.device,
      report.seconds, report.seed, name(report.outcome()));
  return text;
}

ordered_json to_json(const Judgement& judgement) {
  ordered_json json = {{"outcome", name(judgement.outcome)}};
  if (!judgement.kind.empty()) json["kind"] = judgement.kind;
  for (const auto& file : judgement.opened_files) json["opened_files"].push_back(showable(file));
  if (!judgement.failure.empty()) {
    json["failure"] = judgement.failure;
    return json;
  }
  if (!judgement.remark.empty()) json["remark"] = judgement.remark;
  json["matches"] = ordered_json::array();
  for (const auto& match : judgement.matches) {
    json["matches"].push_back({{"name", match.name}, {"text", match.text}});
  }
  if (const auto& nearest = judgement.nearest_contract) {
    json["nearest_contract"] = {{"name", nearest->name}, {"text", nearest->text}};
  }
  json["rows"] = judgement.rows;
  json["ill_conditioned_rows"] = judgement.ill_conditioned_rows;
  json["rows_left_out"] = judgement.rows_left_out;
  for (const auto& output : judgement.outputs) json[output.name] = to_json(output);
  return json;
}

namespace {

ordered_json lets_through(const CellResult& cell) {
  ordered_json fields = ordered_json::object();
  for (const auto& field : lax_fields(cell.contract, cell.format)) {
    fields[field.field] = field.lets_through;
  }
  return fields;
}

}  // namespace

ordered_json to_json(const VerifyReport& report) {
  ordered_json cells = ordered_json::array();
  for (const auto& cell : report.cells) {
    ordered_json entry = {{"kernel", cell.kernel},
                          {"pass", cases::name(cell.pass)},
                          {"bias", cases::name(cell.bias)},
                          {"format", cases::name(cell.format)},
                          {"contract", cases::to_json(cell.contract)},
                          {"contract_lets_through", lets_through(cell)},
                          {"supported", cell.supported},
                          {"outcome", verdict_of(cell)},
                          {"cases", cell.cases},
                          {"undecided_cases", cell.undecided},
                          {"rows", cell.rows},
                          {"ill_conditioned_rows", cell.ill_conditioned_rows},
                          {"cover", to_json(cell.cover)},
                          {"declined", cell.declined},
                          {"rows_left_out", cell.rows_left_out},
                          {"not_seen", cell.blind_outputs()},
                          {"outputs", ordered_json::object()}};
    if (cell.bias.custom) entry["custom"] = cases::custom_of(cell.bias).declaration;
    for (const auto& [output, summary] : cell.outputs) {
      entry["outputs"][output] = {{"worst", number(summary.worst)},
                                  {"worst_case", cases::to_line(summary.worst_case)},
                                  {"elements", summary.elements},
                                  {"nonzero", summary.nonzero},
                                  {"blind", summary.blind}};
    }
    if (cell.counterexample) {
      entry["counterexample"] = {{"case", cases::to_line(cell.counterexample->spec)},
                                 {"repeat", repro_line(report, cell)},
                                 {"judgement", to_json(cell.counterexample->judgement)}};
      if (!cell.counterexample->separates.empty()) {
        entry["counterexample"]["separates"] = cell.counterexample->separates;
      }
      if (!cell.counterexample->drawn_places.empty()) {
        entry["counterexample"]["drawn"] = {{"case", cases::to_line(cell.counterexample->drawn)},
                                            {"where", cell.counterexample->drawn_places}};
      }
    }
    cells.push_back(std::move(entry));
  }
  return {{"library", report.library},
          {"device", report.device},
          {"isolation", name(report.isolation)},
          {"seed", report.seed},
          {"shard", report.shard.empty() ? "1/1" : report.shard},
          {"seconds", report.seconds},
          {"cases", report.cases()},
          {"outcome", name(report.outcome())},
          {"not_offered", report.not_offered},
          {"cells", std::move(cells)}};
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
        escaped_markup(kernel), cells.size(), failures, errors, skipped);
    for (const auto* cell : cells) {
      text +=
          fmt::format("    <testcase classname=\"{}\" name=\"{} {} {}\">", escaped_markup(kernel),
                      cases::name(cell->pass), cases::name(cell->bias), cases::name(cell->format));
      if (!cell->supported) {
        text += "<skipped/>";
      } else if (cell->counterexample) {
        const std::string details = escaped_markup(describe_failure(report, *cell));
        text +=
            cell->outcome == Outcome::fail
                ? fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>",
                              escaped_markup(cell->counterexample->judgement.kind),
                              escaped_markup(headline(cell->counterexample->judgement)), details)
                : fmt::format("<error message=\"undecided\">{}</error>", details);
      } else if (cell->outcome == Outcome::undecided) {
        text += "<error message=\"undecided\"/>";
      }
      if (cell->supported) {
        std::string said = fmt::format("judged on: {}", in_words(cell->cover));
        if (const auto lax = lax_fields(cell->contract, cell->format); !lax.empty()) {
          said += "\ncontract: " + in_words(lax);
        }
        if (!cell->declined.empty()) {
          said += fmt::format("\ndeclined: {}", fmt::join(cell->declined, ", "));
        }
        if (const auto blind = cell->blind_outputs(); !blind.empty()) {
          said += fmt::format("\nunresolved: {}", fmt::join(blind, ", "));
        }
        text += fmt::format("<system-out>{}</system-out>", escaped_markup(said));
      }
      text += "</testcase>\n";
    }
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace plumbline::verdict
