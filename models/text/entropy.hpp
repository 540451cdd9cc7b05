// SPDX-License-Identifier: Apache-2.0
// How hard a text is to predict: what a training loss is measured against.
#pragma once

#include <cstdint>
#include <vector>

#include "models/text/token_stream.hpp"

namespace plumbline::text {

/// How often each token stands in the stream: [vocabulary].
/// @throws BadInput for a token that is not below `vocabulary`.
std::vector<std::int64_t> token_counts(const TokenStream& stream, int vocabulary);

/// The unigram entropy -sum_v p_v ln p_v, p_v = counts_v / sum of counts, in nats per token: the
/// smallest mean loss on this very text of a model that sees no context. 0 ln 0 is 0.
/// @throws BadInput if all counts are 0.
double unigram_entropy(const std::vector<std::int64_t>& counts);

/// e^loss of a mean loss in nats per token. One choice among `perplexity` equally likely tokens
/// would be as hard.
double perplexity(double mean_loss);

/// loss tokens / (bytes ln 2): comparable between tokenizers, which perplexity is not.
/// @throws BadInput unless bytes > 0.
double bits_per_byte(double mean_loss, std::int64_t tokens, std::int64_t bytes);

}  // namespace plumbline::text
