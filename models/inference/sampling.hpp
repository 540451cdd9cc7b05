// SPDX-License-Identifier: Apache-2.0
// From logits to the next token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace plumbline::inference {

/// How the next token is chosen. As with Hugging Face's: first the temperature, then top_k, then
/// top_p of what is left.
struct SamplingSettings {
  double temperature = 1.0;  ///< logits are divided by it; 0: the most likely token (greedy)
  int top_k = 0;             ///< only the k most likely tokens; 0: all
  double top_p = 1.0;  ///< only the most likely tokens that together have at least this probability
  std::uint64_t seed = 1;
};

/// @throws BadInput naming the field: a temperature that is below 0 or not finite, top_k below 0,
/// top_p outside of (0, 1].
void validate(const SamplingSettings&);

struct Candidate {
  int token;
  double probability;
};

/// The tokens that may come next, the most likely first, of two that are alike the lower one, with
///   p_i = exp(z_i / temperature) / sum over the candidates,
/// in double. Candidates are the top_k largest z, of these the fewest most likely ones whose
/// probabilities sum to at least top_p (Holtzman et al., arXiv:1904.09751, section 3.1, equations 2
/// and 3). A logit of -infinity is no candidate. Greedy: the largest alone, with probability 1.
/// @throws BadInput if a logit is NaN or +infinity, or if there is no candidate.
std::vector<Candidate> candidates(std::span<const float> logits, const SamplingSettings&);

/// The first candidate whose probability, with those before it, is above u, u uniform in [0, 1): a
/// function of the seed, the number of the sequence and the number of the step (support/draw.hpp),
/// whatever else is drawn. @throws BadInput as candidates.
int next_token(std::span<const float> logits, const SamplingSettings&, std::uint64_t sequence,
               std::uint64_t step);

}  // namespace plumbline::inference
