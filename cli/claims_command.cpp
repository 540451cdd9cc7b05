// SPDX-License-Identifier: Apache-2.0
// plumbline claims: the papers' claims, checked.
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/command.hpp"
#include "cli/page_folder.hpp"
#include "proofs_checks/coverage.hpp"
#include "proofs_checks/page/page.hpp"
#include "proofs_checks/report.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::cli {
namespace {

struct ClaimsOptions {
  std::vector<std::string> ids;
  std::string markdown, html;
  bool coverage = false;
  ReportOptions reports;
};

/// A paper is named like its folder, to which shells add a slash.
std::vector<std::string> without_slashes(std::vector<std::string> ids) {
  for (std::string& id : ids) {
    if (id.ends_with('/')) id.pop_back();
  }
  return ids;
}

/// A claim after --json, whose file may be left out, is taken for a file.
void expect_no_claim(const std::string& option, const std::string& file) {
  if (!file.empty() && proofs_checks::names_claims(file)) {
    throw BadInput(option, in_quotes(file),
                   "a file: the claims stand before the option, or the option is " + option + " -");
  }
}

int check(const ClaimsOptions& options) {
  expect_no_claim("--json", options.reports.json);
  expect_no_claim("--junit", options.reports.junit);
  expect_no_claim("--markdown", options.markdown);
  Report json(options.reports.json), junit(options.reports.junit), markdown(options.markdown);
  std::optional<PageFolder> page;
  if (!options.html.empty()) page.emplace("--html", options.html, proofs_checks::page_generator);
  if (options.coverage) {
    const auto documents = proofs_checks::coverage(without_slashes(options.ids));
    if (options.reports.prints_table()) proofs_checks::write_text(documents, std::cout);
    if (json) json.write(to_text(proofs_checks::to_json(documents)));
    return all_right;
  }
  const auto report = proofs_checks::run_claims(without_slashes(options.ids));
  if (options.reports.prints_table() && options.markdown != "-") {
    proofs_checks::write_text(report, std::cout);
  }
  const auto text = [&](auto writer) {
    std::ostringstream out;
    writer(report, out);
    return out.str();
  };
  if (json) json.write(to_text(proofs_checks::to_json(report)));
  if (junit) junit.write(text(proofs_checks::write_junit));
  if (markdown) markdown.write(text(proofs_checks::write_markdown));
  if (page) page->write(proofs_checks::html(report));
  return report.as_derived() ? all_right : verdict_against;
}

}  // namespace

void add_claims(CLI::App& app, Run& run) {
  auto options = std::make_shared<ClaimsOptions>();
  auto* command = app.add_subcommand("claims", claims_description);
  command->add_option("ids", options->ids,
                      "Only these claims, e.g. bam/theorem_1; or a paper: bam");
  auto* coverage = command->add_flag(
      "--coverage", options->coverage,
      "Print the index of what the papers say, with the claims that examine it, or why none does");
  add_report_options(*command, options->reports);
  add_report_option(*command, "--markdown", options->markdown,
                    "Write docs/claims.md to FILE (default: -)");
  add_page_option(*command, options->html);
  exclude(*command, coverage, {"--junit", "--markdown", "--html"});
  command->footer(
      "Without --coverage exit status 1 if a verdict differs from what its derivation proves; a "
      "refuted claim is a "
      "result, not a failure.");
  command->callback([options, &run] { run = [options] { return check(*options); }; });
}

}  // namespace plumbline::cli
