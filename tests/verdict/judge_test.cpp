// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge/judge.hpp"

#include <boost/test/unit_test.hpp>

#include "float_attention.hpp"
#include "support/error.hpp"
#include "tests/at_length.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/judge/element.hpp"
#include "verdict/property/spec_generator.hpp"

BOOST_AUTO_TEST_SUITE(judge_test)

using namespace plumbline;
using verdict::Outcome;

namespace {

const verdict::Contract contract = cases::undeclared_contract();

cases::Case small_case(cases::Bias bias, cases::Format format = cases::Format::fp32) {
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
  using cases::Bias;
  for (const Bias bias :
       {Bias(PLUMBLINE_NOPE), Bias(PLUMBLINE_ALIBI), Bias(PLUMBLINE_CABLE),
        Bias(PLUMBLINE_CABLE_NW), Bias(PLUMBLINE_K_CABLE), Bias(PLUMBLINE_K_CABLE_NW),
        Bias(PLUMBLINE_GGD), Bias(PLUMBLINE_ALIBI, 0, PLUMBLINE_ROPE_HALF_SPLIT),
        Bias(PLUMBLINE_CABLE, 0, PLUMBLINE_ROPE_INTERLEAVED),
        Bias(PLUMBLINE_FIRE, 0, PLUMBLINE_ROPE_HALF_SPLIT)}) {
    for (const auto format : cases::all_formats()) {
      for (const auto& spec :
           verdict::draw_specs(cases::Pass::forward, bias, format, test::cases(3, 12), 77)) {
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
  const auto judgement =
      judge_with(small_case(PLUMBLINE_NOPE, cases::Format::bf16), {.scale_factor = 1.0001f});
  BOOST_TEST((judgement.output("lse").outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(a_slope_off_in_one_head_fails_in_that_head_alone) {
  const auto judgement =
      judge_with(small_case(PLUMBLINE_ALIBI), {.slope_factor = 1.01f, .slope_head = 1});
  BOOST_TEST((judgement.outcome == Outcome::fail));
  BOOST_TEST(judgement.output("o").failed_by_head[0] == 0);
  BOOST_TEST(judgement.output("o").failed_by_head[1] > 0);
  BOOST_TEST(judgement.output("o").failed_by_head[2] == 0);
  BOOST_TEST(verdict::describe(judgement).find("failing heads: 1 (") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_lse_in_base_two_fails_while_o_passes) {
  const auto judgement = judge_with(small_case(PLUMBLINE_CABLE), {.lse_base_2 = true});
  BOOST_TEST((judgement.output("o").outcome == Outcome::pass));
  BOOST_TEST((judgement.output("lse").outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(one_element_that_is_not_a_number_fails) {
  const auto c = small_case(PLUMBLINE_NOPE);
  auto outputs = test::float_attention(c);
  outputs.o[123] = std::numeric_limits<float>::quiet_NaN();
  const auto judgement = verdict::judge(c, contract, outputs, 2);
  BOOST_TEST(judgement.output("o").failed == 1);
  BOOST_TEST(judgement.output("lse").failed == 0);
  BOOST_TEST((judgement.outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(plain_float_loops_with_attention_sinks_pass_and_wrong_sinks_fail) {
  for (const auto bias : {PLUMBLINE_NOPE, PLUMBLINE_CABLE, PLUMBLINE_BIAS_TENSOR}) {
    for (auto spec : verdict::draw_specs(cases::Pass::forward, bias, cases::Format::fp32,
                                         test::cases(10, 40), 78)) {
      spec.sinks = true;
      const auto c = cases::generate(spec);
      const auto outputs = test::float_attention(c);
      BOOST_TEST_CONTEXT(cases::to_line(spec)) {
        const auto judgement = verdict::judge(c, contract, outputs, 2);
        BOOST_TEST((judgement.outcome == Outcome::pass), verdict::describe(judgement));
      }
    }
  }
  auto c = cases::generate(cases::from_line(
      "bias=nope,heads=3,kv_heads=1,queries=20,keys=40,head_dim=32,seed=9,sinks=1"));
  BOOST_TEST((judge_with(c, {}).outcome == Outcome::pass));
  const auto right = test::float_attention(c);
  for (float& sink : c[PLUMBLINE_SINKS]) sink += 0.001f;
  const auto judgement = verdict::judge(c, contract, right, 2);
  BOOST_TEST((judgement.output("lse").outcome == Outcome::fail));
  BOOST_TEST((judgement.output("o").outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(a_row_that_sees_its_sink_alone_is_zero_and_has_its_logarithm) {
  auto spec = small_case(PLUMBLINE_NOPE).spec;
  spec.mask.ragged = spec.sinks = true;
  auto c = cases::generate(spec);
  c.lengths = {7};
  auto outputs = test::float_attention(c);
  BOOST_TEST((verdict::judge(c, contract, outputs, 2).outcome == Outcome::pass));
  const std::size_t row = 30;  // beyond the length
  outputs.lse[row] *= 1.00001f;
  BOOST_TEST(verdict::judge(c, contract, outputs, 2).output("lse").failed == 1);
  outputs.lse[row] = -std::numeric_limits<float>::infinity();
  outputs.o[row * spec.head_dim] = 1e-30f;
  const auto judgement = verdict::judge(c, contract, outputs, 2);
  BOOST_TEST(judgement.output("lse").failed == 1);
  BOOST_TEST(judgement.output("o").failed == 1);
  auto not_mine = contract;
  not_mine.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE;
  BOOST_TEST((verdict::judge(c, not_mine, outputs, 2).outcome == Outcome::pass));
}

BOOST_AUTO_TEST_CASE(a_row_that_sees_no_key_must_be_zero_and_minus_infinity) {
  auto spec = small_case(PLUMBLINE_NOPE).spec;
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
  const auto c = small_case(PLUMBLINE_GGD);
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
    auto spec = small_case(PLUMBLINE_NOPE, format).spec;
    spec.family = cases::Family::subnormal;
    const auto c = cases::generate(spec);
    auto outputs = test::float_attention(c);
    BOOST_TEST((verdict::judge(c, contract, outputs, 2).outcome == Outcome::pass));
    std::fill(outputs.o.begin(), outputs.o.end(), 0.0f);
    BOOST_TEST((verdict::judge(c, contract, outputs, 2).output("o").outcome == Outcome::fail));
  }
}

BOOST_AUTO_TEST_CASE(
    zeros_for_subnormal_values_pass_where_the_contract_says_so_and_fp32_flushes_them) {
  for (const auto format : cases::all_formats()) {
    auto spec = small_case(PLUMBLINE_NOPE, format).spec;
    spec.family = cases::Family::subnormal;
    const auto c = cases::generate(spec);
    auto outputs = test::float_attention(c);
    std::fill(outputs.o.begin(), outputs.o.end(), 0.0f);
    const bool normal_in_fp32 = format == cases::Format::fp16 || cases::has_scales(format);
    const auto undeclared = verdict::judge(c, contract, outputs, 2);
    BOOST_TEST((undeclared.outcome == Outcome::fail));
    BOOST_TEST((undeclared.remark.find("flushes_subnormals") != undeclared.remark.npos) !=
               normal_in_fp32);
    auto flushing = contract;
    flushing.flushes_subnormals = 1;
    BOOST_TEST((verdict::judge(c, flushing, outputs, 2).outcome ==
                (normal_in_fp32 ? Outcome::fail : Outcome::pass)));
    outputs.o[7] = 0x1p-120f;
    BOOST_TEST((verdict::judge(c, flushing, outputs, 2).outcome == Outcome::fail));
  }
}

BOOST_AUTO_TEST_CASE(an_o_whose_errors_all_lean_to_one_side_fails_though_each_is_within_its_bound) {
  auto spec = small_case(PLUMBLINE_ALIBI, cases::Format::bf16).spec;
  spec.queries = spec.keys = 64;
  spec.seed = 6;  // slopes that are powers of two, so that each error alone stays within its bound
  const auto c = cases::generate(spec);
  auto rounding = contract;
  rounding.probability_format = PLUMBLINE_BF16;
  const auto judged = [&](const test::Faults& faults) {
    return verdict::judge(c, rounding, test::float_attention(c, faults), 2).output("o");
  };
  const auto nearest = judged({.p = test::Faults::p_rounded});
  BOOST_TEST((nearest.outcome == Outcome::pass));
  BOOST_TEST(nearest.drift.variance > 0);
  for (const test::Faults faults :
       {test::Faults{.p = test::Faults::p_cut},
        test::Faults{.output_factor = 0.998f, .p = test::Faults::p_rounded}}) {
    const auto o = judged(faults);
    BOOST_TEST(o.failed == 0);
    BOOST_TEST((o.outcome == Outcome::fail));
    BOOST_TEST(o.drift.deviations() > verdict::largest_deviation);
  }
  // Nothing is said of numbers that are not generic: what they have in common may round alike.
  auto tied = spec;
  tied.family = cases::Family::tied;
  const auto c_tied = cases::generate(tied);
  const auto o =
      verdict::judge(c_tied, rounding, test::float_attention(c_tied, {.p = test::Faults::p_cut}), 2)
          .output("o");
  BOOST_TEST(o.drift.variance == 0);
}

BOOST_AUTO_TEST_CASE(
    a_scale_off_by_one_part_in_a_hundred_and_sixty_thousand_fails_by_all_rows_together) {
  auto spec = small_case(PLUMBLINE_ALIBI, cases::Format::bf16).spec;
  spec.heads = spec.kv_heads = 2;
  spec.queries = spec.keys = 96;
  const auto c = cases::generate(spec);
  auto declared = contract;
  declared.exp_error = 0x1p-22;
  const auto judged = [&](const test::Faults& faults) {
    return verdict::judge(c, declared, test::float_attention(c, faults), 2).output("lse");
  };
  const auto correct = judged({});
  BOOST_TEST((correct.outcome == Outcome::pass));
  for (const auto& trend : correct.trends) BOOST_TEST(trend.drift.variance > 0);
  for (const float factor : {1 + 6e-6f, 1 - 6e-6f}) {
    const auto scale = judged({.scale_factor = factor});
    BOOST_TEST(scale.failed == 0);  // each row is within its bound
    BOOST_TEST((scale.outcome == Outcome::fail));
    const auto& trend = scale.trends[static_cast<int>(verdict::Trend::scale)];
    BOOST_TEST(trend.drift.deviations() > verdict::largest_deviation);
    BOOST_TEST(std::abs(trend.drift.moment / trend.response - (factor - 1)) < 1e-6);
    std::string text;
    for (const auto& what : verdict::statistics_that_fail(scale)) text += what;
    BOOST_TEST(text.find("are those of a scale of q.k that is off by") != text.npos);
  }
  // Nothing is said of numbers that are not generic.
  spec.family = cases::Family::tied;
  const auto c_tied = cases::generate(spec);
  const auto tied = verdict::judge(c_tied, declared, test::float_attention(c_tied), 2);
  BOOST_TEST(tied.output("lse").trends[0].drift.variance == 0);
}

BOOST_AUTO_TEST_CASE(noise_in_p_fails_by_its_size_though_each_element_may_have_its_error) {
  cases::Spec spec = small_case(PLUMBLINE_NOPE, cases::Format::bf16).spec;
  spec.family = cases::Family::diffuse;
  spec.keys = 1024;
  spec.queries = 4;
  spec.query_offset = 1020;
  const auto c = cases::generate(spec);
  auto rounding = contract;
  rounding.probability_format = PLUMBLINE_BF16;
  const auto judged = [&](float noise) {
    const test::Faults faults{.p = test::Faults::p_rounded, .p_noise = noise};
    return verdict::judge(c, rounding, test::float_attention(c, faults), 2).output("o");
  };
  const auto correct = judged(0);
  BOOST_TEST((correct.outcome == Outcome::pass));
  BOOST_TEST(correct.size.part_of_largest() > 0);
  const auto noisy = judged(2.4f * 0x1p-8f);
  BOOST_TEST(noisy.failed == 0);
  BOOST_TEST(noisy.size.part_of_largest() > 1);
  BOOST_TEST((noisy.outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(one_key_of_eight_thousand_that_is_missing_in_l_fails) {
  cases::Spec spec = small_case(PLUMBLINE_NOPE).spec;
  spec.family = cases::Family::diffuse;
  spec.heads = spec.kv_heads = 1;
  spec.head_dim = 8;
  spec.keys = 8192;
  spec.queries = 1;
  spec.query_offset = 8191;
  const auto c = cases::generate(spec);
  auto outputs = test::float_attention(c);
  BOOST_TEST((verdict::judge(c, contract, outputs, 2).outcome == Outcome::pass));
  outputs.lse[0] += std::log1p(-1.0f / 8192);  // gamma_n alone is four times that
  const auto lse = verdict::judge(c, contract, outputs, 2).output("lse");
  BOOST_TEST(lse.failed == 1);
}

BOOST_AUTO_TEST_CASE(a_contract_that_no_kernel_of_the_format_needs_is_bad_input) {
  using cases::Format;
  const auto refused = [](Format format, auto change) {
    auto declared = contract;
    change(declared);
    try {
      verdict::validate(declared, format);
    } catch (const BadInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto operands = [](double roundoff) {
    return [=](verdict::Contract& declared) { declared.operand_roundoff = roundoff; };
  };
  const auto p_in = [](int format) {
    return [=](verdict::Contract& declared) { declared.probability_format = format; };
  };
  for (const auto format : cases::all_formats()) BOOST_TEST(refused(format, operands(0)) == "");
  BOOST_TEST(refused(Format::tf32, operands(0x1p-10)) == "");
  BOOST_TEST(
      refused(Format::fp32, operands(0x1p-11)) ==
      "contract.operand_roundoff is 0.00048828125; expected a number from 0 to 2^-20 in fp32");
  BOOST_TEST(refused(Format::tf32, operands(0x1p-9)) != "");
  BOOST_TEST(refused(Format::fp16, operands(0x1p-10)) != "");
  BOOST_TEST(refused(Format::bf16, p_in(PLUMBLINE_BF16)) == "");
  BOOST_TEST(refused(Format::fp16, p_in(PLUMBLINE_BF16)) ==
             "contract.probability_format is 1; expected 0 (fp32) or 2 (fp16) or 3 (tf32) in fp16");
  BOOST_TEST(refused(Format::fp32, p_in(PLUMBLINE_TF32)) != "");
  for (const int format : {PLUMBLINE_E4M3, PLUMBLINE_E5M2, PLUMBLINE_BF16, PLUMBLINE_FP32}) {
    BOOST_TEST(refused(Format::e4m3, p_in(format)) == "");
    BOOST_TEST(refused(Format::e5m2, p_in(format)) == "");
  }
  BOOST_TEST(refused(Format::bf16, p_in(PLUMBLINE_E4M3)) ==
             "contract.probability_format is 4; expected 0 (fp32) or 1 (bf16) or 2 (fp16) or 3 "
             "(tf32) in bf16");
  const auto accumulates = [](double roundoff) {
    return [=](verdict::Contract& declared) { declared.unit_roundoff = roundoff; };
  };
  BOOST_TEST(refused(Format::e4m3, accumulates(0x1p-13)) == "");
  BOOST_TEST(refused(Format::e5m2, accumulates(0x1p-12)) ==
             "contract.unit_roundoff is 0.000244140625; expected a number from 2^-53 to 2^-13 in "
             "e5m2");
  BOOST_TEST(refused(Format::bf16, accumulates(0x1p-13)) != "");
  const auto scales_p = [](double scale, int format) {
    return [=](verdict::Contract& declared) {
      declared.probability_scale = scale;
      declared.probability_format = format;
    };
  };
  for (const double scale : {0, 1, 2, 256}) {
    BOOST_TEST(refused(Format::e4m3, scales_p(scale, PLUMBLINE_E4M3)) == "");
  }
  for (const double scale : {-1.0, 0.5, 3.0, 512.0, std::nan("")}) {
    BOOST_TEST(refused(Format::e4m3, scales_p(scale, PLUMBLINE_E5M2)) != "");
  }
  BOOST_TEST(refused(Format::e4m3, scales_p(3, PLUMBLINE_E4M3)) ==
             "contract.probability_scale is 3; expected 0, for none, or a power of two from 1 to "
             "2^8");
  BOOST_TEST(refused(Format::e4m3, scales_p(256, PLUMBLINE_BF16)) ==
             "contract.probability_scale is 256; expected 0 with probability_format bf16");
  const auto flag = [](verdict::Contract& declared) { declared.flushes_subnormals = 2; };
  BOOST_TEST(refused(Format::fp32, flag) == "contract.flushes_subnormals is 2; expected 0 or 1");
  const auto exp = [](verdict::Contract& declared) { declared.exp_error = 0x1p-12; };
  BOOST_TEST(refused(Format::fp32, exp) != "");
  BOOST_TEST(refused(Format::bf16, exp) == "");
}

BOOST_AUTO_TEST_CASE(float_outputs_of_a_bf16_case_get_no_rounding_to_bf16) {
  const auto c = small_case(PLUMBLINE_NOPE, cases::Format::bf16);
  auto outputs = test::float_attention(c);  // rounded to bf16
  BOOST_TEST((verdict::judge(c, contract, outputs, 2).outcome == Outcome::pass));
  for (float& o : outputs.o) o *= 1.0005f;  // within bf16's rounding, but no bf16 numbers any more
  BOOST_TEST((verdict::judge(c, contract, outputs, 2).output("o").outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(nothing_passes_where_the_bound_is_infinite) {
  auto c = small_case(PLUMBLINE_GGD);
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
  const auto c = small_case(PLUMBLINE_NOPE);
  auto outputs = test::float_attention(c);
  outputs.lse.pop_back();
  BOOST_CHECK_THROW(verdict::judge(c, contract, outputs, 1), BadInput);
}

BOOST_AUTO_TEST_SUITE_END()
