// SPDX-License-Identifier: Apache-2.0
// Verdicts follow from checks by the rules of claim.hpp, and checks from statements.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "proofs_checks/printed_numbers.hpp"
#include "proofs_checks/statement.hpp"

using namespace plumbline::proofs_checks;

namespace {

Check check(Role role, const std::string& reading, Outcome outcome, std::size_t samples = 1) {
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
  return {check(role, "double", outcome), check(role, "coarse", outcome),
          check(role, "fine", outcome)};
}

/// The residual is the input itself.
template <Relation r>
struct Itself {
  static constexpr Relation relation = r;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {in.number("x")};
  }
};
using IsZero = Itself<Relation::equals_zero>;

/// x - 1/3 three times, minus (3 x - 1): zero, though not in floating point.
struct ThirdsCancel {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R y = in.number("x") - R(1.0) / R(3.0);
    return {y + y + y - (R(3.0) * in.number("x") - R(1.0))};
  }
};

struct SaysNothing {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>&) const {
    return {};
  }
};

Sample point(double x) { return Sample{}.with("x", {x}); }
Sample box(double lower, double upper) { return Sample{}.within("x", lower, upper); }

Verdict verdict(const std::vector<Check>& checks, const std::string& condition = "") {
  Claim claim;
  claim.condition = condition;
  claim.derived = Verdict::holds;
  return verdict_of(claim, checks);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_claim_without_checks_is_undecided_unless_it_is_not_mathematical) {
  Claim claim;
  claim.derived = Verdict::holds;
  BOOST_TEST((verdict_of(claim, {}) == Verdict::undecided));
  claim.derived = Verdict::not_mathematical;
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
  BOOST_TEST((verdict(for_all(Role::statement, "", IsZero{}, {})) == Verdict::undecided));
  BOOST_TEST(
      (verdict(for_all(Role::statement, "", SaysNothing{}, {point(0)})) == Verdict::undecided));
  BOOST_TEST((verdict(exists(Role::statement, "", IsZero{}, {})) == Verdict::undecided));
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
  checks[0] = check(Role::statement, "double", Outcome::refuted);
  BOOST_TEST((verdict(checks) == Verdict::undecided));
}

BOOST_AUTO_TEST_CASE(an_interval_refutes_with_its_counterexample) {
  std::vector<Check> checks = three(Role::statement, Outcome::supported);
  checks[1] = check(Role::statement, "coarse", Outcome::refuted);
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
  BOOST_TEST((verdict(for_all(Role::statement, "", ThirdsCancel{}, {point(0.1), point(7)})) ==
              Verdict::holds));
  // The smallest double is no rounding error of a point.
  const auto checks = for_all(Role::statement, "", IsZero{}, {point(0), point(0x1p-1074)});
  BOOST_TEST((verdict(checks) == Verdict::refuted));
  for (const Check& c : checks) {
    BOOST_REQUIRE(c.counterexample);
    BOOST_TEST(c.counterexample->sample.quantities[0].lower[0] == 0x1p-1074);
  }
}

BOOST_AUTO_TEST_CASE(an_enclosure_too_wide_to_say_anything_supports_nothing) {
  for (const Check& c : for_all(Role::statement, "", IsZero{}, {box(-1, 1)})) {
    BOOST_TEST((c.outcome == (c.rigorous ? Outcome::undecided : Outcome::supported)));
  }
  BOOST_TEST((verdict(for_all(Role::statement, "", IsZero{}, {box(-1, 1)})) == Verdict::undecided));
}

BOOST_AUTO_TEST_CASE(a_vector_of_intervals_is_a_box_in_every_component) {
  const Sample sample = Sample{}.within("x", -1, 2, 3).within("y", 0, 1);
  const Inputs<plumbline::reference::Interval> in(sample);
  BOOST_REQUIRE(in["x"].size() == 3);
  for (const auto& x : in["x"]) {
    BOOST_TEST(plumbline::reference::lower(x) == -1);
    BOOST_TEST(plumbline::reference::upper(x) == 2);
  }
  BOOST_TEST(to_string(sample) == "x in [-1, 2]^3, y in [0, 1]");
}

BOOST_AUTO_TEST_CASE(products_and_totals_of_printed_numbers) {
  const Sample sample = Sample{}.with("a", {3}).with("b", {4}).with("12", {12}).with("7", {7});
  const auto of = [&](const std::vector<Check>& checks) { return verdict(checks); };
  BOOST_TEST((of(products(Role::statement, "", {sample}, {"a", "b"}, "12")) == Verdict::holds));
  BOOST_TEST((of(products(Role::statement, "", {sample}, {"a", "b"}, "7")) == Verdict::refuted));
  BOOST_TEST((of(totals(Role::statement, "", {sample}, {"a", "b"}, "7")) == Verdict::holds));
  BOOST_TEST((of(totals(Role::statement, "", {sample}, {"a", "b"}, "12")) == Verdict::refuted));
}

BOOST_AUTO_TEST_CASE(inequalities_tell_zero_from_above_zero) {
  using Weak = Itself<Relation::at_least_zero>;
  using Strict = Itself<Relation::above_zero>;
  const auto of = [](auto statement, const Sample& sample) {
    return verdict(for_all(Role::statement, "", statement, {sample}));
  };
  BOOST_TEST((of(Weak{}, point(0)) == Verdict::holds));
  BOOST_TEST((of(Strict{}, point(0)) == Verdict::refuted));
  BOOST_TEST((of(Strict{}, point(0x1p-1074)) == Verdict::holds));
  BOOST_TEST((of(Weak{}, point(-0x1p-1074)) == Verdict::refuted));
  BOOST_TEST((of(Weak{}, box(-1, 2)) == Verdict::undecided));
  BOOST_TEST((of(Weak{}, box(0, 2)) == Verdict::holds));
}

BOOST_AUTO_TEST_CASE(not_a_number_supports_nothing_and_refutes_nothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Relation r : {Relation::equals_zero, Relation::at_least_zero, Relation::above_zero}) {
    BOOST_TEST(!excludes({nan, nan, nan}, r));
    BOOST_TEST(!supports({nan, nan, nan}, r, 1.0));
  }
}

BOOST_AUTO_TEST_CASE(existence_is_refuted_only_when_every_box_excludes_it) {
  const auto of = [](const std::vector<Sample>& boxes) {
    return verdict(exists(Role::statement, "", IsZero{}, boxes));
  };
  BOOST_TEST((of({box(1, 2), box(-3, -0.5)}) == Verdict::refuted));
  BOOST_TEST((of({box(1, 2), box(-3, 0.5)}) == Verdict::undecided));
  BOOST_TEST((of({box(-1, 1)}) == Verdict::undecided));  // though its midpoint is 0
  BOOST_TEST((of({box(1, 2), point(0)}) == Verdict::holds));
}
