// SPDX-License-Identifier: Apache-2.0
// Verdicts follow from checks by the rules of claim.hpp, and checks from statements.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "proofs_checks/samples.hpp"
#include "proofs_checks/statement.hpp"
#include "proofs_checks/tables.hpp"

BOOST_AUTO_TEST_SUITE(machinery_test)

using namespace plumbline::proofs_checks;
namespace reference = plumbline::reference;

namespace {

Check result_of(Role role, const std::string& reading, Outcome outcome, std::size_t samples = 1) {
  Check result;
  result.role = role;
  result.reading = reading;
  result.rigorous = reading != "double";
  result.samples = samples;
  result.outcome = outcome;
  if (outcome == Outcome::refuted) result.counterexample = Counterexample{};
  return result;
}

std::vector<Check> three(Role role, Outcome outcome) {
  return {result_of(role, "double", outcome), result_of(role, "coarse", outcome),
          result_of(role, "fine", outcome)};
}

/// The residual is the input itself.
const auto itself = []<class R>(R x) { return x; };
const Statement is_zero = equals_zero<"x">(itself);
const Statement is_at_least_zero = at_least_zero<"x">(itself);
const Statement is_above_zero = above_zero<"x">(itself);

/// x - 1/3 three times, minus (3 x - 1): zero, though not in floating point.
const Statement thirds_cancel = equals_zero<"x">([]<class R>(R x) {
  const R y = x - R(1.0) / R(3.0);
  return y + y + y - (R(3.0) * x - R(1.0));
});

const Statement says_nothing =
    equals_zero([]<class R>(const Inputs<R>&) { return std::vector<R>{}; });

Sample point(double x) { return {{"x", x}}; }
Sample box(double lower, double upper) { return {within("x", lower, upper)}; }

Verdict verdict(const std::vector<Check>& checks, const std::string& condition = "") {
  Claim claim;
  claim.condition = condition;
  claim.proof.derived = Verdict::holds;
  return verdict_of(claim, checks);
}

Verdict verdict_at(const Statement& statement, const std::vector<Sample>& samples) {
  return verdict(check("", statement, samples)());
}

Verdict verdict_that_some(const std::vector<Sample>& boxes) {
  return verdict(exists("", is_zero, boxes)());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_claim_without_checks_is_undecided_unless_it_is_not_mathematical) {
  Claim claim;
  claim.proof.derived = Verdict::holds;
  BOOST_TEST((verdict_of(claim, {}) == Verdict::undecided));
  claim.proof.derived = Verdict::not_mathematical;
  BOOST_TEST((verdict_of(claim, {}) == Verdict::not_mathematical));
  BOOST_TEST((verdict_of(claim, three(Role::statement, Outcome::supported)) == Verdict::holds));
}

BOOST_AUTO_TEST_CASE(a_claim_holds_when_double_and_two_precisions_support_it) {
  BOOST_TEST((verdict(three(Role::statement, Outcome::supported)) == Verdict::holds));
}

BOOST_AUTO_TEST_CASE(a_claim_never_holds_on_an_empty_sample) {
  for (std::size_t empty = 0; empty < 3; ++empty) {
    std::vector<Check> checks = three(Role::statement, Outcome::supported);
    checks[empty].samples = 0;
    BOOST_TEST((verdict(checks) == Verdict::undecided));
  }
  BOOST_TEST((verdict_at(is_zero, {}) == Verdict::undecided));
  BOOST_TEST((verdict_at(says_nothing, {point(0)}) == Verdict::undecided));
  BOOST_TEST((verdict_that_some({}) == Verdict::undecided));
}

BOOST_AUTO_TEST_CASE(a_claim_does_not_hold_when_a_reading_is_missing_or_undecided) {
  for (std::size_t gone = 0; gone < 3; ++gone) {
    std::vector<Check> checks = three(Role::statement, Outcome::supported);
    checks.erase(checks.begin() + static_cast<std::ptrdiff_t>(gone));
    BOOST_TEST((verdict(checks) == Verdict::undecided));
    checks = three(Role::statement, Outcome::supported);
    checks[gone].outcome = Outcome::undecided;
    BOOST_TEST((verdict(checks) == Verdict::undecided));
  }
  std::vector<Check> same_precision = three(Role::statement, Outcome::supported);
  same_precision[2].reading = same_precision[1].reading;
  BOOST_TEST((verdict(same_precision) == Verdict::undecided));
}

BOOST_AUTO_TEST_CASE(double_alone_does_not_refute) {
  std::vector<Check> checks = three(Role::statement, Outcome::supported);
  checks[0] = result_of(Role::statement, "double", Outcome::refuted);
  BOOST_TEST((verdict(checks) == Verdict::undecided));
}

BOOST_AUTO_TEST_CASE(an_interval_refutes_with_its_counterexample) {
  std::vector<Check> checks = three(Role::statement, Outcome::supported);
  checks[1] = result_of(Role::statement, "coarse", Outcome::refuted);
  BOOST_TEST((verdict(checks) == Verdict::refuted));
  checks[1].counterexample.reset();
  BOOST_TEST((verdict(checks) == Verdict::undecided));
}

BOOST_AUTO_TEST_CASE(a_refuted_claim_holds_under_a_condition_whose_checks_are_all_supported) {
  std::vector<Check> checks = three(Role::statement, Outcome::refuted);
  for (const Check& c : three(Role::condition, Outcome::supported)) checks.push_back(c);
  BOOST_TEST((verdict(checks, "x > 0") == Verdict::holds_under_condition));
  BOOST_TEST((verdict(checks, "") == Verdict::refuted));
  checks.back().outcome = Outcome::undecided;
  BOOST_TEST((verdict(checks, "x > 0") == Verdict::refuted));
}

BOOST_AUTO_TEST_CASE(a_correction_does_not_make_a_claim_hold) {
  BOOST_TEST((verdict(three(Role::correction, Outcome::supported)) == Verdict::undecided));
  std::vector<Check> checks = three(Role::statement, Outcome::refuted);
  for (const Check& c : three(Role::correction, Outcome::supported)) checks.push_back(c);
  BOOST_TEST((verdict(checks, "x > 0") == Verdict::refuted));
}

BOOST_AUTO_TEST_CASE(an_identity_is_supported_up_to_rounding_and_a_hair_beside_it_is_refuted) {
  BOOST_TEST((verdict_at(thirds_cancel, {point(0.1), point(7)}) == Verdict::holds));
  // The smallest double is no rounding error of a point.
  const auto checks = check("", is_zero, {point(0), point(0x1p-1074)})();
  BOOST_TEST((verdict(checks) == Verdict::refuted));
  for (const Check& c : checks) {
    BOOST_REQUIRE(c.counterexample);
    BOOST_TEST(c.counterexample->sample.quantities[0].lower[0] == 0x1p-1074);
  }
}

BOOST_AUTO_TEST_CASE(an_enclosure_too_wide_to_say_anything_supports_nothing) {
  for (const Check& c : check("", is_zero, {box(-1, 1)})()) {
    BOOST_TEST((c.outcome == (c.rigorous ? Outcome::undecided : Outcome::supported)));
  }
  BOOST_TEST((verdict_at(is_zero, {box(-1, 1)}) == Verdict::undecided));
}

BOOST_AUTO_TEST_CASE(a_vector_of_intervals_is_a_box_in_every_component) {
  const Sample sample{within("x", -1, 2, 3), within("y", 0, 1)};
  const Inputs<ClaimInterval> in(sample);
  BOOST_REQUIRE(in["x"].size() == 3);
  for (const auto& x : in["x"]) {
    BOOST_TEST(plumbline::reference::lower(x.value()) == -1);
    BOOST_TEST(plumbline::reference::upper(x.value()) == 2);
  }
  BOOST_TEST(to_string(sample) == "x in [-1, 2]^3, y in [0, 1]");
}

BOOST_AUTO_TEST_CASE(products_and_totals_of_printed_numbers) {
  const std::vector<Sample> samples = {{{"a", 3}, {"b", 4}, {"12", 12}, {"7", 7}}};
  BOOST_TEST((verdict_at(product({"a", "b"}, "12"), samples) == Verdict::holds));
  BOOST_TEST((verdict_at(product({"a", "b"}, "7"), samples) == Verdict::refuted));
  BOOST_TEST((verdict_at(total({"a", "b"}, "7"), samples) == Verdict::holds));
  BOOST_TEST((verdict_at(total({"a", "b"}, "12"), samples) == Verdict::refuted));
}

BOOST_AUTO_TEST_CASE(inequalities_tell_zero_from_above_zero) {
  BOOST_TEST((verdict_at(is_at_least_zero, {point(0)}) == Verdict::holds));
  BOOST_TEST((verdict_at(is_above_zero, {point(0)}) == Verdict::refuted));
  BOOST_TEST((verdict_at(is_above_zero, {point(0x1p-1074)}) == Verdict::holds));
  BOOST_TEST((verdict_at(is_at_least_zero, {point(-0x1p-1074)}) == Verdict::refuted));
  BOOST_TEST((verdict_at(is_at_least_zero, {box(-1, 2)}) == Verdict::undecided));
  BOOST_TEST((verdict_at(is_at_least_zero, {box(0, 2)}) == Verdict::holds));
}

BOOST_AUTO_TEST_CASE(not_a_number_supports_nothing_and_refutes_nothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Relation r : {Relation::equals_zero, Relation::at_least_zero, Relation::above_zero}) {
    BOOST_TEST(!excludes({nan, nan, nan}, r));
    BOOST_TEST(!supports({nan, nan, nan}, r, 1.0));
  }
}

BOOST_AUTO_TEST_CASE(existence_is_refuted_only_when_every_box_excludes_it) {
  BOOST_TEST((verdict_that_some({box(1, 2), box(-3, -0.5)}) == Verdict::refuted));
  BOOST_TEST((verdict_that_some({box(1, 2), box(-3, 0.5)}) == Verdict::undecided));
  BOOST_TEST((verdict_that_some({box(-1, 1)}) == Verdict::undecided));  // though its midpoint is 0
  BOOST_TEST((verdict_that_some({box(1, 2), point(0)}) == Verdict::holds));
}

BOOST_AUTO_TEST_CASE(a_formula_takes_its_quantities_by_name_as_what_its_arguments_are) {
  const Statement sum_is = equals_zero<"n", "each", "total">(
      []<class R>(int n, const reference::Vector<R>& each, R total) {
        for (int k = 0; k < n; ++k) total -= each[k];
        return total;
      });
  const Sample right{{"n", 2}, {"each", {1, 2}}, within("total", 3, 3)};
  const Sample wrong{{"n", 1}, {"each", {1, 2}}, {"total", 3}};
  BOOST_TEST((verdict_at(sum_is, {right}) == Verdict::holds));
  BOOST_TEST((verdict_at(sum_is, {right, wrong}) == Verdict::refuted));
  BOOST_TEST((verdict(exists("", sum_is, {right, wrong})()) == Verdict::holds));
  const Checks both{check("", sum_is, {wrong}), condition("", sum_is, {right})};
  BOOST_TEST((verdict(both(), "n is 2") == Verdict::holds_under_condition));
  BOOST_CHECK_EXCEPTION(check("", sum_is, {{{"n", 2}, {"total", 3}}})(), std::out_of_range,
                        [](const std::out_of_range& error) {
                          return error.what() == std::string("the sample has no quantity each");
                        });
}

BOOST_AUTO_TEST_CASE(a_formula_with_more_arguments_gives_a_statement_for_each_of_them) {
  const auto between = at_least_zero<"x">([]<class R>(R x, double lower, double upper) {
    return std::vector<R>{x - R(lower), R(upper) - x};
  });
  BOOST_TEST((verdict_at(between(1, 2), {point(1), point(2)}) == Verdict::holds));
  BOOST_TEST((verdict_at(between(1, 1.5), {point(1), point(2)}) == Verdict::refuted));
  const auto times = equals_zero([]<class R>(const Inputs<R>& in, bool twice) {
    return in.number("x") * R(twice ? 2.0 : 1.0) - R(2.0);
  });
  BOOST_TEST((verdict_at(times(true), {point(1)}) == Verdict::holds));
  BOOST_TEST((verdict_at(times(false), {point(1)}) == Verdict::refuted));
}

BOOST_AUTO_TEST_CASE(a_grid_has_every_combination_and_its_first_axis_runs_slowest) {
  const auto samples = grid({{"m", {1, 2}}, {"n", 5}, boxes("d", growing(1, 3, 2))});
  BOOST_REQUIRE(samples.size() == 4u);
  BOOST_TEST(to_string(samples[1]) == "m = 1, n = 5, d in [2, 4]");
  BOOST_TEST(to_string(samples[2]) == "m = 2, n = 5, d in [1, 2]");
  const auto longer = with(samples, grid({{"k", {7, 8}}}));
  BOOST_REQUIRE(longer.size() == 8u);
  BOOST_TEST(to_string(longer[4]) == "m = 1, n = 5, d in [1, 2], k = 8");
  BOOST_TEST(evenly(0, 1, 4) == (std::vector<double>{0, 0.25, 0.5, 0.75, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_refutes_is_rigorous_and_of_the_role_that_is_asked_for) {
  std::vector<Check> checks = three(Role::correction, Outcome::refuted);
  BOOST_TEST(refuting(checks) == &checks[1]);  // double is not rigorous
  BOOST_TEST((refuting(checks, Role::statement) == nullptr));
  for (const Check& check : three(Role::statement, Outcome::refuted)) checks.push_back(check);
  BOOST_TEST(refuting(checks, Role::statement) == &checks[4]);
  for (Check& check : checks) check.samples = 0;
  BOOST_TEST((refuting(checks) == nullptr));
}

BOOST_AUTO_TEST_CASE(numbers_take_the_names_in_their_order) {
  BOOST_TEST(to_string(numbers_of({"m", "d"})(0.5, 2)) == "m = 0.5, d = 2");
  BOOST_CHECK_THROW(numbers_of({"m"})(0.5, 2), std::out_of_range);
}

BOOST_AUTO_TEST_SUITE_END()
