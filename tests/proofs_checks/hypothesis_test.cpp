// SPDX-License-Identifier: Apache-2.0
// A hypothesis is what it is marked as only if the numbers where it alone fails say so.
#include <boost/test/unit_test.hpp>

#include "proofs_checks/statement.hpp"

BOOST_AUTO_TEST_SUITE(hypothesis_test)

using namespace plumbline::proofs_checks;

namespace {

Sample at(double x, double y = 1) { return {{"x", x}, {"y", y}}; }

const Statement is_positive = above_zero<"x">([]<class R>(R x) { return x; });

Checks positive(const std::vector<Sample>& samples) { return check("x > 0", is_positive, samples); }

Hypothesis needs(const Sample& witness) { return needed("H", "why", positive({witness})); }

Hypothesis does_not_need(const Sample& sample) {
  return not_needed("H", "why", positive({sample}));
}

/// x > 0 wherever the hypotheses hold.
Claim claim_with(std::vector<Hypothesis> hypotheses) {
  Claim claim;
  claim.checks = positive({at(1), at(2)});
  claim.hypotheses = std::move(hypotheses);
  return claim;
}

std::vector<HypothesisResult> dropped(const Claim& claim) {
  return drop_each(claim, claim.checks());
}

HypothesisResult dropped(const Hypothesis& hypothesis) {
  return dropped(claim_with({hypothesis})).at(0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_witness_makes_a_hypothesis_needed_and_its_loss_refutes_the_claim) {
  const HypothesisResult result = dropped(needs(at(-1)));
  BOOST_TEST(result.as_marked(), result.problem);
  BOOST_TEST((result.without == Verdict::refuted));
  BOOST_TEST((result.origin == Origin::stated));
  BOOST_TEST(result.checks.size() == 3u);
}

BOOST_AUTO_TEST_CASE(without_a_witness_a_hypothesis_is_not_needed) {
  const HypothesisResult result = dropped(needs(at(1)));
  BOOST_TEST(!result.as_marked());
  BOOST_TEST((result.without == Verdict::holds));
}

BOOST_AUTO_TEST_CASE(a_witness_at_one_precision_is_none) {
  for (std::size_t gone : {1u, 2u}) {
    const HypothesisResult result = dropped(needed("H", "why", [=] {
      std::vector<Check> checks = positive({at(-1)})();
      checks.erase(checks.begin() + static_cast<std::ptrdiff_t>(gone));
      return checks;
    }));
    BOOST_TEST(!result.as_marked());
  }
  // A box on which the sign is open at either precision.
  BOOST_TEST(!dropped(needs({within("x", -1, 1)})).as_marked());
}

BOOST_AUTO_TEST_CASE(a_hypothesis_is_not_needed_if_the_statement_holds_where_it_fails) {
  const HypothesisResult result = dropped(does_not_need(at(3)));
  BOOST_TEST(result.as_marked(), result.problem);
  BOOST_TEST((result.without == Verdict::holds));
  BOOST_TEST(!dropped(does_not_need(at(-3))).as_marked());
  BOOST_TEST((dropped(does_not_need(at(-3))).without == Verdict::refuted));
  BOOST_TEST(!dropped(not_needed("H", "why", positive({}))).as_marked());
}

BOOST_AUTO_TEST_CASE(a_definition_has_a_reason_and_no_checks) {
  const HypothesisResult result = dropped(definition("H", "why"));
  BOOST_TEST(result.as_marked(), result.problem);
  BOOST_TEST((result.without == Verdict::not_mathematical));
  BOOST_TEST(!dropped(definition("H", "")).as_marked());
  Hypothesis checked = definition("H", "why");
  checked.checks = positive({at(1)});
  BOOST_TEST(!dropped(checked).as_marked());
}

BOOST_AUTO_TEST_CASE(a_claim_that_holds_has_no_unexamined_hypothesis) {
  const HypothesisResult result = dropped(Hypothesis("H"));
  BOOST_TEST(result.problem == "it is not said what follows without it");
  BOOST_TEST((result.without == Verdict::undecided));
}

BOOST_AUTO_TEST_CASE(
    the_hypotheses_of_a_refuted_claim_may_be_unexamined_those_of_its_correction_not) {
  Claim claim = claim_with({Hypothesis("of the statement")});
  claim.checks = {positive({at(-1)}), correction("x > 0", is_positive, {at(1)})};
  claim.correction_hypotheses = {Hypothesis("of the correction")};
  std::vector<HypothesisResult> results = dropped(claim);
  BOOST_REQUIRE(results.size() == 2u);
  BOOST_TEST(results[0].as_marked(), results[0].problem);
  BOOST_TEST((results[1].origin == Origin::correction));
  BOOST_TEST(!results[1].as_marked());
  claim.correction_hypotheses = {needs(at(-2))};
  BOOST_TEST(dropped(claim)[1].as_marked());
  BOOST_TEST((dropped(claim)[1].without == Verdict::refuted));
}

BOOST_AUTO_TEST_CASE(a_condition_in_one_part_is_dropped_by_the_printed_statement) {
  Claim claim = claim_with({});
  claim.condition = "x > 0";
  claim.checks = {positive({at(-1)}), condition("x > 0", is_positive, {at(1)})};
  const std::vector<HypothesisResult> results = dropped(claim);
  BOOST_REQUIRE(results.size() == 1u);
  BOOST_TEST((results[0].origin == Origin::condition));
  BOOST_TEST((results[0].without == Verdict::refuted));
  BOOST_TEST(results[0].as_marked(), results[0].problem);
}

// What follows from stated hypotheses alone holds; what needs another one holds under that
// condition.
BOOST_AUTO_TEST_CASE(a_needed_hypothesis_that_is_not_stated_is_a_condition) {
  const auto verdict = [](const Claim& claim) { return verdict_of(claim, claim.checks()); };
  Claim stated = claim_with({needs(at(-1))});
  BOOST_TEST((verdict(stated) == Verdict::holds));
  BOOST_TEST(condition_of(stated, Verdict::holds).empty());
  Claim claim = claim_with({});
  claim.implicit = {does_not_need(at(1)), definition("what x is", "why")};
  BOOST_TEST((verdict(claim) == Verdict::holds));
  Hypothesis left_out = needs(at(-1));
  left_out.text = "x > 0.";
  claim.implicit.push_back(left_out);
  BOOST_TEST((verdict(claim) == Verdict::holds_under_condition));
  BOOST_TEST(condition_of(claim, Verdict::holds_under_condition) == "x > 0.");
  const std::vector<HypothesisResult> results = dropped(claim);
  BOOST_REQUIRE(results.size() == 3u);
  BOOST_TEST(results[2].as_marked(), results[2].problem);
  BOOST_TEST((results[2].without == Verdict::refuted));
  // Beside a condition of the statement as printed both are told.
  claim.condition = "y > 0.";
  BOOST_TEST(condition_of(claim, Verdict::holds_under_condition) == "y > 0. x > 0.");
}

BOOST_AUTO_TEST_CASE(each_part_of_a_condition_is_dropped_alone) {
  Claim claim = claim_with({});
  claim.condition = "x > 0 and y > 0";
  claim.conditions = {needs(at(-1)), does_not_need(at(1))};
  claim.checks = {positive({at(-1)}), condition("x > 0", is_positive, {at(1)})};
  const std::vector<HypothesisResult> results = dropped(claim);
  BOOST_REQUIRE(results.size() == 2u);
  BOOST_TEST((results[0].without == Verdict::refuted));
  BOOST_TEST((results[1].without == Verdict::holds));
}

BOOST_AUTO_TEST_CASE(a_witness_violates_its_own_hypothesis_and_no_other) {
  Hypothesis on_x = needs(at(-1));
  on_x.domain = Domain{"x", above(0)};
  BOOST_TEST(dropped(on_x).as_marked());
  // The statement fails there, but the hypothesis does not.
  Hypothesis elsewhere = needs(at(-1, 1));
  elsewhere.domain = Domain{"y", above(0)};
  BOOST_TEST(!dropped(elsewhere).as_marked());
  // Another hypothesis fails as well.
  const Hypothesis on_y = definition({"y > 0", "y", above(0)}, "why");
  Hypothesis both = needs(at(-1, -1));
  both.domain = Domain{"x", above(0)};
  BOOST_TEST(dropped(claim_with({on_x, on_y}))[0].as_marked());
  BOOST_TEST(!dropped(claim_with({both, on_y}))[0].as_marked());
}

BOOST_AUTO_TEST_CASE(what_a_verdict_rests_on_is_examined_where_its_needed_hypotheses_hold) {
  Hypothesis narrow = needs(at(-1));
  narrow.domain = Domain{"x", above(1.5)};
  BOOST_TEST(!dropped(narrow).as_marked());  // the claim's own sample at 1 lies outside
}

BOOST_AUTO_TEST_CASE(ranges_are_open_or_closed_and_boxes_lie_in_them_as_a_whole) {
  const auto inside = [](const Range& range, double lower, double upper) {
    return Domain{"x", range}.contains({"x", {lower}, {upper}});
  };
  const auto outside = [](const Range& range, double lower, double upper) {
    return Domain{"x", range}.excludes({"x", {lower}, {upper}});
  };
  BOOST_TEST(!inside(above(0), 0, 1));
  BOOST_TEST(inside(at_least(0), 0, 1));
  BOOST_TEST(!inside(below(1), 0, 1));
  BOOST_TEST(inside(at_most(1), 0, 1));
  BOOST_TEST(inside(exactly(2), 2, 2));
  BOOST_TEST(!inside(exactly(2), 2, 3));
  BOOST_TEST(outside(above(0), -1, 0));
  BOOST_TEST(!outside(at_least(0), -1, 0));
  BOOST_TEST(outside(below(1), 1, 2));
  BOOST_TEST(!outside(at_most(1), 1, 2));
  BOOST_TEST(!outside(above(0), -1, 1));
  // One component outside is enough to violate, all have to lie inside to satisfy.
  const Quantity mixed{"x", {1, -1}, {1, -1}};
  BOOST_TEST((Domain{"x", above(0)}.excludes(mixed)));
  BOOST_TEST((!Domain{"x", above(0)}.contains(mixed)));
}

BOOST_AUTO_TEST_CASE(a_counterexample_is_told_in_the_words_of_its_check) {
  const auto words = [](const std::string& what, const Sample& sample) {
    const auto third = above_zero<"x">([]<class R>(R x) { return x / R(3.0); });
    return in_words(*refuting(check(what, third, {sample})())->counterexample);
  };
  BOOST_TEST(words("any beta: x / 3 > 0 at every key", {{"x", -1}}) ==
             "At x = -1: any beta: x / 3 = -0.3333, not > 0 at every key");
  BOOST_TEST(words("x / 3 > 0, ten times", {{"x", -1}}) ==
             "At x = -1: x / 3 = -0.3333, not > 0, ten times");
  BOOST_TEST(words("x / 3 > 0", {within("x", -2, -1)}) ==
             "At x in [-2, -1]: x / 3 is in [-0.6667, -0.3333], not > 0");
  // Of several residuals, or where the words do not end in the relation, the words are quoted.
  for (const char* what : {"x > 0 and y > 0", "p > 0 and x / 3 > 0", "x is ahead", "x > 0.5"}) {
    BOOST_TEST(words(what, {{"x", -0.1}}) ==
               "At x = -0.1: \"" + std::string(what) +
                   "\" is false: a residual that should be > 0 is -0.03333");
  }
  const auto placed = equals_zero<"x">([]<class R>(R x) {
    return std::vector<Placed<R>>{{x, "j = 2"}};
  });
  BOOST_TEST(in_words(*refuting(check("p_j = 0", placed, {{{"x", 2}}})())->counterexample) ==
             "At x = 2: p_j = 2 at j = 2, not = 0");
}

BOOST_AUTO_TEST_CASE(of_a_long_row_of_a_table_a_counterexample_tells_what_the_statement_names) {
  const auto ahead = above_zero<"BAM", "RoPE">([]<class R>(R bam, R rope) { return bam - rope; });
  const auto words = [&](const Sample& row) {
    return in_words(*refuting(check("BAM is ahead of RoPE", ahead, {row})())->counterexample);
  };
  const std::string found =
      "\"BAM is ahead of RoPE\" is false: a residual that should be > 0 is in [-29, -27]";
  Sample row = {{"T", 4096}, printed("RoPE", 52), printed("BAM", 24), {"NoPE", 1}};
  BOOST_TEST(words(row) ==
             "At T = 4096, RoPE in [51.5, 52.5], BAM in [23.5, 24.5], NoPE = 1: " + found);
  for (const char* other : {"a1", "a2", "a3", "a4", "a5", "a6"}) row.with({other, 0});
  BOOST_TEST(words(row) == "At T = 4096, RoPE in [51.5, 52.5], BAM in [23.5, 24.5], ...: " + found);
  // Where nothing would be left, everything is told.
  const auto negative =
      equals_zero([]<class R>(const Inputs<R>& in) { return in.number("a1") + R(1.0); });
  Sample many;
  for (const char* name : {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10"})
    many.with({name, 0});
  BOOST_TEST(in_words(*refuting(check("no name", negative, {many})())->counterexample)
                 .starts_with("At a1 = 0, a2 = 0, "));
}

BOOST_AUTO_TEST_CASE(a_counterexample_says_which_residual_it_is) {
  // Readings by enclosures say in what interval a residual lies.
  const auto found_by_enclosure = [](const std::vector<Check>& checks) {
    for (const Check& check : checks) {
      if (check.counterexample && check.counterexample->found.find(" lies in") != std::string::npos)
        return check.counterexample->found;
    }
    return std::string("no counterexample by enclosure");
  };
  const Statement y_then_x = above_zero<"x", "y">([]<class R>(R x, R y) {
    return std::vector<R>{y, x};
  });
  const Statement with_places = above_zero<"x", "y">([]<class R>(R x, R y) {
    return std::vector<Placed<R>>{{y, "y"}, {x, "the place of x"}};
  });
  const auto two = found_by_enclosure(check("", y_then_x, {at(-1)})());
  const auto named = found_by_enclosure(check("", with_places, {at(-1)})());
  BOOST_TEST(two.find("residual 2 of 2 lies in [-1, -1]") == 0u, two);
  BOOST_TEST(named.find("the residual at the place of x lies in") == 0u, named);
}

BOOST_AUTO_TEST_SUITE_END()
