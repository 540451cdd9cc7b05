// SPDX-License-Identifier: Apache-2.0
// The pictures of the claims. Each is drawn from the equations in reference/, in double.
#pragma once

#include "proofs_checks/pictures/picture.hpp"

namespace plumbline::proofs_checks::pictures {

// priors.cpp
Picture prior_curves();    ///< BAM's Figure 1: p(g_pos(i, j)) over the positions j of one query
Picture ggd_shapes();      ///< e^-|x/alpha|^beta over x/alpha for five beta
Picture laplace_sum();     ///< (m/2) coth(m/2): what the Laplace density sums to over tokens
Picture figure_5_bias();   ///< B as BAM's Figure 5 draws it, and as section 2.3 defines it
Picture own_key_weight();  ///< p_ii over p_i,i-1 by theta_beta, with appendix C's epsilon

// theorem_2.cpp
Picture theorem_2_ratio();    ///< B_ij / A_ij over the distance
Picture theorem_2_weights();  ///< weights under ALiBi and under GGD of the same m
Picture theorem_2_mass();     ///< mass beyond a window under both

// decay.cpp
Picture alibi_decay();  ///< Lemma 3: the farthest key's weight, bounded and unbounded content
Picture ggd_decay();    ///< Lemma 4, for several beta > 0
Picture negative_beta_decay();  ///< Theorem 4: beta < 0 beside NoPE
Picture fading();               ///< the largest weight over n, with scalable softmax and without

// normalisers.cpp
Picture z_random_pairs();       ///< appendix K: both printed expressions of Z at random scores
Picture overlap_of_mixtures();  ///< <p, q> as q goes from uniform to a one-hot vector

// alibi_slopes.cpp
Picture slopes_of_12_heads();   ///< official slopes against 2^(-8 h/12) and 1/2^h
Picture steep_and_gentle();     ///< mass of the nearest keys for m = 1/2 and 1/256
Picture exponential_weights();  ///< ALiBi's logit and weight over the distance

// cable.cpp
Picture bias_maps();           ///< ALiBi, CABLE as published and as printed, GGD
Picture k_cable_kernel();      ///< b and ln(1 + b^2)
Picture k_cable_window();      ///< mass beyond a window under CABLE and K-CABLE
Picture bidirectional_maps();  ///< CABLE over all keys, one sign, and with |S_i - S_j|

// rope.cpp
Picture rope_mixed_difference();  ///< what an additive score would have at 0

}  // namespace plumbline::proofs_checks::pictures
