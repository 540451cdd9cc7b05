// SPDX-License-Identifier: Apache-2.0
// Planted faults of the campaign: a name that one gets must be true of it. The program's argument,
// 0 to 3, says which quarter of them is looked at.
#include <boost/test/unit_test.hpp>
#include <map>
#include <tuple>

#include "tests/faults/judge/kernel.hpp"
#include "tests/faults/judge/mutants.hpp"
#include "tests/verdict/naming_count.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/conventions/name_conventions.hpp"

BOOST_AUTO_TEST_SUITE(naming_test)

using namespace plumbline;
using F = bench::FaultKind;

namespace {

/// The names that are true of a fault, whatever the bias; all others follow no convention.
const std::map<F, std::string> right_names{
    {F::scale_missing, "scale_missing"},
    {F::scale_by_dim, "scale_twice"},
    {F::scale_of_padded_dim, "scale_of_padded_dim"},
    {F::component_dropped, "last_component_lost"},
    {F::softcap_ignored, "softcap_missing"},
    {F::softcap_before_scale, "softcap_before_scale"},
    {F::softcap_in_base_2, "scale_with_log2e"},  // the same
    {F::softcap_after_bias, "softcap_of_biased_scores"},
    {F::scales_missing, "scales_ignored"},
    {F::q_scale_missing, "q_scale_ignored"},
    {F::k_scale_missing, "k_scale_ignored"},
    {F::v_scale_missing, "v_scale_ignored"},
    {F::scales_exchanged, "scales_exchanged"},
    {F::scales_of_first_head, "scales_of_first_key_head"},
    {F::scales_of_first_batch, "scales_of_first_sequence"},
    {F::scale_of_first_key, "scale_of_first_key"},
    {F::scale_after_bias, "bias_times_scales"},
    {F::int8_unsigned, "int8_read_as_unsigned"},
    {F::e4m3_as_e5m2, "e4m3_read_as_e5m2"},
    {F::e5m2_as_e4m3, "e5m2_read_as_e4m3"},
    {F::bias_scaled, "bias_scaled"},
    {F::bias_sign, "bias_sign cable_sign_of_paper cable_sign_of_code"},
    {F::bias_missing, "bias_missing"},
    {F::signed_distance, "distance_signed"},
    {F::t5_bidirectional_swapped, "distance_reversed"},  // the same
    {F::cope_query_scaled, "bias_scaled"},               // its bias is q.e
    {F::heads_reversed, "bias_heads_reversed"},
    {F::naive_slopes, "slopes_without_interleaving"},
    {F::bias_without_offset, "offset_zero_in_bias"},
    {F::first_batch_bias, "tensor_of_first_sequence"},
    {F::prefix_exclusive, "prefix_exclusive"},
    {F::gain_missing, "gain_missing"},
    {F::gain_of_key, "gain_of_key"},
    {F::log_base_2, "bias_times_log2e"},
    {F::epsilon_missing, "epsilon_missing"},
    {F::mu_sign, "mu_sign"},
    {F::dape_network_missing, "dape_missing"},
    {F::rope_missing, "rope_missing"},
    {F::rope_base_10000, "rope_base_10000"},
    {F::rope_other_pairs, "rope_interleaved rope_half_split"},
    {F::ssmax_log_base_2, "ssmax_log2"},
    {F::ssmax_all_keys, "ssmax_of_all_keys"},
    {F::ssmax_position, "ssmax_of_position"},
    {F::ssmax_missing, "ssmax_missing"},
    {F::ssmax_without_bias, "ssmax_of_products_only"},
    {F::ssmax_subtracted, "ssmax_subtracted"},
    {F::mask_of_minus_20, "ssmax_of_all_keys"},  // it counts hidden keys, whose weights bf16 loses
    {F::causal_sees_next, "causal_one_late"},
    {F::causal_hides_own, "causal_strict"},
    {F::causal_reversed, "causal_reversed"},
    {F::causal_ignored, "causal_ignored"},
    {F::causal_without_offset, "offset_zero_in_mask offset_zero"},  // without a bias the same
    {F::window_wider, "window_wider"},
    {F::window_narrower, "window_narrower"},
    {F::window_one_sided, "window_one_sided"},
    {F::window_ignored, "window_ignored"},
    {F::window_sides_swapped, "window_sides_swapped"},
    {F::window_of_left_side, "window_of_left_side"},
    {F::mask_at_common_end, "queries_at_end_of_keys"},
    {F::bias_at_common_end, "queries_at_end_in_mask_only"},
    {F::lengths_ignored, "lengths_ignored"},
    {F::length_of_keys_only, "lengths_of_keys_only"},
    {F::length_of_first_batch, "lengths_of_first_sequence"},
    {F::documents_ignored, "documents_ignored"},
    {F::document_of_first_batch, "documents_of_first_sequence"},
    {F::base_2, "base_2_of_differences base_2"},
    {F::sinks_ignored, "sinks_missing"},
    {F::sink_of_first_head, "sinks_of_first_head"},
    {F::sink_scaled, "sinks_scaled"},
    {F::lse_base_2, "lse_base_2"},
    {F::lse_natural, "lse_times_ln2"},  // the same
    {F::lse_without_maximum, "lse_without_maximum"},
    {F::lse_without_log, "lse_without_logarithm"},
    {F::lse_sign, "lse_negated"},
    {F::empty_row_lse_zero, "lse_of_empty_rows_zero"},
    {F::d_missing, "softmax_gradient_without_d"},
    {F::d_sign, "softmax_gradient_d_sign"},
    {F::ds_sign, "grad_scores_sign"},
    {F::backward_bias_missing, "backward_bias_missing"},
    {F::backward_causal_ignored, "backward_causal_ignored"},
    {F::backward_window_ignored, "backward_window_ignored"},
    {F::backward_lengths_ignored, "backward_lengths_ignored"},
    {F::backward_documents_ignored, "backward_documents_ignored"},
    {F::backward_mask_tensor_ignored, "backward_mask_tensor_ignored"},
    {F::backward_softcap_ignored, "backward_softcap_missing"},
    {F::mask_tensor_ignored, "mask_tensor_ignored"},
    {F::mask_tensor_inverted, "mask_tensor_inverted"},
    {F::mask_tensor_as_range, "mask_tensor_ignored"},  // where it shows the first and the last key
    {F::mask_tensor_transposed, "mask_tensor_transposed"},
    {F::mask_tensor_of_first_head, "mask_tensor_of_first_head"},
    {F::mask_tensor_of_first_sequence, "mask_tensor_of_first_sequence"},
    {F::scale_of_value_dim, "scale_of_value_dim"},
    {F::grad_lse_ignored, "grad_lse_ignored"},
    {F::grad_lse_sign, "grad_lse_sign"},
    {F::dropout_unscaled, "dropout_unscaled"},
    {F::dropout_in_denominator, "dropout_in_denominator"},
    // The same where sequences after the first see nothing.
    {F::keep_of_first_head, "keep_of_first_head keep_without_heads"},
    {F::keep_of_first_sequence, "keep_of_first_sequence"},
    {F::keep_without_heads, "keep_of_first_head keep_without_heads"},
    {F::keep_transposed, "keep_transposed"},
    {F::keep_inverted, "keep_inverted"},
    {F::dropout_seed_of_32_bits, "dropout_seed_of_32_bits"},
    {F::dropout_offset_ignored, "dropout_offset_ignored"},
    {F::dropout_counter_of_32_bits, "dropout_counter_of_32_bits"},
    {F::backward_dv_undropped, "grad_v_without_dropout"},
    {F::backward_dp_undropped, "grad_scores_without_dropout"},
    {F::rotary_frequencies_of_head_dim, "rope_frequencies_of_head_dim"},
    {F::rotary_dim_ignored, "rope_of_all_components"},
    {F::dq_unscaled, "grad_q_unscaled"},
    {F::dq_scaled_twice, "grad_q_scaled_twice"},
    {F::dq_sign, "grad_q_sign"},
    {F::dk_unscaled, "grad_k_unscaled"},
    {F::dk_scaled_twice, "grad_k_scaled_twice"},
    {F::dk_sign, "grad_k_sign"},
    {F::dk_last_head_only, "grad_k_of_last_head"},
    {F::dv_sign, "grad_v_sign"},
    {F::dv_last_head_only, "grad_v_of_last_head"},
    {F::parameter_sign, "grad_bias_sign"},
    {F::parameter_scaled, "grad_bias_scaled"},
    {F::reverse_sum_exclusive, "increments_gradient_exclusive"},
    {F::rope_not_rotated_back, "grad_not_rotated_back"},
    {F::rope_rotated_on, "grad_rotated_twice"},
};

/// Shapes that bring out faults of masks, offsets, groups, tiles and sequences: small ones first.
constexpr std::array shapes{
    "heads=2,kv_heads=1,queries=4,keys=6,query_offset=2,head_dim=32,causal=1",
    "batch=2,heads=2,kv_heads=2,queries=5,keys=7,query_offset=1,head_dim=32,causal=1,window=3,"
    "ragged=1,documents=1",
    "heads=4,kv_heads=2,queries=6,keys=9,query_offset=2,head_dim=48,causal=0,window=2",
    "heads=3,kv_heads=3,queries=5,keys=8,query_offset=3,head_dim=32,causal=1,ssmax=1,window=4",
    "batch=2,heads=2,kv_heads=1,queries=20,keys=70,query_offset=50,head_dim=32,causal=1",
    "batch=3,heads=2,kv_heads=1,queries=4,keys=9,query_offset=5,head_dim=32,causal=0,window=3:1,"
    "ragged=1,queries_at_end=1"};

/// The first of the shapes where the fault is seen, with its names.
verdict::CellResult found(const bench::Mutant& mutant, std::size_t first) {
  verdict::CellResult cell;
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    cases::Spec spec = cases::from_line(shapes[(first + n) % shapes.size()]);
    spec.pass = mutant.pass;
    spec.bias = mutant.bias;
    spec.format = mutant.format;
    spec.seed = first;
    if (spec.bias == PLUMBLINE_FOX) spec.mask.causal = true;
    if (spec.pass == cases::Pass::decode) spec.page_size = 16;
    if (cases::needs_scores(spec.bias)) spec.queries_at_end = false;
    if (mutant.fault.is(F::mask_tensor_transposed)) {
      spec.queries = spec.keys;
      spec.query_offset = 0;
    }
    spec = bench::with_feature(spec, mutant.info->feature, first + n);
    const auto formula = bench::built_in_formula(mutant.bias);
    const auto kernel = bench::kernel_of({mutant.variant, mutant.fault, formula});
    cell = verdict::check_spec(kernel, spec, 1);
    if (cell.outcome != verdict::Outcome::fail) continue;
    verdict::name_conventions(kernel, cell, 1);
    break;
  }
  return cell;
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_planted_fault_gets_a_wrong_name) {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  BOOST_REQUIRE(suite.argc == 2);
  const std::size_t quarter = std::stoul(suite.argv[1]);
  BOOST_REQUIRE(quarter < 4u);
  test::NamingCount count;
  const auto faults = bench::all_faults();
  std::size_t turn = 0;
  std::map<std::tuple<F, cases::Format, cases::Pass>, int> planted;
  for (const auto& mutant : bench::all_mutants(faults)) {
    if (mutant.diffuse) continue;  // of thousands of keys
    // Decoding is the forward pass but for its cache.
    const bool of_cache = mutant.info->place == bench::Place::cache;
    if (mutant.pass == cases::Pass::decode && !of_cache) continue;
    // Of one kind in one format every fourth: all of them take minutes.
    const int before = planted[{mutant.fault.kind, mutant.format, mutant.pass}]++;
    if (before % 4 != 0 || ++turn % 4 != quarter) continue;
    const auto right = right_names.find(mutant.fault.kind);
    count.add(mutant.name() + ", " + mutant.cell(), found(mutant, turn),
              right == right_names.end() ? "" : right->second);
  }
  BOOST_TEST_MESSAGE("named rightly " << count.rightly << ", located " << count.located
                                      << ", named wrongly " << count.wrongly.size()
                                      << ", not found " << count.not_found);
  for (const auto& wrong : count.wrongly) BOOST_ERROR("named wrongly: " + wrong);
  // Most faults that follow a convention are told so; the others say nothing of it.
  BOOST_TEST(count.rightly > 10);
  BOOST_TEST(count.located > 10);
}

BOOST_AUTO_TEST_SUITE_END()
