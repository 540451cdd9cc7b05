// SPDX-License-Identifier: Apache-2.0
// The claims: their verdicts, their mutants, their counterexamples by hand, and what is written.
#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "proofs_checks/coverage.hpp"
#include "proofs_checks/report.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"

BOOST_AUTO_TEST_SUITE(claims_test)

using namespace plumbline::proofs_checks;

namespace {

const ClaimsReport& everything() {
  static const ClaimsReport report = run_claims();
  return report;
}

/// The first rigorous counterexample to the printed statement.
const Counterexample& counterexample(const std::string& id) {
  for (const ClaimResult& result : everything().results) {
    if (result.claim.id != id) continue;
    for (const Check& check : result.checks) {
      if (check.role == Role::statement && check.rigorous && check.counterexample) {
        return *check.counterexample;
      }
    }
  }
  throw std::logic_error(id + " has no counterexample");
}

std::vector<double> values(const Counterexample& found, const std::string& name) {
  for (const Quantity& quantity : found.sample.quantities) {
    if (quantity.name == name) return quantity.lower;
  }
  throw std::logic_error("no " + name);
}

std::string written(void (*write)(const ClaimsReport&, std::ostream&), const ClaimsReport& report) {
  std::ostringstream out;
  write(report, out);
  return out.str();
}

/// The verdict of each claim as docs/claims.md has it: "| `bam/theorem_1` | holds | ... |". Only
/// who renews the page changes it, so a derivation and its checks cannot drift together unseen.
std::map<std::string, std::string> verdicts_on_the_page() {
  std::map<std::string, std::string> verdicts;
  std::istringstream page(plumbline::read_file(PLUMBLINE_CLAIMS_PAGE));
  const std::regex row("\\| `([a-z0-9_/]+)` \\| (\\w+) \\|.*");
  std::smatch found;
  for (std::string line; std::getline(page, line);) {
    if (std::regex_match(line, found, row)) verdicts[found[1]] = found[2];
  }
  return verdicts;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_claim_has_the_verdict_that_was_derived_on_paper) {
  std::map<std::string, std::string> expected = verdicts_on_the_page();
  for (const ClaimResult& result : everything().results) {
    BOOST_TEST(expected[result.claim.id] == name(result.verdict), result.claim.id);
    BOOST_TEST(result.as_derived(), result.claim.id);
  }
  BOOST_TEST(expected.size() == everything().results.size());
  BOOST_TEST(everything().as_derived());
}

// That the theorems exist, and what they rest on, is for coq_assumptions.sh.
BOOST_AUTO_TEST_CASE(what_is_machine_checked_is_named_and_counted) {
  std::set<std::string> names;
  std::size_t true_ones = 0;
  for (const ClaimResult& result : everything().results) {
    const std::string& theorem = result.claim.theorem;
    if (theorem.empty()) continue;
    BOOST_TEST(names.insert(theorem).second, theorem << " is named twice");
    const bool refutes = theorem.ends_with("_fails");
    BOOST_TEST(refutes == (result.verdict == Verdict::refuted), result.claim.id);
    true_ones += refutes ? 0 : 1;
  }
  BOOST_TEST(true_ones >= 70u);
  BOOST_TEST(everything().machine_checked() == names.size());
  const std::string text = written(write_text, everything());
  BOOST_TEST(text.find("    machine-checked posterior.theorem_1\n") != std::string::npos);
  BOOST_TEST(text.find(std::to_string(names.size()) + " machine-checked, ") != std::string::npos);
  const nlohmann::json json = to_json(everything());
  for (const auto& claim : json["claims"]) {
    if (claim["id"] == "bam/theorem_1") BOOST_TEST(claim["theorem"] == "posterior.theorem_1");
    if (claim["id"] == "bam/table_8_sizes") BOOST_TEST(claim["theorem"].is_null());
  }
}

BOOST_AUTO_TEST_CASE(every_mutant_is_refuted_by_the_same_machinery) {
  for (const Claim& claim : all_claims()) {
    const std::vector<Check> checks = claim.mutant.checks();
    if (claim.proof.derived == Verdict::not_mathematical) {
      BOOST_TEST(checks.empty());
      continue;
    }
    BOOST_TEST(!claim.mutant.statement.empty(), claim.id);
    BOOST_TEST((verdict_of(claim, checks) == Verdict::refuted), claim.id);
  }
}

BOOST_AUTO_TEST_CASE(every_claim_says_where_it_stands_and_how_its_verdict_is_proved) {
  std::set<std::string> ids;
  for (const Claim& claim : all_claims()) {
    BOOST_TEST(ids.insert(claim.id).second, claim.id);
    for (const std::string& text : {claim.title, claim.source.paper, claim.source.version,
                                    claim.source.place, claim.statement, claim.proof.derivation}) {
      BOOST_TEST(!text.empty(), claim.id);
    }
    BOOST_TEST(!claim.implicit.empty(), claim.id);
    BOOST_TEST((claim.proof.derived == Verdict::holds_under_condition) ==
                   !condition_of(claim, claim.proof.derived).empty(),
               claim.id);
    if (claim.proof.derived != Verdict::holds_under_condition) BOOST_TEST(claim.condition.empty());
    if (claim.proof.derived == Verdict::refuted) BOOST_TEST(!claim.correction.empty(), claim.id);
  }
}

BOOST_AUTO_TEST_CASE(without_a_needed_hypothesis_the_verdict_is_another) {
  std::size_t needed = 0, not_needed = 0;
  for (const ClaimResult& result : everything().results) {
    const bool holds = result.verdict == Verdict::holds;
    const bool conditional = result.verdict == Verdict::holds_under_condition;
    if (conditional) BOOST_TEST(!result.hypotheses.empty(), result.claim.id);
    for (const HypothesisResult& one : result.hypotheses) {
      BOOST_TEST(one.as_marked(),
                 result.claim.id << ": " << one.hypothesis.text << ": " << one.problem);
      if (!holds && !conditional) continue;
      BOOST_TEST((one.hypothesis.need != Need::unexamined), result.claim.id);
      if (one.hypothesis.need == Need::needed) {
        ++needed;
        BOOST_TEST((one.without == Verdict::refuted), result.claim.id);
      }
      if (one.hypothesis.need == Need::not_needed) {
        ++not_needed;
        BOOST_TEST((one.without == Verdict::holds), result.claim.id);
      }
    }
  }
  BOOST_TEST(needed >= 140u);
  BOOST_TEST(not_needed >= 30u);
}

BOOST_AUTO_TEST_CASE(a_hypothesis_that_is_not_what_it_is_marked_as_is_a_failure) {
  ClaimsReport report = run_claims({"bam/theorem_1"});
  BOOST_TEST(report.as_derived());
  report.results[0].hypotheses[0].problem = "no witness";
  BOOST_TEST(!report.as_derived());
  BOOST_TEST(written(write_text, report).find("no witness") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_counterexample_says_at_which_of_several_places_it_is) {
  for (const ClaimResult& result : everything().results) {
    for (const Check& check : result.checks) {
      if (check.role != Role::statement || !check.rigorous || !check.counterexample) continue;
      BOOST_TEST(check.counterexample->found.find(": residual") == std::string::npos,
                 result.claim.id);
      BOOST_TEST(check.counterexample->found.rfind("residual", 0) == std::string::npos,
                 result.claim.id);
    }
  }
}

// The counterexamples, with nothing but <cmath>.
BOOST_AUTO_TEST_CASE(the_two_printed_expressions_of_z_differ_at_equal_scores) {
  const auto& found = counterexample("bam/z_ratio_as_printed");
  BOOST_TEST(values(found, "f") == (std::vector<double>{0, 0}), boost::test_tools::per_element());
  BOOST_TEST(values(found, "g") == (std::vector<double>{0, 0}), boost::test_tools::per_element());
  // Z_cont Z_pos / Z_joint = 2 * 2 / 2, sum of products = 1/2 * 1/2 + 1/2 * 1/2.
  BOOST_TEST(2.0 * 2.0 / 2.0 - 0.5 == 1.5);
}

BOOST_AUTO_TEST_CASE(another_distribution_overlaps_more_than_the_same_one) {
  const auto& found = counterexample("bam/z_overlap_maximal");
  const auto f = values(found, "f"), g = values(found, "g");
  BOOST_REQUIRE(f.size() == 2);
  const auto first = [](const std::vector<double>& s) { return 1 / (1 + std::exp(s[1] - s[0])); };
  const double p = first(f), q = first(g);
  BOOST_TEST(p * q + (1 - p) * (1 - q) > p * p + (1 - p) * (1 - p) + 0.06);
}

BOOST_AUTO_TEST_CASE(the_information_of_two_keys_exceeds_ln_2) {
  const auto& found = counterexample("bam/z_mutual_information");
  const auto f = values(found, "f"), g = values(found, "g");
  BOOST_REQUIRE(f.size() == 2);
  double content = 0, position = 0, joint = 0;
  for (int j = 0; j < 2; ++j) {
    content += std::exp(f[j]);
    position += std::exp(g[j]);
    joint += std::exp(f[j] + g[j]);
  }
  BOOST_TEST(std::log(content * position / joint) > std::log(2.0) + 0.2);
}

BOOST_AUTO_TEST_CASE(a_distant_weight_falls_below_a_tenth_with_beta_minus_1) {
  const auto& found = counterexample("bam/theorem_4");
  const double beta = values(found, "beta")[0], n = values(found, "n")[0];
  BOOST_TEST(values(found, "alpha")[0] == 1);
  double total = 0;
  for (int d = 1; d <= n; ++d) total += std::exp(-std::pow(d, beta));
  BOOST_TEST(std::exp(-std::pow(n, beta)) / total < values(found, "c")[0] - 0.05);
}

BOOST_AUTO_TEST_CASE(the_first_token_keeps_all_of_its_weight) {
  BOOST_TEST(values(counterexample("bam/theorem_3"), "keys")[0] == 1);
}

BOOST_AUTO_TEST_CASE(a_smaller_bias_gets_less_weight_at_distance_2) {
  const auto& found = counterexample("bam/theorem_2_weights");
  const double m = values(found, "m")[0], beta = values(found, "beta")[0];
  double alibi = 0, ggd = 0;
  for (int d = 0; d < values(found, "n")[0]; ++d) {
    alibi += std::exp(-m * d);
    ggd += std::exp(-m * std::pow(d, beta));
  }
  BOOST_TEST(std::pow(2.0, beta) < 2.0);
  BOOST_TEST(std::exp(-m * std::pow(2.0, beta)) / ggd < std::exp(-m * 2) / alibi - 0.02);
}

BOOST_AUTO_TEST_CASE(unbounded_content_holds_a_distant_weight_up_under_alibi) {
  const auto& found = counterexample("bam/lemma_3");
  const double m = values(found, "m")[0], n = values(found, "n")[0];
  double near = 0;
  for (int d = 0; d < n; ++d) near += std::exp(-m * d);
  BOOST_TEST(std::exp(m * n - m * n) / (1 + near) > (1 - std::exp(-m)) / (2 - std::exp(-m)) - 1e-9);
}

BOOST_AUTO_TEST_CASE(rope_is_ahead_on_single_2_at_4096_tokens) {
  const auto& found = counterexample("bam/table_4_outperforms");
  BOOST_TEST(values(found, "T")[0] == 4096);
  BOOST_TEST(values(found, "RoPE SSMax")[0] == 51.5);
  BOOST_TEST(values(found, "BAM")[0] == 23.5);
}

BOOST_AUTO_TEST_CASE(the_printed_cable_bias_is_positive) {
  const auto& found = counterexample("cable/penalises_distance");
  const auto f = values(found, "f"), g = values(found, "g");
  BOOST_REQUIRE(f.size() == 2);
  BOOST_TEST(g[0] * ((f[0] + f[1]) - f[0]) > 0);
}

BOOST_AUTO_TEST_CASE(sixteen_heads_do_not_have_halves_for_slopes) {
  BOOST_TEST(values(counterexample("cable/slope_half_power_h"), "H")[0] == 16);
  BOOST_TEST(std::exp2(-8.0 / 16) - 0.5 > 0.2);
}

// That the passages stand where the index says, and that no number is left out, is for coverage.py.
BOOST_AUTO_TEST_CASE(the_index_has_every_claim_and_a_reason_for_what_none_examines) {
  std::map<std::string, int> passages;
  for (const Claim& claim : all_claims()) passages[claim.id] = 0;
  for (const Document& document : coverage()) {
    BOOST_TEST(document.passages.size() > 5u, document.name);
    BOOST_TEST(document.sha256.size() == 64u, document.name);
    for (const Passage& one : document.passages) {
      const std::string where = document.name + ": " + one.begins;
      for (const std::string& id : one.claims) {
        BOOST_TEST(passages.count(id) == 1u, where << " names " << id << ", which is no claim");
        ++passages[id];
      }
      BOOST_TEST(one.claims.empty() != one.reason.empty(), where);
      BOOST_TEST((!one.begins.empty() && one.begins.size() <= 60), where);
      BOOST_TEST((!one.kind.empty() && !one.place.empty() && !one.says.empty()), where);
    }
  }
  for (const auto& [id, number] : passages) BOOST_TEST(number > 0, id << " is in no passage");
}

BOOST_AUTO_TEST_CASE(the_index_is_printed_whole_or_of_some_papers_or_claims) {
  const auto text = [](const std::vector<std::string>& ids) {
    std::ostringstream out;
    write_text(coverage(ids), out);
    return out.str();
  };
  for (const char* part :
       {"examined by", "with the reason why not", "bam/theorem_1", "not examined: "}) {
    BOOST_TEST(text({}).find(part) != std::string::npos, part);
  }
  BOOST_TEST(text({"alibi"}).find("bam/theorem_1") == std::string::npos);
  BOOST_TEST(text({"bam/theorem_1"}).find("not examined: ") == std::string::npos);
  BOOST_TEST(to_json(coverage({"cable"}))["documents"].size() == 3u);
  BOOST_CHECK_THROW(coverage({"bam/theorem_1", "bam/no_theorem"}), plumbline::BadInput);
}

BOOST_AUTO_TEST_CASE(claims_are_selected_by_id_and_by_paper) {
  BOOST_TEST(run_claims({"bam/z_sum"}).results.size() == 1);
  const auto of_cable = run_claims({"cable"}).results;
  BOOST_TEST(!of_cable.empty());
  BOOST_TEST(of_cable.size() < everything().results.size());
  BOOST_TEST(run_claims({"cable", "cable/penalises_distance"}).results.size() == of_cable.size());
  for (const char* unknown : {"bam/z", "", "bam/", "CABLE"}) {
    BOOST_CHECK_THROW(run_claims({"bam/z_sum", unknown}), plumbline::BadInput);
  }
}

BOOST_AUTO_TEST_CASE(the_json_report_is_the_same_each_time_and_has_every_check) {
  const nlohmann::json json = to_json(everything());
  BOOST_TEST(json.dump() == to_json(run_claims()).dump());
  BOOST_TEST(json["as_derived"] == true);
  BOOST_TEST(json["claims"].size() == everything().results.size());
  const auto claim = [&](const std::string& id) {
    return *std::find_if(json["claims"].begin(), json["claims"].end(),
                         [&](const nlohmann::json& one) { return one["id"] == id; });
  };
  BOOST_TEST(json["claims"][0]["id"] == "bam/definition_1");
  BOOST_TEST(claim("bam/theorem_1")["checks"].size() == 3u);
  BOOST_TEST(claim("bam/theorem_1")["checks"][0]["samples"] == 69);
  const nlohmann::json additive = claim("bam/theorem_1")["hypotheses"][0];
  BOOST_TEST(additive["need"] == "needed");
  BOOST_TEST(additive["origin"] == "stated");
  BOOST_TEST(additive["without"] == "refuted");
  BOOST_TEST(additive["checks"][1]["counterexample"]["numbers"]["g"]["lower"] ==
             (std::vector<double>{2, 0}));
  BOOST_TEST(
      claim("bam/z_ratio_as_printed")["checks"][1]["counterexample"]["numbers"]["f"]["lower"] ==
      (std::vector<double>{0, 0}));
}

BOOST_AUTO_TEST_CASE(a_verdict_against_the_derivation_is_a_failure_in_every_report) {
  ClaimsReport report = run_claims({"bam/z_sum"});
  BOOST_TEST(report.as_derived());
  report.results[0].verdict = Verdict::refuted;
  BOOST_TEST(!report.as_derived());
  BOOST_TEST(to_json(report)["as_derived"] == false);
  BOOST_TEST(written(write_text, report).find("NOT AS DERIVED") != std::string::npos);
  std::istringstream xml(written(write_junit, report));
  boost::property_tree::ptree tree;
  boost::property_tree::read_xml(xml, tree);
  BOOST_TEST(tree.get<int>("testsuites.testsuite.<xmlattr>.failures") == 1);
  BOOST_TEST(tree.get<std::string>("testsuites.testsuite.testcase.failure.<xmlattr>.message") ==
             "the checks give refuted, the derivation holds");
}

BOOST_AUTO_TEST_CASE(an_unsupported_correction_is_a_failure) {
  ClaimsReport report = run_claims({"bam/z_renormalisation"});
  BOOST_TEST(report.as_derived());
  for (Check& check : report.results[0].checks) {
    if (check.role == Role::correction) check.outcome = Outcome::undecided;
  }
  BOOST_TEST(!report.as_derived());
}

BOOST_AUTO_TEST_CASE(the_text_report_names_verdict_counterexample_and_what_is_true_instead) {
  const std::string text = written(write_text, run_claims({"bam/z_ratio_as_printed"}));
  for (const char* part : {"bam/z_ratio_as_printed", "refuted", "f = (0, 0), g = (0, 0)",
                           "true instead    Z_joint / (Z_cont Z_pos)"}) {
    BOOST_TEST(text.find(part) != std::string::npos, part);
  }
}

BOOST_AUTO_TEST_CASE(the_page_of_claims_is_what_the_program_writes) {
  BOOST_TEST(plumbline::read_file(PLUMBLINE_CLAIMS_PAGE) == written(write_markdown, everything()),
             "docs/claims.md is not current; write it with: plumbline claims --markdown");
}

BOOST_AUTO_TEST_SUITE_END()
