// SPDX-License-Identifier: Apache-2.0
// Perplexity against context length: CABLE, tables 1, 4 and 5; BAM, figure 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/configuration.hpp"
#include "models/text/token_stream.hpp"

namespace plumbline::evaluation {

/// Which tokens are scored, at every length. With S = floor(min(tokens, size - 1) / longest)
/// longest, the stream's tokens 1, ..., S are the targets, in blocks of the longest length.
struct PerplexitySettings {
  std::vector<int> lengths;     ///< context lengths, each at least 1
  std::int64_t tokens = 65536;  ///< the most targets that one length has; 0: all of the stream
  /// 0: windows of each length L stand side by side, floor(S / L) of them, and every token of a
  /// window is scored. N > 0: only the last N targets of every block are scored, the same ones at
  /// every length, each time at the end of a window of L tokens.
  int last = 0;
};

/// Inputs first, ..., first + length - 1; the targets are the tokens after them, of which the last
/// `scored` count.
struct Window {
  std::int64_t first;
  int length, scored;
};

/// The windows of one length among settings.lengths for a stream of `size` tokens.
/// @throws BadInput naming the field: no length, a length below 1, one that the stream is too short
/// for, `tokens` below the longest length, `last` below 0 or above the shortest length.
std::vector<Window> windows_of(int length, const PerplexitySettings& settings, std::int64_t size);

struct PerplexityPoint {
  int length = 0;
  std::int64_t windows = 0, tokens = 0;  ///< scored
  double loss = 0.0;                     ///< mean over the scored tokens, nats
  /// Standard error of `loss`, taking the windows' means for independent; 0 for one window.
  double standard_error = 0.0;
  double seconds = 0.0;
  /// Why there is no loss: the model has no positions of that length, or there is not enough
  /// memory.
  std::string refused = {};
};

/// @throws BadInput for BERT, which predicts hidden tokens from both sides.
void validate_causal(const gpu::ModelConfiguration& model);

/// The mean loss of a causal model at one length. What the length is too much for is `refused`.
/// @throws BadInput as windows_of and validate_causal, and for a token that the model's vocabulary
/// has not.
PerplexityPoint perplexity_at(int length, const PerplexitySettings& settings,
                              const gpu::ModelConfiguration& model,
                              const std::vector<float>& parameters,
                              const text::TokenStream& stream);

}  // namespace plumbline::evaluation
