// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge.hpp"

#include <boost/test/unit_test.hpp>

#include "cases/case_file.hpp"
#include "float_attention.hpp"
#include "support/error.hpp"
#include "verdict/spec_generator.hpp"

using namespace plumbline;
using verdict::Outcome;

namespace {

const verdict::Contract contract = cases::undeclared_contract();

cases::Case small_case(cases::BiasMethod bias, cases::Format format = cases::Format::fp32) {
  cases::Spec spec;
  spec.bias = bias;
  spec.format = format;
  spec.heads = spec.kv_heads = 3;
  spec.queries = spec.keys = 40;
  spec.seed = 5;
  return cases::generate(spec);
}

/// Whether the judge fails outputs with these faults planted.
verdict::Judgement judge_with(const cases::Case& c, const test::Faults& faults) {
  return verdict::judge(c, contract, test::float_attention(c, faults), 2);
}

}  // namespace

BOOST_AUTO_TEST_CASE(plain_float_loops_pass_on_random_cases_of_every_bias_and_format) {
  double worst_o = 0, worst_lse = 0;
  using cases::BiasMethod;
  for (const auto bias :
       {BiasMethod::nope, BiasMethod::alibi, BiasMethod::cable, BiasMethod::cable_nw,
        BiasMethod::k_cable, BiasMethod::k_cable_nw, BiasMethod::ggd}) {
    for (const auto format : cases::all_formats()) {
      for (const auto& spec : verdict::draw_specs(cases::Pass::forward, bias, format, 12, 77)) {
        const auto c = cases::generate(spec);
        const auto judgement = verdict::judge(c, contract, test::float_attention(c), 2);
        BOOST_TEST_CONTEXT(cases::to_line(spec)) {
          BOOST_TEST((judgement.outcome == Outcome::pass), verdict::describe(judgement));
        }
        worst_o = std::max(worst_o, judgement.output("o").worst.ratio);
        worst_lse = std::max(worst_lse, judgement.output("lse").worst.ratio);
      }
    }
  }
  // A bound that no correct kernel comes near would pass wrong ones. The rounding of o to bf16
  // nearly uses up its share; LSE's bound is a worst case over all orders of summation.
  BOOST_TEST(worst_o > 0.3);
  BOOST_TEST(worst_lse > 0.02);
  BOOST_TEST_MESSAGE("worst o " << worst_o << ", worst lse " << worst_lse);
}

BOOST_AUTO_TEST_CASE(a_scale_off_by_one_part_in_ten_thousand_fails_in_bf16_by_its_lse) {
  const auto judgement = judge_with(small_case(cases::BiasMethod::nope, cases::Format::bf16),
                                    {.scale_factor = 1.0001f});
  BOOST_TEST((judgement.output("lse").outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(a_slope_off_in_one_head_fails_in_that_head_alone) {
  const auto judgement =
      judge_with(small_case(cases::BiasMethod::alibi), {.slope_factor = 1.01f, .slope_head = 1});
  BOOST_TEST((judgement.outcome == Outcome::fail));
  BOOST_TEST(judgement.output("o").failed_by_head[0] == 0);
  BOOST_TEST(judgement.output("o").failed_by_head[1] > 0);
  BOOST_TEST(judgement.output("o").failed_by_head[2] == 0);
  BOOST_TEST(verdict::describe(judgement).find("failing heads: 1 (") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_lse_in_base_two_fails_while_o_passes) {
  const auto judgement = judge_with(small_case(cases::BiasMethod::cable), {.lse_base_2 = true});
  BOOST_TEST((judgement.output("o").outcome == Outcome::pass));
  BOOST_TEST((judgement.output("lse").outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(one_element_that_is_not_a_number_fails) {
  const auto c = small_case(cases::BiasMethod::nope);
  auto outputs = test::float_attention(c);
  outputs.o[123] = std::numeric_limits<float>::quiet_NaN();
  const auto judgement = verdict::judge(c, contract, outputs, 2);
  BOOST_TEST(judgement.output("o").failed == 1);
  BOOST_TEST(judgement.output("lse").failed == 0);
  BOOST_TEST((judgement.outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(a_row_that_sees_no_key_must_be_zero_and_minus_infinity) {
  auto spec = small_case(cases::BiasMethod::nope).spec;
  spec.mask.ragged = true;
  auto c = cases::generate(spec);
  c.lengths = {7};
  auto outputs = test::float_attention(c);
  BOOST_TEST((verdict::judge(c, contract, outputs, 2).outcome == Outcome::pass));
  const std::size_t row = 30;  // beyond the length
  outputs.o[row * spec.head_dim] = 1e-30f;
  BOOST_TEST(verdict::judge(c, contract, outputs, 2).output("o").failed == 1);
  outputs.o[row * spec.head_dim] = 0;
  outputs.lse[row] = 0;
  BOOST_TEST(verdict::judge(c, contract, outputs, 2).output("lse").failed == 1);
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_does_not_change_the_judgement) {
  const auto c = small_case(cases::BiasMethod::ggd);
  const auto outputs = test::float_attention(c, {.scale_factor = 1.001f});
  const auto one = verdict::judge(c, contract, outputs, 1);
  const auto four = verdict::judge(c, contract, outputs, 4);
  BOOST_TEST(one.output("o").worst.ratio == four.output("o").worst.ratio);
  BOOST_CHECK(one.output("o").worst.index == four.output("o").worst.index);
  BOOST_TEST(one.output("o").failed == four.output("o").failed);
  BOOST_TEST(one.output("lse").worst.ratio == four.output("lse").worst.ratio);
}

BOOST_AUTO_TEST_CASE(zeros_fail_on_subnormal_values) {
  for (const auto format : cases::all_formats()) {
    auto spec = small_case(cases::BiasMethod::nope, format).spec;
    spec.family = cases::Family::subnormal;
    const auto c = cases::generate(spec);
    auto outputs = test::float_attention(c);
    BOOST_TEST((verdict::judge(c, contract, outputs, 2).outcome == Outcome::pass));
    std::fill(outputs.o.begin(), outputs.o.end(), 0.0f);
    BOOST_TEST((verdict::judge(c, contract, outputs, 2).output("o").outcome == Outcome::fail));
  }
}

BOOST_AUTO_TEST_CASE(float_outputs_of_a_bf16_case_get_no_rounding_to_bf16) {
  const auto c = small_case(cases::BiasMethod::nope, cases::Format::bf16);
  auto outputs = test::float_attention(c);  // rounded to bf16
  BOOST_TEST((verdict::judge(c, contract, outputs, 2).outcome == Outcome::pass));
  for (float& o : outputs.o) o *= 1.0005f;  // within bf16's rounding, but no bf16 numbers any more
  BOOST_TEST((verdict::judge(c, contract, outputs, 2).output("o").outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(nothing_passes_where_the_bound_is_infinite) {
  auto c = small_case(cases::BiasMethod::ggd);
  for (float& beta : c[PLUMBLINE_THETA_BETA])
    beta = -200.0f;  // the bias overflows fp32 at distance 0
  auto outputs = test::float_attention(c);
  for (float& lse : outputs.lse) lse = std::numeric_limits<float>::infinity();
  const auto judgement = verdict::judge(c, contract, outputs, 2);
  BOOST_TEST((judgement.output("lse").outcome != Outcome::pass));
  BOOST_TEST(judgement.output("lse").failed + judgement.output("lse").undecided ==
             judgement.output("lse").elements);
}

BOOST_AUTO_TEST_CASE(outputs_of_the_wrong_size_are_bad_input) {
  const auto c = small_case(cases::BiasMethod::nope);
  auto outputs = test::float_attention(c);
  outputs.lse.pop_back();
  BOOST_CHECK_THROW(verdict::judge(c, contract, outputs, 1), BadInput);
}
