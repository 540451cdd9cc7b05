// SPDX-License-Identifier: Apache-2.0
// BAM, in the order of the paper: definitions, lemmas, theorems, the prior's parameters, scalable
// softmax, the readings of Z in appendix K, then the printed numbers. One file each.
#pragma once

#include <vector>

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks::bam {

/// All of them, in the order in which they are reported.
std::vector<Claim> claims();

Claim definition_1();
Claim score_scale();
Claim definition_2();
Claim theorem_1();
Claim lemma_1();
Claim uniform_prior_positions();
Claim relative_distance();
Claim lemma_2();
Claim lemma_2_denominator();
Claim laplace_over_tokens();
Claim alibi_linear_bias();
Claim lemma_3();
Claim lemma_3_locality();
Claim lemma_4();
Claim theorem_2();
Claim theorem_2_proof();
Claim theorem_2_scale();
Claim theorem_2_necessarily();
Claim theorem_2_weights();
Claim heavier_tail();
Claim alpha_zero();
Claim theorem_3();
Claim theorem_3_epsilon();
Claim theorem_3_neighbours();
Claim theorem_4();
Claim inversion_exponent();
Claim beta_nonpositive();
Claim negative_beta_blind();
Claim negative_beta_far_end();
Claim negative_beta_not_gaussian();
Claim ggd_laplace();
Claim ggd_normal();
Claim ggd_larger_beta();
Claim ggd_limits();
Claim beta_zero_uniform();
Claim theta_parametrisation();
Claim theta_alpha_positive();
Claim epsilon_division();
Claim mu_parametrisation();
Claim mu_peak();
Claim figure_5();
Claim alibi_initialisation();
Claim fading_peaks();
Claim fading_uniform();
Claim ssmax_formula();
Claim ssmax_sharpness();
Claim ssmax_is_z();
Claim fades_more_than_alibi();
Claim rope_additive();
Claim t5_prior();
Claim quadratic_cost();
Claim temperature();
Claim z_sum();
Claim z_ratio_as_printed();
Claim z_overlap_range();
Claim z_overlap_maximal();
Claim z_renormalisation();
Claim z_reciprocal_overlap();
Claim z_information_identity();
Claim z_exp_information();
Claim z_mutual_information();
Claim z_one_iff_independent();
Claim z_shared_information();
Claim z_norms();
Claim z_cosine_caveat();
Claim z_free_energy();
Claim parameter_overhead();
Claim fewer_than_1000();
Claim percentage();
Claim embedding_parameters();
Claim transformer_layers();
Claim model_432m();
Claim learning_rate();
Claim global_batch();
Claim factor_500();
Claim factor_64();
Claim factor_512();
Claim accuracy_300000();
Claim prompt_length();
Claim passkey_depths();
Claim heatmap_cells();
Claim table_2_only_exception();
Claim table_3_all();
Claim table_4_outperforms();
Claim table_4_above_6k();
Claim table_4_single_3();
Claim table_4_second_best();
Claim table_5_every_task();
Claim table_5_single_1();
Claim table_5_longer();
Claim table_6_all();
Claim table_6_overall();
Claim table_7_extension();
Claim table_7_forty_percent();
Claim table_7_large_model();
Claim table_8_equivalent();
Claim table_8_ssmax_cost();
Claim table_8_sizes();

}  // namespace plumbline::proofs_checks::bam
