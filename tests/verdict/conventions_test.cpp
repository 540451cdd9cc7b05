// SPDX-License-Identifier: Apache-2.0
// Kernels that follow another convention, each named as what it is; and kernels that are merely
// wrong, which get no name. The kernels are the campaign's (tests/faults/judge), in float and
// written from plumbline_kernel.h alone, with the convention as a fault; what it has not is done by
// a case or an output changed by hand.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <numbers>

#include "support/draw.hpp"
#include "tests/at_length.hpp"
#include "tests/faults/judge/kernel.hpp"
#include "tests/verdict/float_gradients.hpp"
#include "tests/verdict/naming_count.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/conventions/name_conventions.hpp"
#include "verdict/report/error_places.hpp"
#include "verdict/report/page/page.hpp"
#include "verdict/report/report.hpp"

BOOST_AUTO_TEST_SUITE(conventions_test)

using namespace plumbline;
using bench::FaultKind;
using cases::Case;

namespace {

using test::names_of;

/// As small as verify makes them, or nearly: the wider cases are name_conventions' own.
cases::Spec small(const std::string& line) {
  cases::Spec spec = cases::from_line(line);
  if (spec.heads == 1) spec.heads = spec.kv_heads = 2;
  spec.queries = 4;
  spec.keys = 6;
  spec.query_offset = 2;  // keys - queries, too
  if (spec.head_dim == 64) spec.head_dim = 32;
  if (spec.seed == 0) spec.seed = 5;
  return spec;
}

verdict::CellResult check(bench::Fault fault, const std::string& line) {
  const auto spec = small(line);
  const auto variant = bench::plain_variant(static_cast<int>(spec.format));
  const auto kernel = bench::kernel_of({variant, fault});
  auto cell = verdict::check_spec(kernel, spec, 1);
  verdict::name_conventions(kernel, cell, 1);
  return cell;
}

struct Named {
  FaultKind fault;
  const char* line;
  const char* name;
};
std::ostream& operator<<(std::ostream& out, const Named& named) {
  return out << named.name << " of " << named.line;
}

const Named of_kernels[] = {
    {FaultKind::bias_sign, "bias=alibi", "bias_sign"},
    {FaultKind::bias_sign, "bias=t5", "bias_sign"},
    {FaultKind::bias_sign, "bias=fire,dtype=bf16", "bias_sign"},
    {FaultKind::bias_sign, "bias=cable", "cable_sign_of_paper"},
    {FaultKind::bias_sign, "bias=cable_nw_paper", "cable_sign_of_code"},
    {FaultKind::bias_missing, "bias=kerple_log", "bias_missing"},
    {FaultKind::bias_scaled, "bias=alibi", "bias_scaled"},
    {FaultKind::signed_distance, "bias=alibi,causal=0", "distance_signed"},
    {FaultKind::signed_distance, "bias=cable,causal=0,dtype=fp16", "distance_signed"},
    {FaultKind::naive_slopes, "bias=alibi,heads=3,kv_heads=3", "slopes_without_interleaving"},
    {FaultKind::heads_reversed, "bias=ggd", "bias_heads_reversed"},
    {FaultKind::prefix_exclusive, "bias=cable", "prefix_exclusive"},
    {FaultKind::prefix_exclusive, "bias=fox", "prefix_exclusive"},
    {FaultKind::gain_missing, "bias=cable", "gain_missing"},
    {FaultKind::epsilon_missing, "bias=ggd,seed=1", "epsilon_missing"},
    {FaultKind::bias_without_offset, "bias=kerple_log", "offset_zero_in_bias"},
    {FaultKind::causal_without_offset, "bias=alibi", "offset_zero_in_mask"},
    {FaultKind::scale_missing, "bias=nope", "scale_missing"},
    {FaultKind::scale_by_dim, "bias=alibi,dtype=bf16", "scale_twice"},
    {FaultKind::base_2, "bias=alibi", "base_2_of_differences"},
    {FaultKind::lse_base_2, "bias=alibi", "lse_base_2"},
    {FaultKind::lse_sign, "bias=nope", "lse_negated"},
    {FaultKind::lse_without_maximum, "bias=nope", "lse_without_maximum"},
    {FaultKind::causal_reversed, "bias=alibi", "causal_reversed"},
    {FaultKind::causal_hides_own, "bias=alibi", "causal_strict"},
    {FaultKind::causal_sees_next, "bias=nope", "causal_one_late"},
    {FaultKind::causal_ignored, "bias=nope", "causal_ignored"},
    {FaultKind::window_wider, "bias=nope,window=3", "window_wider"},
    {FaultKind::window_narrower, "bias=nope,window=3", "window_narrower"},
    {FaultKind::window_one_sided, "bias=nope,window=2,causal=0", "window_one_sided"},
    {FaultKind::window_ignored, "bias=nope,window=2", "window_ignored"},
    {FaultKind::window_sides_swapped, "bias=nope,window=3:1,causal=0", "window_sides_swapped"},
    {FaultKind::window_of_left_side, "bias=alibi,window=1:2,causal=0", "window_of_left_side"},
    {FaultKind::mask_at_common_end, "bias=nope,ragged=1,queries_at_end=1,seed=6",
     "queries_at_end_of_keys"},
    {FaultKind::bias_at_common_end, "bias=alibi,ragged=1,queries_at_end=1,seed=6",
     "queries_at_end_in_mask_only"},
    {FaultKind::lengths_ignored, "bias=nope,ragged=1,seed=2", "lengths_ignored"},
    {FaultKind::length_of_keys_only, "bias=nope,ragged=1,causal=0,seed=2", "lengths_of_keys_only"},
    {FaultKind::documents_ignored, "bias=nope,documents=1", "documents_ignored"},
    {FaultKind::rope_other_pairs, "bias=rope_half_split", "rope_interleaved"},
    {FaultKind::rope_other_pairs, "bias=rope_interleaved", "rope_half_split"},
    {FaultKind::rope_missing, "bias=rope_interleaved", "rope_missing"},
    {FaultKind::rope_missing, "bias=alibi+rope_half_split", "rope_missing"},
    {FaultKind::rope_other_pairs, "bias=cable+rope_half_split,dtype=bf16", "rope_interleaved"},
    {FaultKind::heads_reversed, "bias=alibi+rope_half_split", "bias_heads_reversed"},
    {FaultKind::rope_not_rotated_back, "pass=backward,bias=kerple_log+rope_half_split",
     "grad_not_rotated_back"},
    {FaultKind::ssmax_missing, "bias=nope,ssmax=1", "ssmax_missing"},
    {FaultKind::ssmax_log_base_2, "bias=alibi,ssmax=1", "ssmax_log2"},
    {FaultKind::ssmax_all_keys, "bias=nope,ssmax=1", "ssmax_of_all_keys"},
    {FaultKind::ssmax_position, "bias=nope,ssmax=1,window=2", "ssmax_of_position"},
    {FaultKind::ssmax_without_bias, "bias=alibi,ssmax=1", "ssmax_of_products_only"},
    {FaultKind::ssmax_subtracted, "bias=nope,ssmax=1", "ssmax_subtracted"},
    {FaultKind::dq_unscaled, "pass=backward,bias=nope", "grad_q_unscaled"},
    {FaultKind::dk_unscaled, "pass=backward,bias=alibi", "grad_k_unscaled"},
    {FaultKind::dk_sign, "pass=backward,bias=cable", "grad_k_sign"},
    {FaultKind::d_missing, "pass=backward,bias=nope", "softmax_gradient_without_d"},
    {FaultKind::parameter_sign, "pass=backward,bias=kerple_log", "grad_bias_sign"},
    {FaultKind::d_sign, "pass=backward,bias=nope", "softmax_gradient_d_sign"},
    {FaultKind::backward_causal_ignored, "pass=backward,bias=nope", "backward_causal_ignored"},
    {FaultKind::dv_last_head_only, "pass=backward,bias=nope,heads=2", "grad_v_of_last_head"},
    {FaultKind::reverse_sum_exclusive, "pass=backward,bias=cable_nw",
     "increments_gradient_exclusive"},
    {FaultKind::reverse_sum_exclusive, "pass=backward,bias=fox", "increments_gradient_exclusive"},
    {FaultKind::rope_not_rotated_back, "pass=backward,bias=rope_half_split",
     "grad_not_rotated_back"},
    {FaultKind::rope_not_rotated_back, "pass=backward,bias=rope_interleaved,dtype=bf16",
     "grad_not_rotated_back"},
    {FaultKind::rope_rotated_on, "pass=backward,bias=rope_interleaved", "grad_rotated_twice"},
    {FaultKind::lse_without_log, "bias=nope", "lse_without_logarithm"},
    {FaultKind::scale_of_padded_dim, "bias=alibi,head_dim=48", "scale_of_padded_dim"},
    {FaultKind::scale_of_padded_dim, "bias=nope,head_dim=80,dtype=bf16", "scale_of_padded_dim"},
    {FaultKind::component_dropped, "bias=alibi,dtype=fp16", "last_component_lost"},
    {FaultKind::empty_row_lse_zero, "bias=nope,ragged=1,seed=2", "lse_of_empty_rows_zero"},
    {FaultKind::mask_tensor_ignored, "bias=nope,mask=scattered,causal=0", "mask_tensor_ignored"},
    {FaultKind::mask_tensor_inverted, "bias=alibi,mask=scattered,mask_per_head=1,causal=0",
     "mask_tensor_inverted"},
    {FaultKind::mask_tensor_of_first_head, "bias=nope,mask=scattered,mask_per_head=1,causal=0",
     "mask_tensor_of_first_head"},
    {FaultKind::mask_tensor_of_first_sequence,
     "bias=t5,batch=2,mask=scattered,mask_per_batch=1,causal=0,dtype=bf16",
     "mask_tensor_of_first_sequence"},
    {FaultKind::backward_mask_tensor_ignored, "pass=backward,bias=nope,mask=prefix,causal=0",
     "backward_mask_tensor_ignored"},
    {FaultKind::scale_of_value_dim, "bias=nope,value_dim=16", "scale_of_value_dim"},
    {FaultKind::grad_lse_ignored, "pass=backward,bias=nope,lse_gradient=1", "grad_lse_ignored"},
    {FaultKind::grad_lse_sign, "pass=backward,bias=alibi,lse_gradient=1,dtype=bf16",
     "grad_lse_sign"},
    // Merely wrong.
    {FaultKind::last_key_dropped, "bias=alibi", ""},
    {FaultKind::rows_reversed, "bias=nope", ""},
    {FaultKind::last_component_unwritten, "bias=nope", ""},
    {FaultKind::key_after, "bias=alibi", ""},
    {FaultKind::dropout_unscaled, "bias=nope,dropout=0.1", "dropout_unscaled"},
    {FaultKind::keep_of_first_head, "bias=nope,dropout=0.5,dtype=bf16", "keep_of_first_head"},
    {FaultKind::backward_dv_undropped, "pass=backward,bias=nope,dropout=0.5",
     "grad_v_without_dropout"},
    {FaultKind::backward_dp_undropped, "pass=backward,bias=alibi,dropout=0.25,dtype=bf16",
     "grad_scores_without_dropout"},
    {FaultKind::rotary_frequencies_of_head_dim, "bias=rope_half_split,rotary_dim=16",
     "rope_frequencies_of_head_dim"},
    {FaultKind::rotary_dim_ignored, "bias=alibi+rope_interleaved,rotary_dim=16",
     "rope_of_all_components"},
    {FaultKind::values_read_with_key_stride, "bias=nope,value_dim=16", ""},
    // What is dropped: dropout_offset is 6544356 of seed 6, just below 2^32 of seed 1, and 40 bits
    // wide of seed 20.
    {FaultKind::keep_inverted, "bias=nope,dropout=0.5", "keep_inverted"},
    {FaultKind::keep_transposed, "bias=alibi,dropout=0.5", "keep_transposed"},
    {FaultKind::keep_transposed, "bias=nope,dropout=0.5,keep_given=1", "keep_transposed"},
    {FaultKind::keep_of_first_sequence, "bias=nope,batch=2,dropout=0.5", "keep_of_first_sequence"},
    {FaultKind::keep_without_heads, "bias=nope,batch=2,dropout=0.5", "keep_without_heads"},
    {FaultKind::keep_without_heads, "bias=nope,dropout=0.5", "keep_of_first_head"},
    {FaultKind::dropout_seed_of_32_bits, "bias=nope,dropout=0.1", "dropout_seed_of_32_bits"},
    {FaultKind::dropout_offset_ignored, "bias=nope,dropout=0.5,seed=6", "dropout_offset_ignored"},
    {FaultKind::dropout_counter_of_32_bits, "bias=nope,dropout=0.5,seed=1",
     "dropout_counter_of_32_bits"},
    {FaultKind::dropout_counter_of_32_bits, "bias=alibi,dropout=0.2,dtype=bf16,seed=20",
     "dropout_counter_of_32_bits"},
    // Scales of 8-bit inputs and caches, and their formats.
    {FaultKind::q_scale_missing, "bias=alibi,dtype=e4m3", "q_scale_ignored"},
    {FaultKind::k_scale_missing, "bias=nope,dtype=e5m2", "k_scale_ignored"},
    {FaultKind::v_scale_missing, "bias=nope,dtype=e4m3", "v_scale_ignored"},
    {FaultKind::scales_missing, "bias=cable,dtype=e5m2", "scales_ignored"},
    {FaultKind::scales_exchanged, "bias=nope,dtype=e4m3", "scales_exchanged"},
    {FaultKind::scales_of_first_head, "bias=nope,dtype=e4m3", "scales_of_first_key_head"},
    {FaultKind::scales_of_first_batch, "bias=alibi,dtype=e5m2,batch=2", "scales_of_first_sequence"},
    {FaultKind::k_scale_missing, "pass=decode,bias=nope,cache=int8,dtype=bf16", "k_scale_ignored"},
    {FaultKind::v_scale_missing, "pass=decode,bias=alibi,cache=e4m3,scale_per_key=1",
     "v_scale_ignored"},
    {FaultKind::scales_missing, "pass=decode,bias=nope,cache=e5m2,dtype=fp16", "scales_ignored"},
    {FaultKind::scales_exchanged, "pass=decode,bias=nope,cache=int8,scale_per_key=1,page_size=16",
     "scales_exchanged"},
    {FaultKind::scales_of_first_head, "pass=decode,bias=nope,cache=e4m3,dtype=bf16",
     "scales_of_first_key_head"},
    {FaultKind::scales_of_first_batch, "pass=decode,bias=t5,cache=int8,batch=2,scale_per_key=1",
     "scales_of_first_sequence"},
    {FaultKind::scale_of_first_key, "pass=decode,bias=nope,cache=e5m2,scale_per_key=1,page_size=16",
     "scale_of_first_key"},
    {FaultKind::scale_after_bias, "pass=decode,bias=alibi,cache=int8,scale_per_key=1",
     "bias_times_scales"},
    {FaultKind::scale_after_bias, "pass=decode,bias=cable,cache=e4m3,dtype=bf16",
     "bias_times_scales"},
    {FaultKind::int8_unsigned, "pass=decode,bias=nope,cache=int8,dtype=fp16",
     "int8_read_as_unsigned"},
    {FaultKind::e4m3_as_e5m2, "pass=decode,bias=nope,cache=e4m3,page_size=16", "e4m3_read_as_e5m2"},
    {FaultKind::e5m2_as_e4m3, "pass=decode,bias=alibi,cache=e5m2,dtype=bf16", "e5m2_read_as_e4m3"},
    // Merely wrong.
    {FaultKind::scales_of_next_head, "pass=decode,bias=nope,cache=int8", ""},
    {FaultKind::scale_pages_ignored,
     "pass=decode,bias=nope,cache=int8,batch=2,scale_per_key=1,page_size=16,seed=2", ""},
};

/// Of a kernel that reads the case as `reads` leaves it, and whose outputs are as `writes` leaves
/// them.
struct ByHand {
  const char* name;
  const char* line;
  void (*reads)(Case&);
  void (*writes)(const Case&, cases::Outputs&) = nullptr;
};
std::ostream& operator<<(std::ostream& out, const ByHand& by_hand) {
  return out << by_hand.name << " of " << by_hand.line;
}

void set_slopes(Case& c, std::initializer_list<float> slopes) { c[PLUMBLINE_SLOPES] = slopes; }

/// [batch, heads, rows, dim] to [batch, rows, heads, dim] for one sequence.
std::vector<float> rows_first(const std::vector<float>& x, std::size_t heads, std::size_t dim) {
  const std::size_t rows = x.size() / heads / dim;
  std::vector<float> result;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t d = 0; d < dim; ++d) result.push_back(x[(h * rows + r) * dim + d]);
    }
  }
  return result;
}

/// Two key heads by the six query heads that read them: by h mod 2, where it should be h / 3.
void by_modulo(Case& c) {
  for (auto* x : {&c.k, &c.v}) {
    const std::vector<float> two = *x;
    for (int copies = 1; copies < 3; ++copies) x->insert(x->end(), two.begin(), two.end());
  }
  c.spec.kv_heads = 6;
}

const ByHand by_hand[] = {
    {"slopes_from_one", "bias=alibi",
     [](Case& c) {
       set_slopes(c, {1, 0x1.965feap-2F, 0x1.428a3p-3F, 0.0625F, 0x1.965feap-6F, 0x1.428a3p-7F});
     }},
    {"slopes_of_power_below", "bias=alibi",
     [](Case& c) {
       set_slopes(c, {0x1p-2F, 0x1p-4F, 0x1p-6F, 0x1p-8F, 0x1p-10F, 0x1p-12F});
     }},
    {"slopes_of_power_above", "bias=alibi",
     [](Case& c) {
       set_slopes(c, {0x1p-1F, 0x1p-2F, 0x1p-3F, 0x1p-4F, 0x1p-5F, 0x1p-6F});
     }},
    {"slopes_sorted", "bias=alibi",
     [](Case& c) {
       set_slopes(c, {0x1p-1F, 0x1p-2F, 0x1p-3F, 0x1p-4F, 0x1p-6F, 0x1p-8F});
     }},
    {"bias_after_log2e", "bias=alibi",
     [](Case& c) {
       for (float& m : c[PLUMBLINE_SLOPES]) m *= 0.693147181F;
     }},
    {"offset_zero", "bias=kerple_log", [](Case& c) { c.spec.query_offset = 0; }},
    {"offset_at_end", "bias=kerple_log", [](Case& c) { c.spec.query_offset = 16; }},
    {"queries_at_end_ignored", "bias=kerple_log,ragged=1,queries_at_end=1,seed=2",
     [](Case& c) { c.spec.queries_at_end = false; }},
    {"kv_head_modulo", "bias=nope", by_modulo},
    {"t5_bidirectional", "bias=t5", [](Case& c) { c.spec.bias = PLUMBLINE_T5_BIDIRECTIONAL; }},
    {"mu_sign", "bias=ggd,seed=3",
     [](Case& c) {
       for (float& mu : c[PLUMBLINE_THETA_MU]) mu = -mu;
     }},
    {"dape_missing", "bias=dape_v1_alibi", [](Case& c) { c.spec.bias.dape = 0; }},
    {"dape_missing", "bias=dape_v2_cable,dtype=bf16", [](Case& c) { c.spec.bias.dape = 0; }},
    {"gain_inside_logarithm", "bias=k_cable",
     [](Case& c) { c.spec.bias = PLUMBLINE_K_CABLE_PAPER; }},
    {"rope_base_10000", "bias=rope_half_split,seed=2",
     [](Case& c) { c.options[PLUMBLINE_BASE] = 10000; }},
    // With a pair's components swapped it is rotated the other way.
    {"rope_rotated_back", "bias=rope_interleaved",
     [](Case& c) {
       for (auto* x : {&c.q, &c.k}) {
         for (std::size_t n = 0; n < x->size(); n += 2) std::swap((*x)[n], (*x)[n + 1]);
       }
     }},
    {"o_rows_first", "bias=nope", nullptr,
     [](const Case&, cases::Outputs& out) { out.o = rows_first(out.o, 6, 32); }},
    {"scale_ignored", "bias=alibi,scale=0.3", [](Case& c) { c.scale = 1 / std::sqrt(32.0); }},
    {"lse_times_ln2", "bias=alibi", nullptr,
     [](const Case&, cases::Outputs& out) {
       for (float& x : out.lse) x *= 0.693147181F;
     }},
    {"lse_of_empty_rows_positive", "bias=nope,ragged=1,seed=2", nullptr,
     [](const Case&, cases::Outputs& out) {
       for (float& x : out.lse) x = std::isinf(x) ? -x : x;
     }},
    // 20 buckets of distances up to 320: in these loops too a quotient is no longer whole.
    {"t5_bucket_of_double", "bias=t5,seed=2",
     [](Case& c) { c.options[PLUMBLINE_MAX_DISTANCE] *= 1 + 1e-9; }},
    {"causal_added", "bias=nope,causal=0", [](Case& c) { c.spec.mask.causal = true; }},
    {"one_scale_for_all_heads", "pass=decode,bias=nope,cache=e4m3,batch=2,dtype=bf16",
     [](Case& c) {
       for (const auto& [numbers, scales] :
            {std::pair{&c.k, &c.k_scale}, std::pair{&c.v, &c.v_scale}}) {
         const std::size_t each = numbers->size() / scales->size();
         for (std::size_t n = 0; n < numbers->size(); ++n) {
           (*numbers)[n] *= (*scales)[0] / (*scales)[n / each];
         }
       }
     }},
    {"bias_times_scales", "bias=alibi,dtype=e4m3",
     [](Case& c) {
       for (std::size_t h = 0; h < 6; ++h) {
         c[PLUMBLINE_SLOPES][h] *= c.q_scale[h / 3] * c.k_scale[h / 3];
       }
     }},
};

/// Of a right forward pass, and a backward pass that reads the case, o and lse as `reads` leaves
/// them.
struct BackwardByHand {
  const char* name;
  const char* line;
  void (*reads)(Case&, cases::Outputs&);
};
std::ostream& operator<<(std::ostream& out, const BackwardByHand& by_hand) {
  return out << by_hand.name << " of " << by_hand.line;
}

const BackwardByHand backward_by_hand[] = {
    {"backward_causal_added", "bias=nope,causal=0",
     [](Case& c, cases::Outputs&) { c.spec.mask.causal = true; }},
    {"backward_causal_added", "bias=alibi,causal=0,dtype=bf16",
     [](Case& c, cases::Outputs&) { c.spec.mask.causal = true; }},
    {"backward_causal_ignored", "bias=nope,dtype=fp16",
     [](Case& c, cases::Outputs&) { c.spec.mask.causal = false; }},
    {"backward_reads_lse_base_2", "bias=alibi",
     [](Case&, cases::Outputs& given) {
       for (float& x : given.lse) x *= 0.693147181F;
     }},
    {"backward_lse_with_log2e", "bias=nope,dtype=bf16",
     [](Case&, cases::Outputs& given) {
       for (float& x : given.lse) x *= 1.44269504F;
     }},
    {"backward_scale_of_padded_dim", "bias=nope,head_dim=48",
     [](Case& c, cases::Outputs&) { c.scale *= std::sqrt(48.0 / 64); }},
    {"backward_bias_sign", "bias=alibi",
     [](Case& c, cases::Outputs&) {
       for (float& slope : c[PLUMBLINE_SLOPES]) slope = -slope;
     }},
    {"backward_bias_missing", "bias=alibi,dtype=bf16",
     [](Case& c, cases::Outputs&) {
       for (float& slope : c[PLUMBLINE_SLOPES]) slope = 0;
     }},
    {"backward_bias_missing", "bias=t5",
     [](Case& c, cases::Outputs&) {
       for (float& value : c[PLUMBLINE_TABLE]) value = 0;
     }},
    {"backward_k_scale_ignored", "bias=alibi,dtype=e4m3",
     [](Case& c, cases::Outputs&) { c.k = cases::unscaled(c.k, c.k_scale, c.spec.format); }},
    // Without a bias a query that stands one key later sees one key more.
    {"backward_causal_one_late", "bias=nope",
     [](Case& c, cases::Outputs&) { ++c.spec.query_offset; }},
    {"backward_causal_strict", "bias=nope,dtype=bf16",
     [](Case& c, cases::Outputs&) { --c.spec.query_offset; }},
};

cases::Spec wide(const std::string& line) {
  cases::Spec spec = cases::from_line(line);
  spec.heads = 6;
  spec.kv_heads = 2;
  spec.queries = 24;
  spec.keys = 40;
  spec.query_offset = spec.queries_at_end ? 16 : 8;
  if (spec.head_dim == 64) spec.head_dim = 32;
  return spec;
}

/// What `judge` says of these outputs.
verdict::Judgement judged(const Case& c, const cases::Outputs& outputs) {
  const auto contract = bench::contract_of(bench::plain_variant(static_cast<int>(c.spec.format)));
  auto judgement = verdict::judge(c, contract, outputs, 1);
  verdict::name_conventions(c, contract, outputs, judgement, 1);
  return judgement;
}

}  // namespace

BOOST_DATA_TEST_CASE(a_kernel_of_another_convention_is_named, of_kernels, named) {
  const auto cell = check({named.fault}, named.line);
  BOOST_REQUIRE(cell.counterexample.has_value());
  BOOST_TEST(names_of(cell.counterexample->judgement) == named.name);
}

BOOST_DATA_TEST_CASE(outputs_of_another_convention_are_named, by_hand, one) {
  const Case c = cases::generate(wide(one.line));
  Case read = c;
  if (one.reads) one.reads(read);
  auto outputs = test::float_attention(read);
  if (one.writes) one.writes(c, outputs);
  const auto judgement = judged(c, outputs);
  BOOST_REQUIRE((judgement.outcome == verdict::Outcome::fail));
  BOOST_TEST(names_of(judgement) == one.name);
}

/// The names of what is wrong with a kernel's gradients of the case.
std::string names_of_gradients(const Case& c, void (*reads)(Case&, cases::Outputs&)) {
  auto outputs = test::float_attention(c);
  Case read = c;
  auto given = outputs;
  reads(read, given);
  test::float_gradients(read, given);
  given.o = outputs.o;
  given.lse = outputs.lse;
  const auto judgement = judged(c, given);
  BOOST_REQUIRE((judgement.outcome == verdict::Outcome::fail));
  return names_of(judgement);
}

BOOST_DATA_TEST_CASE(gradients_of_another_convention_are_named, backward_by_hand, one) {
  cases::Spec spec = wide(one.line);
  spec.pass = cases::Pass::backward;
  BOOST_TEST(names_of_gradients(cases::generate(spec), one.reads) == one.name);
}

BOOST_AUTO_TEST_CASE(of_a_large_case_some_heads_gradients_are_named, *test::only_at_length) {
  // Kernels of one fixed shape have no smaller one.
  auto spec = cases::from_line(
      "pass=backward,bias=alibi,batch=2,heads=4,kv_heads=4,queries=256,keys=256,query_offset=0");
  const auto negated = [](Case& c, cases::Outputs&) {
    for (float& slope : c[PLUMBLINE_SLOPES]) slope = -slope;
  };
  BOOST_TEST(names_of_gradients(cases::generate(spec), negated) == "backward_bias_sign");
}

/// A convention whose bounds let anything pass matches anything: of 16 bits and a large scale they
/// do.
BOOST_AUTO_TEST_CASE(garbage_gets_no_name, *test::only_at_length) {
  int failed = 0;
  for (const char* line : {"bias=nope", "bias=alibi,causal=0", "bias=cable", "bias=rope_half_split",
                           "bias=nope,family=peaked", "bias=ggd,ssmax=1"}) {
    for (const auto format : {cases::Format::fp32, cases::Format::bf16, cases::Format::fp16}) {
      // Noise in place of the gradients, and added to them.
      for (const auto& [kept, size] : {std::pair(0.0, 1.0), std::pair(1.0, 0.1)}) {
        cases::Spec spec = wide(line);
        spec.pass = cases::Pass::backward;
        spec.format = format;
        spec.seed = 7;
        const Case c = cases::generate(spec);
        auto outputs = test::float_attention(c);
        test::float_gradients(c, outputs);
        const Draw draw(11, 0);
        std::uint64_t n = 0;
        const auto spoil = [&](std::vector<float>& tensor) {
          for (float& x : tensor) {
            const double noisy = kept * x + size * draw.normal(n++);
            x = cases::stored(static_cast<float>(noisy), format);
          }
        };
        spoil(outputs.grad_q);
        spoil(outputs.grad_k);
        spoil(outputs.grad_v);
        const auto judgement = judged(c, outputs);
        failed += judgement.outcome == verdict::Outcome::fail;
        BOOST_TEST(names_of(judgement) == "", line << ", " << cases::name(format) << ", noise "
                                                   << size << ": " << names_of(judgement));
      }
    }
  }
  BOOST_TEST(failed > 30);
}

BOOST_AUTO_TEST_CASE(lost_accuracy_gets_no_name, *test::only_at_length) {
  int failed = 0;
  for (const auto& [kind, amount] :
       std::initializer_list<bench::Fault>{{FaultKind::o_off, 0.002},
                                           {FaultKind::o_off, 0.02},
                                           {FaultKind::o_in_bf16, 0},
                                           {FaultKind::o_in_fp16, 0},
                                           {FaultKind::sum_in_bf16, 0},
                                           {FaultKind::sum_in_fp16, 0},
                                           {FaultKind::product_in_bf16, 0},
                                           {FaultKind::product_in_fp16, 0},
                                           {FaultKind::scores_in_bf16, 0},
                                           {FaultKind::scores_in_fp16, 0},
                                           {FaultKind::bias_in_bf16, 0},
                                           {FaultKind::p_in_bf16, 0},
                                           {FaultKind::p_noise, 0.01},
                                           {FaultKind::lse_in_bf16, 0}}) {
    for (const char* line : {"bias=alibi", "bias=alibi,dtype=bf16", "bias=t5,dtype=fp16",
                             "bias=rope_half_split,dtype=bf16"}) {
      const auto cell = check({kind, amount}, line);
      if (!cell.counterexample) continue;
      ++failed;
      const std::string names = names_of(cell.counterexample->judgement);
      BOOST_TEST(names == "", line << ", fault " << static_cast<int>(kind) << ": " << names);
    }
  }
  BOOST_TEST(failed > 18);
}

/// Where one key is visible, o is that key's v bit by bit, and o of a query that sees none is 0.
BOOST_AUTO_TEST_CASE(the_shrunk_case_still_shows_the_convention) {
  const auto plain = bench::plain_variant(PLUMBLINE_FP32);
  const auto hides_own = bench::kernel_of({plain, {FaultKind::causal_hides_own}});
  auto cell = verdict::check_cell(hides_own, cases::Pass::forward, PLUMBLINE_NOPE,
                                  cases::Format::fp32, 60, 3, 1, [](int) {});
  BOOST_REQUIRE(cell.counterexample.has_value());
  BOOST_TEST(cell.counterexample->judgement.kind == "outside_bound");
  BOOST_TEST(cell.counterexample->spec.keys == 2);
  verdict::name_conventions(hides_own, cell, 1);
  BOOST_TEST(names_of(cell.counterexample->judgement) == "causal_strict");

  // Drawn with one key, it gets its name from the wider cases.
  cases::Spec one = cases::from_line("bias=nope,queries=1,keys=1,head_dim=32,seed=5");
  cell = verdict::check_spec(hides_own, one, 1);
  BOOST_REQUIRE(cell.counterexample.has_value());
  BOOST_TEST(cell.counterexample->judgement.kind == "zeros");
  verdict::name_conventions(hides_own, cell, 1);
  BOOST_TEST(names_of(cell.counterexample->judgement) == "causal_strict");
  BOOST_TEST(cell.counterexample->judgement.kind == "outside_bound");
  BOOST_TEST(cell.counterexample->judgement.remark == "");

  const auto zeros = bench::kernel_of({plain, {FaultKind::zero_output}});
  cell = verdict::check_spec(zeros, one, 1);
  verdict::name_conventions(zeros, cell, 1);
  BOOST_REQUIRE(cell.counterexample.has_value());
  BOOST_TEST(cell.counterexample->judgement.kind == "zeros");
  BOOST_TEST(names_of(cell.counterexample->judgement) == "");
}

BOOST_AUTO_TEST_CASE(lse_that_is_right_is_not_called_wrong) {
  const Case c = cases::generate(wide("bias=nope"));
  Case read = c;
  read.scale = 1;
  auto outputs = test::float_attention(read);
  outputs.lse = test::float_attention(c).lse;
  const auto right = judged(c, outputs);
  BOOST_REQUIRE(right.matches.size() == 1u);
  BOOST_TEST(right.matches[0].text.starts_with("o is that of a kernel without the scale"));
  for (float& x : outputs.lse) x += 1;
  const auto wrong = judged(c, outputs);
  BOOST_REQUIRE(wrong.matches.size() == 1u);
  BOOST_TEST(wrong.matches[0].text.starts_with("o, but not lse, is that of a kernel without the"));
}

BOOST_AUTO_TEST_CASE(noise_of_any_size_gets_no_name) {
  for (const auto kind :
       {FaultKind::score_noise, FaultKind::o_noise, FaultKind::p_noise, FaultKind::scale_off}) {
    for (const double amount : {1e-1, 1e-2, 1e-3, 1e-4}) {
      BOOST_TEST(names_of(check({kind, amount}, "bias=ggd").counterexample->judgement) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(every_report_names_the_convention_and_what_to_do) {
  verdict::VerifyReport report;
  report.cells = {check({FaultKind::bias_sign}, "bias=alibi")};
  const std::string sentence =
      "o and lse are those of a kernel whose bias has the opposite sign: negate the bias";
  BOOST_TEST(verdict::describe_failure(report, report.cells[0]).find(sentence) !=
             std::string::npos);
  const auto json = verdict::to_json(report)["cells"][0]["counterexample"]["judgement"];
  BOOST_TEST(json["matches"][0]["name"] == "bias_sign");
  BOOST_TEST(json["matches"][0]["text"] == sentence);
  BOOST_TEST(verdict::to_junit(report).find("message=\"" + sentence) != std::string::npos);
  const auto sarif = verdict::to_sarif(report)["runs"][0]["results"][0];
  BOOST_TEST(sarif["properties"]["matches"][0] == "bias_sign");
  BOOST_TEST(verdict::to_html(report).find("<code>bias_sign</code> " + sentence) !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_case_as_it_was_drawn_says_where_errors_are_though_the_smallest_cannot) {
  const auto kernel =
      bench::kernel_of({bench::plain_variant(PLUMBLINE_FP32), {FaultKind::second_tile_dropped}});
  verdict::VerifyReport report;
  report.cells = {verdict::check_cell(kernel, cases::Pass::forward, PLUMBLINE_NOPE,
                                      cases::Format::fp32, 60, 3, 1, [](int) {})};
  BOOST_REQUIRE(report.cells[0].counterexample.has_value());
  const auto& found = *report.cells[0].counterexample;
  BOOST_TEST(found.spec.keys == 33);  // the second tile's first key is the last one
  BOOST_TEST(found.drawn.keys > 33);
  BOOST_REQUIRE(!found.drawn_places.empty());
  BOOST_TEST(found.drawn_places[0].starts_with("o: queries "));
  BOOST_TEST(verdict::describe_failure(report, report.cells[0]).find(found.drawn_places[0]) !=
             std::string::npos);
  const auto json = verdict::to_json(report)["cells"][0]["counterexample"]["drawn"];
  BOOST_TEST(json["case"] == cases::to_line(found.drawn));
  BOOST_TEST(json["where"][0] == found.drawn_places[0]);
}

BOOST_AUTO_TEST_CASE(what_failing_cases_share_is_in_every_report) {
  verdict::VerifyReport report;
  report.cells = {check({FaultKind::bias_sign}, "bias=alibi")};
  const std::string sentence = "fails in all 7 cases with head_dim = 80 and in none of 43 others";
  report.cells[0].counterexample->separates = {sentence};
  BOOST_TEST(verdict::to_html(report).find("<p>It " + sentence + ".</p>") != std::string::npos);
  BOOST_TEST(verdict::to_junit(report).find("  " + sentence + "\n") != std::string::npos);
  BOOST_TEST(verdict::describe_failure(report, report.cells[0]).find("  " + sentence + "\n") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_place_of_errors_is_said_in_words) {
  const auto where = [](std::vector<int> shape, const std::function<bool(int, int)>& fails) {
    verdict::OutputJudgement o{"lse", {"head", "query"}};
    o.shape = shape;
    for (int h = 0; h < shape[0]; ++h) {
      for (int i = 0; i < shape[1]; ++i) o.ratios.push_back(fails(h, i) ? 1.5 : 1.0);
    }
    return verdict::where_it_fails(o);
  };
  BOOST_TEST(where({2, 8}, [](int, int) { return false; }) == "");
  BOOST_TEST(where({2, 8}, [](int, int) { return true; }) == "");
  BOOST_TEST(where({2, 8}, [](int h, int) { return h == 1; }) == "head 1");
  BOOST_TEST(where({1, 100}, [](int, int i) { return i >= 64; }) ==
             "queries from 64 on (64 = 1 x 64)");
  // Where the axis ends no tile need do so.
  BOOST_TEST(where({1, 17}, [](int, int i) { return i < 16; }) == "queries 0 to 15");
  BOOST_TEST(where({1, 65}, [](int, int i) { return i > 22 && i < 64; }) == "queries 23 to 63");
  BOOST_TEST(where({1, 100}, [](int, int i) { return i >= 65; }) == "queries from 65 on");
  BOOST_TEST(where({1, 128}, [](int, int i) { return i / 32 == 2; }) ==
             "queries 64 to 95 (96 = 3 x 32)");
  BOOST_TEST(where({4, 64}, [](int h, int i) { return h < 2 && i % 16 == 15; }) ==
             "heads 0 to 1; every 16th query from 15 on");
  BOOST_TEST(where({1, 33}, [](int, int i) { return i == 32; }) == "the last query (32)");
  BOOST_TEST(where({1, 9}, [](int, int i) { return i == 1 || i == 4 || i == 5; }) ==
             "queries 1, 4 and 5");
  BOOST_TEST(where({1, 60}, [](int, int i) { return i < 8 && i % 3 != 0; }) ==
             "5 of 60 queries, between 1 and 7");
}

BOOST_AUTO_TEST_SUITE_END()
