// SPDX-License-Identifier: Apache-2.0
// Gradients of plain fp32 loops pass, in every method and format; with a fault they fail.
#include "verdict/judge/gradients.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <map>

#include "float_gradients.hpp"
#include "support/error.hpp"
#include "tests/at_length.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/property/spec_generator.hpp"

BOOST_AUTO_TEST_SUITE(judge_gradients_test)

using namespace plumbline;
using cases::Format;
using verdict::Outcome;

namespace {

bool is_of_parameter(const std::string& gradient) {
  return gradient != "grad_q" && gradient != "grad_k" && gradient != "grad_v";
}

/// What the loops of float_gradients.hpp do in each format.
verdict::Contract contract_of(Format format) {
  auto contract = cases::undeclared_contract();
  contract.probability_format = static_cast<std::int32_t>(cases::output_format(format));
  if (format == Format::tf32) contract.operand_roundoff = 0x1p-11;
  return contract;
}

cases::Outputs gradients_of(const cases::Case& c, const test::GradientFaults& faults = {}) {
  auto outputs = test::float_attention(c);
  test::float_gradients(c, outputs, faults);
  return outputs;
}

Outcome worst_of(const std::vector<verdict::OutputJudgement>& judgements) {
  Outcome worst = Outcome::pass;
  for (const auto& judgement : judgements) worst = verdict::worse(worst, judgement.outcome);
  return worst;
}

std::vector<verdict::OutputJudgement> judge(const cases::Case& c, const cases::Outputs& outputs) {
  return verdict::judge_gradients(c, contract_of(c.spec.format), outputs, 2);
}

cases::Case middling_case(cases::Bias bias, Format format, std::uint64_t seed) {
  cases::Spec spec;
  spec.pass = cases::Pass::backward;
  spec.bias = bias;
  spec.format = format;
  spec.heads = 4;
  spec.kv_heads = 2;
  spec.queries = spec.keys = 40;
  spec.head_dim = 32;
  spec.seed = seed;
  return cases::generate(spec);
}

}  // namespace

BOOST_AUTO_TEST_CASE(plain_float_loops_pass_on_random_cases_of_every_bias_and_format) {
  std::map<std::string, double> worst;
  const auto formats = static_cast<int>(cases::all_formats().size());
  int biases = 0;
  for (const auto bias : cases::every_bias()) {
    if (cases::needs_scores(bias)) continue;
    const int count = bias.has_rope() && bias.method != PLUMBLINE_NOPE ? 1 : test::cases(1, 3);
    ++biases;
    for (const auto format : cases::all_formats()) {
      // fp32, and one of the formats by turns.
      const bool in_turn = static_cast<int>(format) == biases % formats;
      if (!test::at_length() && format != cases::Format::fp32 && !in_turn) continue;
      for (auto spec : verdict::draw_specs(cases::Pass::backward, bias, format, count,
                                           77 + 4 * bias.method + 100 * bias.dape +
                                               200 * bias.rope + static_cast<int>(format))) {
        const auto c = cases::generate(spec);
        for (const auto& output : judge(c, gradients_of(c))) {
          BOOST_TEST_CONTEXT(cases::to_line(spec) << ", " << output.name) {
            BOOST_TEST((output.outcome == Outcome::pass),
                       output.failed << " fail, " << output.undecided << " undecided of "
                                     << output.elements << "; worst got " << output.worst.got
                                     << ", expected " << output.worst.expected << ", bound "
                                     << output.worst.bound);
          }
          auto& ratio = worst[output.name];
          ratio = std::max(ratio, output.worst.ratio);
        }
      }
    }
  }
  // A bound that no correct kernel comes near would pass wrong ones. Those of parameters are worst
  // cases over the signs of many errors: backward_bounds_test.cpp shows that they can be reached.
  for (const auto& [name, ratio] : worst) {
    BOOST_TEST_MESSAGE(name << ": worst " << ratio);
    const bool matrix = name == "grad_q" || name == "grad_k" || name == "grad_v";
    if (!matrix && !test::at_length()) continue;  // too few cases of each
    BOOST_TEST_CONTEXT(name) { BOOST_TEST(ratio > (matrix ? 0.5 : 0.003)); }
  }
}

BOOST_AUTO_TEST_CASE(an_own_key_added_and_taken_away_may_leave_its_rounding_and_no_more) {
  // One key: p = 1 and dZ = dP - D = 0. A kernel that computes it twice, for the query and for the
  // key, is off by at most 2 gamma_32 sum |dO v|, about 1e-4 here.
  const auto c = cases::generate(cases::from_line("pass=backward,bias=fox,head_dim=32,seed=1"));
  const auto outcome_of = [&](float gradient) {
    auto outputs = gradients_of(c);
    outputs.grad_parameters[PLUMBLINE_LOG_FORGET] = {gradient};
    const auto judged = judge(c, outputs);
    return std::find_if(judged.begin(), judged.end(),
                        [](const auto& output) { return output.name == "grad_log_forget"; })
        ->outcome;
  };
  BOOST_TEST((outcome_of(0.0f) == Outcome::pass));
  BOOST_TEST((outcome_of(1e-6f) == Outcome::pass));
  BOOST_TEST((outcome_of(1e-3f) == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(a_fault_fails_in_the_gradients_that_it_changes) {
  struct Planted {
    const char* name;
    test::GradientFaults faults;
    std::vector<std::string> failing;  ///< in fp32, of CABLE with SSMax
  };
  test::GradientFaults scale, score, parameters, common, base, group, key_side, dropped;
  scale.scale_factor = 1.0001f;
  score.score_factor = 1.00013f;
  parameters.parameter_factor = 1.01f;
  common.no_common = true;
  base.lse_base_2 = true;
  group.one_head_of_a_group = true;
  key_side.key_side_missing = true;
  dropped.dropped_key = 20;
  const std::vector<std::string> all{"grad_q",           "grad_k",          "grad_v",
                                     "grad_ssmax_scale", "grad_increments", "grad_gain"};
  const std::vector<std::string> of_parameters{"grad_ssmax_scale", "grad_increments", "grad_gain"};
  const std::vector<std::string> but_v{"grad_q", "grad_k", "grad_ssmax_scale", "grad_increments",
                                       "grad_gain"};
  const Planted planted[] = {
      {"scale of dQ and dK", scale, {"grad_q", "grad_k"}},
      {"scores", score, {"grad_q", "grad_k", "grad_v", "grad_increments", "grad_gain"}},
      {"parameters", parameters, of_parameters},
      {"no D", common, but_v},
      {"LSE in base 2", base, all},
      {"one head of a group", group, {"grad_k"}},
      {"no key side", key_side, {"grad_increments"}},
      {"a key dropped", dropped, all}};
  auto spec = middling_case(PLUMBLINE_CABLE, Format::fp32, 3).spec;
  spec.ssmax = true;
  const auto c = cases::generate(spec);
  for (const auto& [name, faults, failing] : planted) {
    for (const auto& output : judge(c, gradients_of(c, faults))) {
      const bool fails = std::find(failing.begin(), failing.end(), output.name) != failing.end();
      BOOST_TEST_CONTEXT(name << ", " << output.name << ", worst ratio " << output.worst.ratio) {
        BOOST_TEST((output.outcome == (fails ? Outcome::fail : Outcome::pass)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_with_attention_sinks_pass_and_a_percent_of_the_sinks_fails) {
  for (const auto bias : {PLUMBLINE_NOPE, PLUMBLINE_CABLE, PLUMBLINE_BIAS_TENSOR}) {
    for (const auto format : {Format::fp32, Format::bf16}) {
      for (auto spec : verdict::draw_specs(cases::Pass::backward, bias, format, 6, 79)) {
        spec.sinks = true;
        const auto c = cases::generate(spec);
        for (const auto& output : judge(c, gradients_of(c))) {
          BOOST_TEST_CONTEXT(cases::to_line(spec) << ", " << output.name) {
            BOOST_TEST((output.outcome == Outcome::pass),
                       "worst got " << output.worst.got << ", expected " << output.worst.expected
                                    << ", bound " << output.worst.bound);
          }
        }
      }
    }
  }
  auto spec = middling_case(PLUMBLINE_ALIBI, Format::fp32, 5).spec;
  spec.sinks = true;
  const auto c = cases::generate(spec);
  test::GradientFaults faults;
  faults.parameter_factor = 1.01f;
  for (const auto& output : judge(c, gradients_of(c, faults))) {
    BOOST_TEST_CONTEXT(output.name << ", worst ratio " << output.worst.ratio) {
      const bool fails = output.name == "grad_sinks";
      BOOST_TEST((output.outcome == (fails ? Outcome::fail : Outcome::pass)));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_percent_of_the_gradient_of_any_parameter_fails_in_every_method) {
  for (const auto bias : cases::all_biases()) {
    if (cases::needs_scores(bias)) continue;
    // FIRE's c and L move all biases of a row nearly alike: their gradients are small differences.
    test::GradientFaults faults;
    faults.parameter_factor = bias == PLUMBLINE_FIRE ? 1.25f : 1.01f;
    const auto c = middling_case(bias, Format::fp32, 5);
    for (const auto& output : judge(c, gradients_of(c, faults))) {
      // The output bias is the same for all keys: its gradient is 0, and so is any part of it.
      const bool passes = !is_of_parameter(output.name) || output.name == "grad_output_bias";
      BOOST_TEST_CONTEXT(cases::name(bias)
                         << ", " << output.name << ", worst ratio " << output.worst.ratio) {
        BOOST_TEST((output.outcome == (passes ? Outcome::pass : Outcome::fail)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_percent_of_the_gradient_of_a_heads_parameter_fails_in_bf16_too) {
  for (const auto bias :
       {PLUMBLINE_GGD, PLUMBLINE_KERPLE_LOG, PLUMBLINE_KERPLE_POWER, PLUMBLINE_T5}) {
    auto spec = middling_case(bias, Format::bf16, 5).spec;
    spec.queries = spec.keys = 130;
    const auto c = cases::generate(spec);
    test::GradientFaults faults;
    faults.parameter_factor = 1.01f;
    BOOST_TEST((worst_of(judge(c, gradients_of(c))) == Outcome::pass));
    for (const auto& output : judge(c, gradients_of(c, faults))) {
      BOOST_TEST_CONTEXT(cases::name(bias)
                         << ", " << output.name << ", worst ratio " << output.worst.ratio) {
        BOOST_TEST((output.outcome == (output.axes.size() == 4 ? Outcome::pass : Outcome::fail)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_kernel_may_recompute_d_in_all_rows_but_not_in_every_second_one) {
  for (const auto format : cases::all_formats()) {
    const auto c = middling_case(PLUMBLINE_KERPLE_LOG, format, 7);
    test::GradientFaults faults;
    faults.common = test::GradientFaults::recomputed;
    BOOST_TEST_CONTEXT(cases::name(format)) {
      BOOST_TEST((worst_of(judge(c, gradients_of(c, faults))) == Outcome::pass));
    }
    if (format != Format::bf16) continue;  // elsewhere o is rounded by too little to tell
    faults.common = test::GradientFaults::both;
    BOOST_TEST((worst_of(judge(c, gradients_of(c, faults))) == Outcome::fail));
  }
}

BOOST_AUTO_TEST_CASE(of_an_output_bias_there_is_nothing_to_see_and_0_passes) {
  const auto c = middling_case(PLUMBLINE_FIRE, Format::bf16, 4);
  auto outputs = gradients_of(c);
  for (const bool zero : {false, true}) {
    auto& gradient = outputs.grad_parameters[PLUMBLINE_OUTPUT_BIAS];
    if (zero) std::fill(gradient.begin(), gradient.end(), 0.0f);
    for (const auto& output : judge(c, outputs)) {
      BOOST_TEST((output.outcome == Outcome::pass));
      if (output.name == "grad_output_bias") BOOST_TEST(output.nonzero == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_o_or_an_lse_that_is_not_finite_is_no_fault_of_the_gradients) {
  const auto c = middling_case(PLUMBLINE_ALIBI, Format::fp32, 1);
  for (const bool of_o : {false, true}) {
    auto outputs = gradients_of(c);
    (of_o ? outputs.o : outputs.lse)[5] = std::numeric_limits<float>::quiet_NaN();
    BOOST_TEST((worst_of(judge(c, outputs)) != Outcome::fail));
  }
}

BOOST_AUTO_TEST_CASE(gradients_that_are_a_little_small_throughout_drift_and_fail_in_bf16) {
  auto spec = middling_case(PLUMBLINE_ALIBI, Format::bf16, 3).spec;
  spec.queries = spec.keys = 96;
  const auto c = cases::generate(spec);
  test::GradientFaults faults;
  faults.scale_factor = 0.998f;
  for (const auto& output : judge(c, gradients_of(c, faults))) {
    BOOST_TEST_CONTEXT(output.name << ": " << output.drift.deviations()) {
      BOOST_TEST(output.failed == 0);
      BOOST_TEST((output.outcome == (output.name == "grad_v" ? Outcome::pass : Outcome::fail)));
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_that_see_no_key_and_keys_that_no_row_sees_have_gradients_of_exactly_0) {
  auto spec = middling_case(PLUMBLINE_CABLE, Format::fp16, 1).spec;
  spec.mask.ragged = true;
  auto c = cases::generate(spec);
  c.lengths = {7};
  auto outputs = gradients_of(c);
  BOOST_TEST((worst_of(judge(c, outputs)) == Outcome::pass));
  const std::size_t beyond = 30 * static_cast<std::size_t>(spec.head_dim);
  for (auto* gradient : {&outputs.grad_q, &outputs.grad_k, &outputs.grad_v}) {
    (*gradient)[beyond] = 0x1p-24f;  // the smallest fp16 number that is not 0
    BOOST_TEST((worst_of(judge(c, outputs)) == Outcome::fail));
    (*gradient)[beyond] = -0.0f;
  }
  BOOST_TEST((worst_of(judge(c, outputs)) == Outcome::pass));
}

BOOST_AUTO_TEST_CASE(operands_that_tf32_cuts_to_zero_may_be_lost_and_others_may_not) {
  auto c = middling_case(PLUMBLINE_ALIBI, Format::tf32, 2);
  auto contract = contract_of(Format::tf32);
  contract.operand_roundoff = 0x1p-10;
  const auto outcome_of_zeros = [&](float size) {
    std::fill(c.grad_o.begin(), c.grad_o.end(), size);
    auto zero = c;
    std::fill(zero.grad_o.begin(), zero.grad_o.end(), 0.0f);
    return worst_of(verdict::judge_gradients(c, contract, gradients_of(zero), 2));
  };
  BOOST_TEST((outcome_of_zeros(0x1p-138f) == Outcome::pass));
  BOOST_TEST((outcome_of_zeros(0x1p-126f) == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(gradients_of_the_wrong_size_are_bad_input) {
  const auto c = middling_case(PLUMBLINE_T5, Format::fp32, 1);
  auto outputs = gradients_of(c);
  outputs.grad_parameters[PLUMBLINE_TABLE].pop_back();
  BOOST_CHECK_THROW(judge(c, outputs), BadInput);
}

BOOST_AUTO_TEST_SUITE_END()
