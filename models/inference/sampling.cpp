// SPDX-License-Identifier: Apache-2.0
#include "models/inference/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/draw.hpp"
#include "support/error.hpp"

namespace plumbline::inference {

namespace {

template <class Number>
void expect(bool holds, const char* field, Number value, const char* expected) {
  if (!holds) throw BadInput(field, fmt::format("{}", value), expected);
}

/// The logits that are not -infinity, in double.
std::vector<Candidate> possible(std::span<const float> logits) {
  std::vector<Candidate> all;
  for (std::size_t n = 0; n < logits.size(); ++n) {
    const double logit = logits[n];
    if (logit == -INFINITY) continue;
    if (!std::isfinite(logit))
      throw BadInput(fmt::format("the logit of token {}", n), fmt::format("{}", logit),
                     "a finite number: the model's parameters are of no use");
    all.push_back({static_cast<int>(n), logit});
  }
  if (all.empty()) throw BadInput("the next token", "impossible", "a token that may come next");
  return all;
}

bool is_before(const Candidate& a, const Candidate& b) {
  return a.probability > b.probability || (a.probability == b.probability && a.token < b.token);
}

void normalize(std::vector<Candidate>& all) {
  double sum = 0.0;
  for (const Candidate& one : all) sum += one.probability;
  for (Candidate& one : all) one.probability /= sum;
}

}  // namespace

void validate(const SamplingSettings& s) {
  expect(std::isfinite(s.temperature) && s.temperature >= 0, "temperature", s.temperature,
         "a finite number of at least 0");
  expect(s.top_k >= 0, "top_k", s.top_k, "at least 0");
  expect(s.top_p > 0 && s.top_p <= 1, "top_p", s.top_p, "above 0 and at most 1");
}

std::vector<Candidate> candidates(std::span<const float> logits, const SamplingSettings& s) {
  std::vector<Candidate> all = possible(logits);
  const bool greedy = s.temperature == 0;
  const std::size_t most = greedy        ? 1
                           : s.top_k > 0 ? std::min<std::size_t>(s.top_k, all.size())
                                         : all.size();
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(),
                    is_before);
  all.resize(most);
  if (greedy) return {{all.front().token, 1.0}};
  const double largest = all.front().probability;
  // The difference before the quotient: a small temperature makes no infinity of the largest.
  for (Candidate& one : all)
    one.probability = std::exp((one.probability - largest) / s.temperature);
  normalize(all);
  if (s.top_p < 1) {
    double sum = 0.0;
    std::size_t kept = 0;
    while (kept < all.size() && sum < s.top_p) sum += all[kept++].probability;
    all.resize(kept);
    normalize(all);
  }
  return all;
}

int next_token(std::span<const float> logits, const SamplingSettings& s, std::uint64_t sequence,
               std::uint64_t step) {
  const std::vector<Candidate> all = candidates(logits, s);
  const double u = Draw(s.seed, sequence).uniform(step);
  double sum = 0.0;
  for (const Candidate& one : all) {
    sum += one.probability;
    if (sum > u) return one.token;
  }
  return all.back().token;  // u was above the sum, which rounding left below 1
}

}  // namespace plumbline::inference
