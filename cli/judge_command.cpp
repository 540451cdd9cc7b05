// SPDX-License-Identifier: Apache-2.0
// plumbline judge: outputs that another program wrote, against the oracle.
#include <fmt/format.h>

#include <iostream>
#include <optional>

#include "cli/command.hpp"
#include "cli/outputs.hpp"
#include "cli/page_folder.hpp"
#include "cli/shell_word.hpp"
#include "support/error.hpp"
#include "support/markup.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/named_contracts.hpp"
#include "verdict/conventions/name_conventions.hpp"
#include "verdict/conventions/nearest_contract.hpp"
#include "verdict/judge/judge.hpp"
#include "verdict/report/page/page.hpp"
#include "verdict/report/report.hpp"

namespace plumbline::cli {
namespace {

struct JudgeOptions {
  std::string case_path, outputs_path, html, contract;
  ReportOptions reports;
};

std::string to_junit(const std::string& kernel, const verdict::Judgement& judgement) {
  const bool failed = judgement.outcome == verdict::Outcome::fail;
  const bool undecided = judgement.outcome == verdict::Outcome::undecided;
  const std::string details = escaped_markup(verdict::describe(judgement));
  std::string body;
  if (failed) body = "<failure message=\"outside the bound\">" + details + "</failure>";
  if (undecided) body = "<error message=\"undecided\">" + details + "</error>";
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"judge\" "
      "tests=\"1\" failures=\"{}\" errors=\"{}\" skipped=\"0\">\n    <testcase classname=\"judge\" "
      "name=\"{}\">{}</testcase>\n  </testsuite>\n</testsuites>\n",
      failed ? 1 : 0, undecided ? 1 : 0, escaped_markup(kernel), body);
}

/// The one judgement as a report of verify's kind.
verdict::VerifyReport report_of(const JudgeOptions& options, const cases::Spec& spec,
                                const cases::OutputsFile& file,
                                const verdict::Judgement& judgement) {
  verdict::CellResult cell;
  cell.kernel = file.kernel;
  cell.pass = spec.pass;
  cell.bias = spec.bias;
  cell.format = spec.format;
  cell.contract = file.contract;
  verdict::add_case(cell, spec, judgement);
  verdict::VerifyReport report;
  report.library = options.outputs_path;
  report.repeat =
      "./plumbline judge " + shell_word(options.case_path) + " " + shell_word(options.outputs_path);
  if (!options.contract.empty()) report.repeat += " --contract " + shell_word(options.contract);
  report.cells = {cell};
  return report;
}

int judge(const JudgeOptions& options) {
  Report json_report(options.reports.json), junit_report(options.reports.junit);
  std::optional<PageFolder> page;
  if (!options.html.empty()) page.emplace("--html", options.html, verdict::page_generator);
  const cases::Case the_case = cases::read_case(options.case_path);
  std::optional<verdict::Contract> named;
  if (!options.contract.empty()) {
    named = cases::contract_named(options.contract, the_case.spec.format, "--contract");
  }
  cases::OutputsFile file =
      cases::read_outputs(options.outputs_path, the_case, named ? &*named : nullptr);
  file.kernel = showable(file.kernel);
  try {
    verdict::validate(file.contract, the_case.spec.format);
  } catch (const BadInput& error) {
    throw BadInput(showable(options.outputs_path), error);
  }
  auto judgement = verdict::judge(the_case, file.contract, file.outputs, thread_count());
  verdict::name_conventions(the_case, file.contract, file.outputs, judgement, thread_count());
  if (verdict::may_pass_another_contract(judgement)) {
    const verdict::FailingOutputs failing{the_case, file.outputs};
    const auto nearest = verdict::nearest_contract(file.contract, {&failing, 1}, thread_count());
    if (nearest) judgement.nearest_contract = nearest->match;
  }
  if (options.reports.prints_table()) {
    std::cout << fmt::format("{} {} {}: {}\n{}", file.kernel, cases::name(the_case.spec.bias),
                             cases::name(the_case.spec.format), verdict::name(judgement.outcome),
                             verdict::describe(judgement));
    if (judgement.ill_conditioned_rows > 0) {
      std::cout << fmt::format(
          "  {} of {} rows are ill-conditioned: only checked to lie in the convex hull of their "
          "values\n",
          judgement.ill_conditioned_rows, judgement.rows);
    }
  }
  if (json_report) {
    auto json = verdict::to_json(judgement);
    json["kernel"] = file.kernel;
    json["contract"] = cases::to_json(file.contract);
    json["case"] = options.case_path;
    json["outputs"] = options.outputs_path;
    json_report.write(to_text(json));
  }
  if (junit_report) junit_report.write(to_junit(file.kernel, judgement));
  if (page) {
    const auto report = report_of(options, the_case.spec, file, judgement);
    page->write(verdict::to_html(report));
  }
  return judgement.outcome == verdict::Outcome::pass ? all_right : verdict_against;
}

}  // namespace

void add_judge(CLI::App& app, Run& run) {
  auto options = std::make_shared<JudgeOptions>();
  auto* command =
      app.add_subcommand("judge", "Judge outputs that another program wrote (docs/case-format.md)");
  reads(
      command->add_option("case", options->case_path, "The case: a safetensors file")->required());
  reads(command
            ->add_option("outputs", options->outputs_path,
                         "Its outputs: a safetensors file with o and lse")
            ->required());
  add_contract_option(*command, options->contract, "the file's");
  add_report_options(*command, options->reports);
  add_page_option(*command, options->html);
  command->callback([options, &run] { run = [options] { return judge(*options); }; });
}

}  // namespace plumbline::cli
