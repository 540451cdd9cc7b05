// SPDX-License-Identifier: Apache-2.0
// The table on the terminal, and JUnit.
#include <fmt/format.h>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>

#include "proofs_checks/report.hpp"
#include "support/text.hpp"

namespace plumbline::proofs_checks {
namespace {

std::size_t samples(const ClaimResult& result) {
  std::size_t most = 0;
  for (const Check& check : result.checks) most = std::max(most, check.samples);
  return most;
}

std::string why_not_as_derived(const ClaimResult& result) {
  if (result.verdict != result.claim.proof.derived) {
    return fmt::format("the checks give {}, the derivation {}", name(result.verdict),
                       name(result.claim.proof.derived));
  }
  for (const HypothesisResult& one : result.hypotheses) {
    if (!one.as_marked()) {
      return fmt::format("the hypothesis \"{}\": {}", one.hypothesis.text, one.problem);
    }
  }
  return "a check of the correction is not supported";
}

/// "3 (2 needed)": how many hypotheses, and how many of them have a witness.
std::string hypothesis_count(const ClaimResult& result) {
  const auto needed =
      std::count_if(result.hypotheses.begin(), result.hypotheses.end(),
                    [](const auto& one) { return one.hypothesis.need == Need::needed; });
  return fmt::format("{}/{}", needed, result.hypotheses.size());
}

/// Where a hypothesis fails, and the claim with it. The condition's own witness is the claim's
/// counterexample, which stands above.
void write_witnesses(const ClaimResult& result, std::ostream& out) {
  for (const HypothesisResult& one : result.hypotheses) {
    if (one.hypothesis.checks.empty()) continue;
    out << "    without         " << one.hypothesis.text << "\n"
        << "                    " << name(one.without);
    if (const Check* check = refuting(one.checks)) out << ": " << in_words(*check->counterexample);
    out << "\n";
  }
}

}  // namespace

void write_text(const ClaimsReport& report, std::ostream& out) {
  out << fmt::format("{:<34} {:<22} {:>6} {:>8} {:>10} {:>8}\n", "claim", "verdict", "checks",
                     "samples", "hypotheses", "seconds");
  for (const ClaimResult& result : report.results) {
    out << fmt::format("{:<34} {:<22} {:>6} {:>8} {:>10} {:>8.2f}\n", result.claim.id,
                       name(result.verdict), result.checks.size(), samples(result),
                       hypothesis_count(result), result.seconds);
    if (const Check* check = result.counterexample()) {
      out << "    counterexample  " << in_words(*check->counterexample) << " (" << check->reading
          << ")\n";
    }
    if (!result.claim.theorem.empty()) {
      out << "    machine-checked " << result.claim.theorem << "\n";
    }
    if (result.verdict == Verdict::holds_under_condition) {
      out << "    holds if        " << result.condition() << "\n";
    }
    if (result.verdict == Verdict::refuted && !result.claim.correction.empty()) {
      out << "    true instead    " << result.claim.correction << "\n";
    }
    write_witnesses(result, out);
    if (!result.as_derived()) out << "    NOT AS DERIVED  " << why_not_as_derived(result) << "\n";
  }
  std::string verdicts;
  for (const Verdict verdict : {Verdict::holds, Verdict::holds_under_condition, Verdict::refuted,
                                Verdict::undecided, Verdict::not_mathematical}) {
    const auto number = std::ranges::count(report.results, verdict, &ClaimResult::verdict);
    if (number == 0) continue;
    verdicts += fmt::format("{}{} {}", verdicts.empty() ? "" : ", ", number, name(verdict));
  }
  out << fmt::format(
      "{}: {}; {} machine-checked, {}\n", counted(report.results.size(), "claim"), verdicts,
      report.machine_checked(),
      report.as_derived() ? "every verdict as derived" : "some verdicts not as derived");
}

void write_junit(const ClaimsReport& report, std::ostream& out) {
  boost::property_tree::ptree suite;
  suite.put("<xmlattr>.name", "plumbline claims");
  suite.put("<xmlattr>.tests", report.results.size());
  suite.put("<xmlattr>.failures",
            std::count_if(report.results.begin(), report.results.end(),
                          [](const ClaimResult& result) { return !result.as_derived(); }));
  for (const ClaimResult& result : report.results) {
    boost::property_tree::ptree test;
    const std::string& id = result.claim.id;
    test.put("<xmlattr>.classname", "claims." + id.substr(0, id.find('/')));
    test.put("<xmlattr>.name", id.substr(id.find('/') + 1));
    test.put("<xmlattr>.time", fmt::format("{:.3f}", result.seconds));
    if (!result.as_derived()) test.put("failure.<xmlattr>.message", why_not_as_derived(result));
    std::string found(name(result.verdict));
    if (const Check* check = result.counterexample())
      found += ": " + in_words(*check->counterexample);
    test.put("system-out", found);
    suite.add_child("testcase", test);
  }
  boost::property_tree::ptree root;
  root.add_child("testsuites.testsuite", suite);
  boost::property_tree::write_xml(
      out, root, boost::property_tree::xml_writer_make_settings<std::string>(' ', 2));
}

}  // namespace plumbline::proofs_checks
