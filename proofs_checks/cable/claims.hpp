// SPDX-License-Identifier: Apache-2.0
// CABLE: formulas, settings and tables of results. One file each.
#pragma once

#include <vector>

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks::cable {

/// All of them, in the order in which they are reported.
std::vector<Claim> claims();

Claim penalises_distance();
Claim penalties_increase();
Claim alibi_reduction_as_printed();
Claim alibi_reduction_values();
Claim alibi_reduction_code_sign();
Claim slope_half_power_h();
Claim cumulative_sum();
Claim relu_positive();
Claim softplus_modulates();
Claim flexibility();
Claim prefix_sum_cache();
Claim anchors();
Claim bidirectional();
Claim relative_function_of_positions();
Claim sliding_window();
Claim k_cable_slope();
Claim k_cable_penalises();
Claim k_cable_weight_place();
Claim k_cable_less_window();
Claim equation_1_scale();
Claim alibi_approaches_zero();
Claim decay_proportional();
Claim t5_clipped();
Claim kerple_kernel();
Claim fire_psi();
Claim fire_prefers_distant();
Claim cope_binary_gate();
Claim fox();
Claim rope_relative();
Claim rope_need_not_decay();
Claim position_agnostic();
Claim dape_cost();
Claim ten_heads();
Claim parameters_small();
Claim parameters_medium();
Claim parameters_tiny();
Claim added_parameters();
Claim fineweb_epoch();
Claim batch_sizes();
Claim wikitext_epochs();
Claim bert_epoch();
Claim tokens_per_second();
Claim cumulative_sum_cost();
Claim sixteen_times_longer();
Claim abstract_medium();
Claim consistently_outperforms();
Claim table_4_every_length();
Claim table_5_data();
Claim nw_outperforms_alibi();
Claim full_outperforms_nw();
Claim consistent_improvement();
Claim alibi_degrades();
Claim t5_more_gradual();
Claim rope_trend();
Claim dape_ranking();
Claim retrieval_ranking();
Claim retrieval_others_degrade();
Claim sinusoidal_trained_at_8192();

}  // namespace plumbline::proofs_checks::cable
