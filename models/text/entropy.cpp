// SPDX-License-Identifier: Apache-2.0
#include "models/text/entropy.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "support/error.hpp"

namespace plumbline::text {

std::vector<std::int64_t> token_counts(const TokenStream& stream, int vocabulary) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(vocabulary));
  for (const auto& piece : stream.pieces()) {
    for (const Token token : piece) {
      if (token >= vocabulary) {
        throw BadInput("token", std::to_string(token),
                       "less than the vocabulary's size " + std::to_string(vocabulary));
      }
      ++counts[token];
    }
  }
  return counts;
}

double unigram_entropy(const std::vector<std::int64_t>& counts) {
  const auto all =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  if (!(all > 0)) throw BadInput("number of tokens", "0", "at least 1");
  double entropy = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / all;
    entropy -= share * std::log(share);
  }
  return entropy;
}

double perplexity(double mean_loss) { return std::exp(mean_loss); }

double bits_per_byte(double mean_loss, std::int64_t tokens, std::int64_t bytes) {
  if (bytes < 1) throw BadInput("number of bytes", std::to_string(bytes), "at least 1");
  return mean_loss * static_cast<double>(tokens) / (static_cast<double>(bytes) * std::numbers::ln2);
}

}  // namespace plumbline::text
