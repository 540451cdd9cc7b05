// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "proofs_checks/report.hpp"

namespace plumbline::proofs_checks {

const std::vector<Note>& notes() {
  static const std::vector<Note> all = {
      {"posterior.md",
       "Attention as a posterior",
       {"bam/definition_1", "bam/z_sum", "bam/theorem_1", "bam/t5_prior", "bam/definition_2"}},
      {"causal_mask.md",
       "The causal mask is a uniform prior",
       {"bam/lemma_1", "bam/uniform_prior_positions"}},
      {"alibi_prior.md",
       "ALiBi as a prior",
       {"bam/lemma_2", "bam/lemma_2_denominator", "bam/laplace_over_tokens"}},
      {"vanishing_weights.md",
       "Weights that vanish with the distance",
       {"bam/lemma_3", "bam/lemma_4", "bam/lemma_3_locality"}},
      {"theorem_2.md",
       "Theorem 2 of BAM",
       {"bam/theorem_2", "bam/theorem_2_scale", "bam/theorem_2_proof", "bam/theorem_2_necessarily",
        "bam/theorem_2_weights", "bam/fades_more_than_alibi", "bam/heavier_tail"}},
      {"negative_beta.md",
       "Theorems 3 and 4 of BAM: negative beta",
       {"bam/inversion_exponent", "bam/theorem_3", "bam/theorem_3_epsilon",
        "bam/theorem_3_neighbours", "bam/negative_beta_blind", "bam/theorem_4",
        "bam/negative_beta_far_end", "bam/beta_nonpositive", "bam/negative_beta_not_gaussian"}},
      {"ggd.md",
       "The generalised Gaussian family",
       {"bam/ggd_laplace", "bam/ggd_normal", "bam/ggd_larger_beta", "bam/ggd_limits",
        "bam/beta_zero_uniform", "bam/theta_parametrisation", "bam/theta_alpha_positive",
        "bam/epsilon_division", "bam/alpha_zero", "bam/mu_parametrisation", "bam/mu_peak",
        "bam/relative_distance", "bam/alibi_initialisation"}},
      {"scalable_softmax.md",
       "Fading attention and scalable softmax",
       {"bam/fading_peaks", "bam/fading_uniform", "bam/ssmax_formula", "bam/ssmax_sharpness",
        "bam/ssmax_is_z"}},
      {"readings_of_z.md",
       "Appendix K's three readings of Z",
       {"bam/z_ratio_as_printed", "bam/z_free_energy", "bam/temperature", "bam/z_overlap_range",
        "bam/z_overlap_maximal", "bam/z_renormalisation", "bam/z_reciprocal_overlap", "bam/z_norms",
        "bam/z_cosine_caveat", "bam/z_information_identity", "bam/z_mutual_information",
        "bam/z_exp_information", "bam/z_one_iff_independent"}},
      {"cable.md",
       "CABLE's equations 2 to 7",
       {"cable/relu_positive", "cable/cumulative_sum", "cable/penalises_distance",
        "cable/penalties_increase", "cable/anchors", "cable/softplus_modulates",
        "cable/flexibility", "cable/bidirectional", "cable/relative_function_of_positions",
        "cable/prefix_sum_cache", "cable/sliding_window"}},
      {"cable_alibi.md",
       "CABLE's reduction to ALiBi",
       {"cable/alibi_reduction_values", "cable/alibi_reduction_as_printed",
        "cable/alibi_reduction_code_sign", "cable/slope_half_power_h"}},
      {"k_cable.md",
       "K-CABLE's slower decay",
       {"cable/k_cable_slope", "cable/k_cable_penalises", "cable/k_cable_weight_place",
        "cable/k_cable_less_window"}},
      {"alibi.md",
       "ALiBi's slopes and its invariance",
       {"alibi/eight_slopes", "alibi/code_slopes_official", "alibi/geometric_slopes",
        "alibi/code_bias", "alibi/translation_invariance", "alibi/preferences_preserved",
        "cable/alibi_approaches_zero", "cable/decay_proportional"}},
  };
  return all;
}

const Note* note_of(const std::string& claim) {
  for (const Note& note : notes()) {
    if (std::find(note.claims.begin(), note.claims.end(), claim) != note.claims.end()) return &note;
  }
  return nullptr;
}

}  // namespace plumbline::proofs_checks
