// SPDX-License-Identifier: Apache-2.0
// `plumbline bench verdict` in small: correct kernels pass, plain faults are caught, and the other
// suites' criteria say of numbers by hand what their words say.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>

#include "tests/faults/judge/alarms.hpp"
#include "tests/faults/judge/arithmetic.hpp"
#include "tests/faults/judge/campaign.hpp"
#include "tests/faults/judge/kernel.hpp"
#include "tests/faults/judge/report.hpp"
#include "tests/faults/judge/store.hpp"
#include "tests/faults/judge/told_apart.hpp"
#include "verdict/cases/custom_bias.hpp"
#include "verdict/property/property.hpp"

namespace {

using namespace plumbline;
using bench::Criterion;

/// A forward case of one row with o = (1, 0), and what a kernel gave for it.
bool accepts_o(Criterion criterion, float first, float second, cases::Format format) {
  cases::Spec spec;
  spec.format = format;
  bench::CriterionReference reference;
  reference.exact.o = {1.0, 0.0};
  reference.same_precision.o = {1.0, 0.25};
  cases::Outputs outputs;
  outputs.o = {first, second};
  return accepts(criterion, spec, reference, outputs);
}

/// The first forward and backward mutants of these faults.
std::vector<bench::Mutant> some(const std::vector<bench::Mutant>& all,
                                const std::set<std::string>& names) {
  std::set<std::string> left = names;
  std::vector<bench::Mutant> chosen;
  for (const auto& mutant : all) {
    if (!mutant.diffuse && left.erase(mutant.name()) > 0) chosen.push_back(mutant);
  }
  BOOST_TEST(left.empty());
  return chosen;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_list_is_as_long_as_it_says) {
  const auto faults = bench::all_faults();
  const auto mutants = bench::all_mutants(faults);
  std::set<std::string> kinds, passes;
  for (const auto& mutant : mutants) {
    kinds.insert(mutant.info->name);
    passes.insert(std::string(cases::name(mutant.pass)));
  }
  BOOST_TEST(kinds.size() == faults.size());
  BOOST_TEST(kinds.size() >= 60u);
  BOOST_TEST(mutants.size() >= 300u);
  BOOST_TEST(passes.size() == 3u);
}

BOOST_AUTO_TEST_CASE(cutting_goes_towards_zero_by_less_than_a_step) {
  for (const float x : {1.0F, 1.001F, -1.001F, 0.3F, 65503.9F, -3.1415927F}) {
    for (const int format : {PLUMBLINE_BF16, PLUMBLINE_FP16, PLUMBLINE_TF32}) {
      const float kept = bench::truncated(x, format);
      BOOST_TEST(std::abs(kept) <= std::abs(x));
      BOOST_TEST(bench::rounded(kept, format) == kept);
      // bf16's step is 2^-7 of the number at most.
      BOOST_TEST(std::abs(x - kept) < std::abs(x) * 0x1p-7F);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_output_that_is_cut_is_stored_cut) {
  // 0.3 lies between the bf16 numbers 0x3e99 and 0x3e9a, nearer to the second.
  std::uint16_t nearest = 0, cut = 0;
  bench::store({0.3F}, &nearest, PLUMBLINE_BF16, false, {});
  bench::store({0.3F}, &cut, PLUMBLINE_BF16, true, {});
  BOOST_TEST(nearest == 0x3e9a);
  BOOST_TEST(cut == 0x3e99);
}

BOOST_AUTO_TEST_CASE(correct_kernels_raise_no_alarm) {
  const auto result = bench::false_alarms(240, 3, 1L << 16, 2);
  BOOST_TEST(result.runs == 240);
  BOOST_TEST(result.capped > 0);
  BOOST_TEST(result.with_sinks > 0);
  BOOST_TEST(result.more_queries > 0);
  BOOST_TEST(result.latent > 0);
  BOOST_TEST(result.custom > 0);
  for (const auto& alarm : result.alarms) BOOST_ERROR(alarm);
}

BOOST_AUTO_TEST_CASE(kernels_of_custom_biases_pass_in_every_pass_and_their_gradients_are_judged) {
  const bench::Variant variant;
  for (const auto& bias : bench::custom_biases()) {
    for (const auto pass : cases::all_passes()) {
      std::map<std::string, double> worst;
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const auto spec = bench::case_of(pass, bias, cases::Format::fp32, false, seed, 1L << 15);
        const auto kernel = bench::kernel_of({variant, {}, bench::built_in_formula(bias)});
        const auto judged = verdict::check_spec(kernel, spec, 1);
        BOOST_TEST((judged.outcome == verdict::Outcome::pass), cases::to_line(spec));
        for (const auto& [name, output] : judged.outputs) {
          worst[name] = std::max(worst[name], output.worst);
        }
      }
      if (pass != cases::Pass::backward) continue;
      for (const auto& parameter : cases::custom_of(bias).declared) {
        BOOST_TEST(worst.at("grad_" + parameter.name) > 0.001);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_reference_in_double_has_no_rows_that_packed_sequences_have_not) {
  cases::Spec spec;
  spec.pass = cases::Pass::backward;
  spec.batch = 3;
  spec.queries = spec.keys = 8;
  spec.head_dim = 4;
  spec.mask.ragged = spec.queries_at_end = true;
  spec.layout = cases::Layout::packed_sequences;
  int missing = 0;
  for (spec.seed = 0; spec.seed < 10; ++spec.seed) {
    const cases::Case the_case = cases::generate(spec);
    const auto results = bench::in_double(the_case);
    for (int row = 0; row < spec.batch * spec.queries; ++row) {
      if (the_case.has_row(row / spec.queries, row % spec.queries)) continue;
      ++missing;
      const double* o = results.o.data() + row * spec.head_dim;
      BOOST_TEST(std::all_of(o, o + spec.head_dim, [](double x) { return x == 0; }));
    }
  }
  BOOST_TEST(missing > 40);
}

BOOST_AUTO_TEST_CASE(a_subnormal_p_may_be_cut_to_tf32_on_its_way) {
  // Faint keys: P below 2^-126, stored in fp32, loses up to 2^-136 as an operand.
  const auto spec = cases::from_line(
      "pass=backward,bias=ggd,dtype=tf32,heads=2,kv_heads=2,queries=2,keys=1003,head_dim=96,"
      "query_offset=1001,causal=0,seed=1222763153");
  bench::Variant variant;
  variant.operand_bits = 10;
  const auto judged = verdict::check_spec(bench::kernel_of({variant, {}}), spec, 2);
  BOOST_TEST((judged.outcome == verdict::Outcome::pass));
}

BOOST_AUTO_TEST_CASE(plain_faults_are_caught_by_the_gate_that_is_there_for_them) {
  const auto faults = bench::all_faults();
  const auto mutants = some(bench::all_mutants(faults), {"scale_off 0.01",
                                                         "bias_sign",
                                                         "causal_sees_next",
                                                         "one_key_dropped",
                                                         "lse_base_2",
                                                         "nan_output",
                                                         "zero_output",
                                                         "writes_past_end",
                                                         "changes_input",
                                                         "throws",
                                                         "empty_row_nan",
                                                         "merge_unscaled",
                                                         "pages_ignored",
                                                         "d_missing",
                                                         "dq_unscaled",
                                                         "dk_sign",
                                                         "dv_zero",
                                                         "parameter_sign",
                                                         "reverse_sum_missing",
                                                         "rope_rotated_on",
                                                         "cope_rounded",
                                                         "dape_without_bias",
                                                         "dape_taps_reversed",
                                                         "cope_dq_without_table",
                                                         "mask_tensor_inverted",
                                                         "mask_tensor_transposed",
                                                         "mask_tensor_of_first_head",
                                                         "mask_tensor_of_first_sequence",
                                                         "backward_mask_tensor_ignored",
                                                         "values_read_with_key_stride",
                                                         "scale_of_value_dim",
                                                         "grad_lse_ignored",
                                                         "dropout_unscaled",
                                                         "dropout_in_denominator",
                                                         "keep_of_first_head",
                                                         "keep_of_first_sequence",
                                                         "keep_without_heads",
                                                         "keep_transposed",
                                                         "keep_inverted",
                                                         "dropout_seed_of_32_bits",
                                                         "dropout_offset_ignored",
                                                         "dropout_counter_of_32_bits",
                                                         "cache_scales_missing",
                                                         "cache_k_scale_missing",
                                                         "cache_v_scale_missing",
                                                         "cache_scales_exchanged",
                                                         "cache_scales_of_first_head",
                                                         "cache_scales_of_first_batch",
                                                         "cache_scales_of_next_head",
                                                         "cache_scale_of_first_key",
                                                         "cache_scale_pages_ignored",
                                                         "cache_scale_after_bias",
                                                         "cache_int8_unsigned",
                                                         "cache_e4m3_as_e5m2",
                                                         "cache_e5m2_as_e4m3",
                                                         "strides_of_k_ignored",
                                                         "strides_of_o_ignored",
                                                         "strides_of_dk_ignored",
                                                         "packed_queries_at_offsets_of_keys",
                                                         "packed_keys_of_first_sequence",
                                                         "backward_dv_undropped",
                                                         "backward_dp_undropped",
                                                         "backward_d_undropped",
                                                         "rotary_frequencies_of_head_dim",
                                                         "rotary_pairs_of_head_dim",
                                                         "rotary_dim_ignored",
                                                         "hidden_values_times_zero",
                                                         "softcap_ignored",
                                                         "softcap_before_scale",
                                                         "softcap_in_base_2",
                                                         "softcap_after_bias",
                                                         "backward_softcap_ignored",
                                                         "softcap_derivative_missing",
                                                         "softcap_derivative_uncapped",
                                                         "softcap_derivative_of_bias",
                                                         "sinks_ignored",
                                                         "sink_of_first_head",
                                                         "sink_scaled",
                                                         "sink_has_value",
                                                         "sink_missing_in_lse",
                                                         "sink_in_every_range",
                                                         "sink_alone_unseen",
                                                         "grad_sinks_sign",
                                                         "grad_sinks_without_d",
                                                         "grad_sinks_without_grad_lse",
                                                         "grad_sinks_without_lone_rows",
                                                         "position_clamped",
                                                         "position_clamped_backward",
                                                         "more_queries_from_start",
                                                         "rows_beyond_keys_hidden",
                                                         "mask_tensor_as_window",
                                                         "mask_tensor_as_range",
                                                         "lse_natural",
                                                         "backward_reads_natural_lse",
                                                         "grad_lse_of_natural",
                                                         "float_o_rounded",
                                                         "float_gradients_rounded",
                                                         "values_at_end_of_keys",
                                                         "custom_distance_signed",
                                                         "custom_of_head_0",
                                                         "custom_of_first_sequence",
                                                         "custom_decay_in_bf16",
                                                         "custom_distance_reversed",
                                                         "custom_query_side_missing",
                                                         "custom_key_side_missing",
                                                         "custom_parameter_last_batch"});
  bench::Effort effort;
  effort.threads = 2;
  effort.compared = 1;
  effort.products = 1L << 17;
  const auto result = bench::run_campaign(mutants, effort);
  BOOST_TEST(result.control.failed == 0);
  BOOST_TEST(result.control.judged > 0);
  for (const auto& mutant : result.mutants) {
    BOOST_TEST_CONTEXT(mutant.mutant->name() << " " << mutant.mutant->cell()) {
      BOOST_TEST(mutant.caught);
      const std::string name = mutant.mutant->name();
      if (name == "lse_base_2") {
        BOOST_TEST(mutant.gates.contains("bound: lse"));
        BOOST_TEST(!mutant.gates.contains("bound: o"));
      }
      if (name == "empty_row_nan") BOOST_TEST(mutant.gates.contains("exact rows"));
      if (name == "writes_past_end" || name == "changes_input" || name == "throws") {
        BOOST_TEST(mutant.gates == std::set<std::string>{"process"});
      }
      // They do not look at LSE: no criterion may claim to have seen it.
      if (name == "lse_base_2") BOOST_TEST(!mutant.caught_by[0]);
    }
  }
}

BOOST_AUTO_TEST_CASE(only_what_moves_nothing_beyond_roundings_can_be_told_by_nobody) {
  cases::Spec spec = cases::from_line(
      "pass=forward,bias=alibi,dtype=bf16,heads=2,kv_heads=2,queries=16,keys=16,head_dim=32,"
      "causal=0,seed=4");
  const auto faults = bench::all_faults();
  const auto mutants = bench::all_mutants(faults);
  bench::Mutant mutant = mutants.front();
  mutant.variant = bench::plain_variant(PLUMBLINE_BF16);
  const auto apart = [&](const std::string& name, double amount) {
    const auto info = std::find_if(faults.begin(), faults.end(),
                                   [&](const auto& fault) { return fault.name == name; });
    mutant.info = &*info;
    mutant.fault = {info->kind, amount};
    const auto the_case = cases::generate(spec);
    const auto given = bench::kernel_of({mutant.variant, {}}).run(the_case).outputs;
    const auto correct = bench::correct_kernels(the_case, mutant.variant, given);
    return bench::told_apart(the_case, correct, mutant, given);
  };
  // Of roundings in double alone: 2^-53 where correct kernels are off by 2^-24 and more.
  BOOST_TEST(apart("no_maximum", 0) < 1e-9);
  BOOST_TEST(apart("scale_off", 1e-2) > 100);
  BOOST_TEST(apart("p_truncated", 0) > 1);
  // Twice the effect is twice as many deviations: four times the square.
  const double once = apart("o_off", 1e-4);
  BOOST_TEST(std::abs(apart("o_off", 2e-4) / once - 4) < 1e-6);
  // No arithmetic, and a number that is none.
  BOOST_TEST(apart("throws", 0) == INFINITY);
  BOOST_TEST(apart("one_nan", 0) == INFINITY);
  // A row of one key: o is v in every correct kernel, and to move it at all is to be seen.
  spec.queries = spec.keys = 1;
  BOOST_TEST(apart("o_off", 1e-9) == INFINITY);
}

BOOST_AUTO_TEST_CASE(the_table_is_the_same_for_any_number_of_threads) {
  const auto faults = bench::all_faults();
  std::vector<bench::Mutant> few;
  const auto mutants = bench::all_mutants(faults);
  for (std::size_t n = 0; n < mutants.size(); n += 97) {
    if (!mutants[n].diffuse) few.push_back(mutants[n]);
  }
  const auto table = [&](int threads) {
    bench::Measured measured;
    measured.effort = {.seed = 5,
                       .threads = threads,
                       .draws = 6,
                       .judged = 2,
                       .compared = 1,
                       .products = 1L << 15};
    measured.campaign = bench::run_campaign(few, measured.effort);
    measured.alarms = bench::false_alarms(36, 5, 1L << 15, threads);
    BOOST_TEST(bench::all_right(measured));
    return bench::to_markdown(measured);
  };
  const std::string once = table(1);
  BOOST_TEST(once == table(2));
  BOOST_TEST(once.find("**False alarms: 0.**") != std::string::npos);
  BOOST_TEST(once.find("## Nobody can tell them") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_underflows_in_a_gradient_is_multiplied_by_the_factors_that_follow) {
  // theta_beta's gradient is dZ b ln x, of subnormal dZ: what dZ b loses counts |ln x| times.
  const auto spec = cases::from_line(
      "pass=backward,bias=ggd+rope_interleaved,dtype=fp32,ssmax=0,batch=3,heads=12,kv_heads=12,"
      "queries=2,keys=4,head_dim=128,query_offset=2,causal=0,window=0,ragged=1,documents=0,"
      "family=subnormal,seed=3759581337,sinks=1,queries_at_end=1,layout=packed_sequences");
  auto variant = bench::plain_variant(static_cast<int>(spec.format));
  variant.descending = variant.lse_gradient_apart = true;
  variant.exponential = bench::Exponential::folded;
  variant.lanes = 4;
  variant.splits = 8;
  variant.tile = 16;
  const auto judged = verdict::check_spec(bench::kernel_of({variant, {}}), spec, 2);
  BOOST_TEST((judged.outcome == verdict::Outcome::pass));
}

BOOST_AUTO_TEST_CASE(the_other_criteria_say_what_their_words_say) {
  using F = cases::Format;
  BOOST_TEST(accepts_o(Criterion::flat_2, 1.019F, 0.009F, F::bf16));
  BOOST_TEST(!accepts_o(Criterion::flat_2, 1.021F, 0, F::bf16));
  BOOST_TEST(accepts_o(Criterion::flat_3, 1.0019F, 0, F::bf16));
  BOOST_TEST(!accepts_o(Criterion::flat_3, 1.0021F, 0, F::bf16));
  BOOST_TEST(accepts_o(Criterion::triton, 1.009F, 0, F::fp16));
  BOOST_TEST(!accepts_o(Criterion::triton, 1.011F, 0, F::fp16));
  BOOST_TEST(accepts_o(Criterion::torch_defaults, 1.015F, 0, F::bf16));
  BOOST_TEST(!accepts_o(Criterion::torch_defaults, 1.015F, 0, F::fp16));
  BOOST_TEST(accepts_o(Criterion::xformers, 1.02F, 0.01F, F::bf16));
  BOOST_TEST(!accepts_o(Criterion::xformers, 1.02F, 0, F::fp32));
  // The same-precision run is off by 0.25 at most.
  BOOST_TEST(accepts_o(Criterion::flash_attention, 0.5F, 0, F::bf16));
  BOOST_TEST(!accepts_o(Criterion::flash_attention, 0.49F, 0, F::bf16));
  BOOST_TEST(accepts_o(Criterion::flash_attention, 0, 0, F::fp32));  // it says nothing of fp32
  // 5e-4 of 1: an error of 0.0223.
  BOOST_TEST(accepts_o(Criterion::llama_cpp, 1, 0.022F, F::bf16));
  BOOST_TEST(!accepts_o(Criterion::llama_cpp, 1, 0.023F, F::bf16));
  for (int n = 0; n < bench::criterion_count; ++n) {
    BOOST_TEST(!accepts_o(static_cast<Criterion>(n), std::nanf(""), 0, F::bf16));
  }
}
