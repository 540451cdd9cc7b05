// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/perplexity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

#include "inference/scorer.hpp"
#include "models/evaluation/refusal.hpp"
#include "support/error.hpp"

namespace plumbline::evaluation {

namespace {

/// Tokens that go through a model at once, where a window has fewer.
constexpr int tokens_at_once = 4096;

std::string in_text(std::int64_t number) { return std::to_string(number); }

/// Means of the scored tokens of every window, one call of the model after the other.
std::vector<double> window_losses(const std::vector<Window>& windows,
                                  const gpu::ModelConfiguration& model,
                                  const std::vector<float>& parameters,
                                  const text::TokenStream& stream) {
  const int length = windows.front().length;
  const int rows =
      static_cast<int>(std::min<std::size_t>(std::max(1, tokens_at_once / length), windows.size()));
  gpu::Scorer scorer(model, {.batch = rows, .length = length}, parameters);
  std::vector<text::Token> tokens(static_cast<std::size_t>(length) + 1);
  std::vector<double> means;
  for (std::size_t first = 0; first < windows.size(); first += rows) {
    const std::size_t count = std::min<std::size_t>(rows, windows.size() - first);
    std::vector<int> inputs, targets;
    for (std::size_t n = first; n < first + count; ++n) {
      stream.read(windows[n].first, tokens);
      inputs.insert(inputs.end(), tokens.begin(), tokens.end() - 1);
      targets.insert(targets.end(), tokens.begin() + 1, tokens.end());
    }
    const auto [least, most] = std::ranges::minmax(targets);
    const int largest = std::max(most, *std::ranges::max_element(inputs));
    if (largest >= model.vocabulary)
      throw BadInput("data", "token " + in_text(largest),
                     "tokens below the model's vocabulary, " + in_text(model.vocabulary));
    const std::vector<float> losses = scorer.losses({.batch = static_cast<int>(count),
                                                     .length = length,
                                                     .ids = inputs.data(),
                                                     .targets = targets.data()});
    for (std::size_t row = 0; row < count; ++row) {
      const int scored = windows[first + row].scored;
      double sum = 0.0;
      for (int t = length - scored; t < length; ++t) sum += losses[row * length + t];
      means.push_back(sum / scored);
    }
  }
  return means;
}

}  // namespace

std::vector<Window> windows_of(int length, const PerplexitySettings& s, std::int64_t size) {
  if (s.lengths.empty()) throw BadInput("lengths", "missing", "one context length at least");
  const auto [shortest, longest] = std::ranges::minmax(s.lengths);
  if (shortest < 1) throw BadInput("lengths", in_text(shortest), "at least 1");
  if (size <= longest)
    throw BadInput(
        "lengths", in_text(longest),
        fmt::format("at most {}, one less than the tokens that are evaluated", size - 1));
  if (s.tokens < 0 || (s.tokens > 0 && s.tokens < longest))
    throw BadInput("tokens", in_text(s.tokens),
                   fmt::format("at least the longest length, {}, or 0 for all", longest));
  if (s.last < 0 || s.last > shortest)
    throw BadInput("last", in_text(s.last), fmt::format("0 to {}, the shortest length", shortest));

  const std::int64_t most = s.tokens > 0 ? std::min(s.tokens, size - 1) : size - 1;
  const std::int64_t span = most / longest * longest;
  std::vector<Window> windows;
  if (s.last > 0) {
    for (std::int64_t end = longest; end <= span; end += longest)
      windows.push_back({end - length, length, s.last});
  } else {
    for (std::int64_t first = 0; first + length <= span; first += length)
      windows.push_back({first, length, length});
  }
  return windows;
}

void validate_causal(const gpu::ModelConfiguration& model) {
  if (model.architecture == gpu::Architecture::bert)
    throw BadInput("model", "bert", "gpt2 or llama_style: BERT does not predict the next token");
}

PerplexityPoint perplexity_at(int length, const PerplexitySettings& settings,
                              const gpu::ModelConfiguration& model,
                              const std::vector<float>& parameters,
                              const text::TokenStream& stream) {
  validate_causal(model);
  const std::vector<Window> windows = windows_of(length, settings, stream.size());
  PerplexityPoint point{.length = length};
  point.refused = refusal(model, length);
  if (!point.refused.empty()) return point;
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> means;
  try {
    means = window_losses(windows, model, parameters, stream);
  } catch (const std::bad_alloc&) {  // the other lengths and models have theirs
    point.refused = not_enough_memory;
    return point;
  }
  point.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  point.windows = static_cast<std::int64_t>(windows.size());
  point.tokens = point.windows * windows.front().scored;
  for (const double mean : means) point.loss += mean / static_cast<double>(means.size());
  if (means.size() > 1) {
    double squares = 0.0;
    for (const double mean : means) squares += (mean - point.loss) * (mean - point.loss);
    const auto n = static_cast<double>(means.size());
    point.standard_error = std::sqrt(squares / (n - 1) / n);
  }
  return point;
}

}  // namespace plumbline::evaluation
