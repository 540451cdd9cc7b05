// SPDX-License-Identifier: Apache-2.0
// A report as SARIF, the format in which code hosts take the findings of tools.
#include <fmt/format.h>

#include <map>

#include "verdict/cases/case_file.hpp"
#include "verdict/conventions/lax_fields.hpp"
#include "verdict/report/report.hpp"

namespace plumbline::verdict {
namespace {

using nlohmann::ordered_json;

/// A path as a URI (RFC 3986): other bytes than unreserved ones and / as %XX.
std::string uri_of(const std::string& path) {
  std::string uri;
  for (const unsigned char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(static_cast<char>(c)) != std::string::npos;
    uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return uri;
}

std::string rule_of(const CellResult& cell) {
  if (cell.outcome == Outcome::undecided) return "undecided";
  const std::string& kind = cell.counterexample->judgement.kind;
  return kind.empty() ? "outside_bound" : kind;
}

}  // namespace

ordered_json to_sarif(const VerifyReport& report) {
  ordered_json rules = ordered_json::array(), results = ordered_json::array();
  std::map<std::string, int> rule_index;
  for (const auto& cell : report.cells) {
    if (!cell.counterexample) continue;
    const std::string rule = rule_of(cell);
    const auto [found, is_new] = rule_index.try_emplace(rule, static_cast<int>(rules.size()));
    if (is_new) rules.push_back({{"id", rule}});
    const ordered_json place = {
        {"physicalLocation",
         {{"artifactLocation", {{"uri", uri_of(report.artifact)}}},
          {"region", {{"startLine", 1}}}}},
        {"logicalLocations", ordered_json::array({{{"name", cell.kernel}, {"kind", "function"}}})}};
    ordered_json matches = ordered_json::array();
    for (const auto& match : cell.counterexample->judgement.matches) matches.push_back(match.name);
    results.push_back({{"ruleId", rule},
                       {"ruleIndex", found->second},
                       {"level", cell.outcome == Outcome::fail ? "error" : "warning"},
                       {"message", {{"text", describe_failure(report, cell)}}},
                       {"locations", ordered_json::array({place})},
                       {"partialFingerprints", {{"cell/v1", label(cell)}}},
                       {"properties", {{"matches", matches}}}});
  }
  // A pass has no result: what it covers stands beside the results.
  ordered_json checked = ordered_json::array();
  for (const auto& cell : report.cells) {
    if (cell.cases == 0) continue;
    checked.push_back({{"kernel", cell.kernel},
                       {"pass", cases::name(cell.pass)},
                       {"bias", cases::name(cell.bias)},
                       {"format", cases::name(cell.format)},
                       {"cases", cell.cases},
                       {"outcome", name(cell.outcome)},
                       {"judged_on", in_words(cell.cover)},
                       {"contract", in_words(lax_fields(cell.contract, cell.format))},
                       {"declined", cell.declined},
                       {"not_seen", cell.blind_outputs()}});
  }
  const ordered_json driver = {{"name", "plumbline"}, {"rules", std::move(rules)}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", ordered_json::array({{{"tool", {{"driver", driver}}},
                                         {"results", std::move(results)},
                                         {"properties", {{"checked", std::move(checked)}}}}})}};
}

}  // namespace plumbline::verdict
