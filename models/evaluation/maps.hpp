// SPDX-License-Identifier: Apache-2.0
// What the heads of a trained model attend to, and what its position method adds to their scores.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/configuration.hpp"
#include "models/text/tokenizer.hpp"
#include "support/pictures/picture.hpp"

namespace plumbline::evaluation {

/// Of one head. Row i is the query, column j the key: j <= i in causal models, all keys in BERT.
struct HeadMaps {
  int layer, head;
  std::vector<std::vector<double>> attention;  ///< p_ij
  /// b_ij = logit_ij - q_i . k_j / sqrt(head_dim), logit_ij = ln p_ij + lse_i: what the method adds
  /// to the score (RoPE: by how much turning q and k changes it). Minus infinity where p_ij is
  /// below 2^-126, fp32's smallest number with all its digits. Empty with SSMax, whose factor is on
  /// the score as well.
  std::vector<std::vector<double>> bias;
};

/// Scores of all heads together, layers x heads x length^2: each is two doubles, half a GiB at
/// most, and two values of 16 bytes where JSON is made of them.
inline constexpr long most_scores = 1L << 25;

/// @throws BadInput for no token, one that the model's vocabulary has not, more tokens than a table
/// of learnable positions has, or so many that there are more than `most_scores`.
void validate(const gpu::ModelConfiguration& model, const std::vector<text::Token>& tokens);

/// All heads of all layers on one sequence. @throws BadInput as validate.
std::vector<HeadMaps> head_maps(const gpu::ModelConfiguration& model,
                                const std::vector<float>& parameters,
                                const std::vector<text::Token>& tokens);

/// BAM's theta_alpha and theta_beta, a number a head; no layers for other methods.
struct PriorExponents {
  int layer;
  std::vector<double> theta_alpha, theta_beta;
};
std::vector<PriorExponents> prior_exponents(const gpu::ModelConfiguration& model,
                                            const std::vector<float>& parameters);

enum class MapKind { attention, bias };

/// All heads of one layer side by side.
pictures::Picture picture_of(const std::vector<HeadMaps>& all, int layer, MapKind kind);
/// theta_beta over theta_alpha, a colour a layer.
pictures::Picture picture_of(const std::vector<PriorExponents>& all);

/// "format": "plumbline-maps-1"; docs/evaluating.md has the fields.
nlohmann::ordered_json to_json(const std::vector<HeadMaps>&, const std::vector<PriorExponents>&);

}  // namespace plumbline::evaluation
