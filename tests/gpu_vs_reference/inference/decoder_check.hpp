// SPDX-License-Identifier: Apache-2.0
// Logits with a cache against those of the oracle for whole sequences, within docs/bounds-model.md:
// the cache is another order of the same formulas.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "inference/decoder.hpp"
#include "reference/model/gpt2.hpp"
#include "tests/gpu_vs_reference/model/rounding_bound.hpp"
#include "tests/gpu_vs_reference/model/traced_tier.hpp"
#include "tests/gpu_vs_reference/model/training_step.hpp"

namespace plumbline::gpu_tests {

inline std::vector<float> test_parameters(const gpu::ModelConfiguration& c) {
  const gpu::ParameterLayout layout(c);
  std::vector<float> values(layout.size());
  for (const gpu::Parameter& p : layout.all())
    set_test_values(p, std::span(values).subspan(p.offset, p.size()));
  return values;
}

/// Tokens `first` .. `first` + `count` - 1 of test sequence `sequence`.
inline std::vector<int> some_tokens(int sequence, int first, int count) {
  std::vector<int> ids;
  for (int t = first; t < first + count; ++t) ids.push_back((7 * t + 3 + 5 * sequence) % 19);
  return ids;
}

/// The oracle's logits [tokens, vocabulary] of whole test sequences.
using OracleLogits = std::vector<reference::Matrix<reference::Traced>>;

/// Sums of a row's logits with random signs: an error of one logit is in both, whole.
struct LogitSums {
  explicit LogitSums(std::string what) : what_(std::move(what)) {}

  /// `got` are the device's logits after the token of `row`.
  void add(const float* got, const reference::Matrix<reference::Traced>& oracle, int row) {
    for (int trial = 0; trial < 2; ++trial) {
      const Draw draw(11, 2 * seeds_.size() + trial);
      std::vector<reference::Tape::Edge> own;
      double error = 0.0;
      for (Eigen::Index n = 0; n < oracle.cols(); ++n) {
        const double sign = draw.word(static_cast<std::uint64_t>(n)) % 2 == 0 ? 1.0 : -1.0;
        own.push_back({oracle(row, n).node(), sign});
        error += sign * (got[n] - oracle(row, n).value());
        squares_ += oracle(row, n).value() * oracle(row, n).value() / 2;
      }
      seeds_.push_back(std::move(own));
      errors_.push_back(std::fabs(error));
    }
  }

  /// Every sum within its bound, and the bounds below 1/1000 of the sums' size.
  void check() const {
    double worst = 0.0, loosest = 0.0;
    const std::size_t at_once = reference::Tape::kAtOnce;
    for (std::size_t first = 0; first < seeds_.size(); first += at_once) {
      const std::size_t count = std::min(at_once, seeds_.size() - first);
      const auto reaches = reference::Traced::tape.reach(std::span(seeds_).subspan(first, count));
      for (std::size_t n = 0; n < count; ++n) {
        const double bound = bound_of(reaches[n]);
        BOOST_TEST(errors_[first + n] <= bound, what_ << ", sum " << first + n << ": off by "
                                                      << errors_[first + n] << ", may be by "
                                                      << bound);
        worst = std::max(worst, errors_[first + n] / bound);
        loosest = std::max(loosest, bound);
      }
    }
    const double size = std::sqrt(squares_ / static_cast<double>(seeds_.size() / 2));
    std::printf("%s: %zu sums, error/bound at most %.3g; bound/size at most %.2g\n", what_.c_str(),
                seeds_.size(), worst, loosest / size);
    BOOST_TEST(loosest <= 1e-3 * size);
  }

 private:
  std::string what_;
  std::vector<std::vector<reference::Tape::Edge>> seeds_;
  std::vector<double> errors_;
  double squares_ = 0.0;
};

/// Sequences of 7 and 4 tokens, prompts of 5 and 1, each call with other numbers of tokens.
/// oracle(ids) are the logits of a whole sequence.
template <class Oracle>
void check_decoder(const gpu::ModelConfiguration& c, const Oracle& oracle, bool deterministic) {
  reference::Traced::tape.clear();
  const OracleLogits expected{oracle(some_tokens(0, 0, 7)), oracle(some_tokens(1, 0, 4))};
  gpu::Decoder decoder(c, {.batch = 2, .capacity = 9, .deterministic = deterministic},
                       test_parameters(c));
  LogitSums sums(c.position);
  std::vector<float> before(2 * static_cast<std::size_t>(c.vocabulary), 0.0f);
  const int calls[][2] = {{5, 1}, {1, 2}, {0, 1}, {1, 0}};
  for (const auto& call : calls) {
    std::vector<std::vector<int>> tokens;
    for (int b = 0; b < 2; ++b) tokens.push_back(some_tokens(b, decoder.length(b), call[b]));
    const std::vector<float> logits = decoder.append(tokens);
    for (int b = 0; b < 2; ++b) {
      const auto begin = logits.begin() + b * c.vocabulary;
      if (call[b] > 0)
        sums.add(&*begin, expected[b], decoder.length(b) - 1);
      else
        BOOST_TEST(std::equal(begin, begin + c.vocabulary, before.begin() + b * c.vocabulary));
    }
    before = logits;
  }
  BOOST_TEST(decoder.length(0) == 7);
  BOOST_TEST(decoder.length(1) == 4);
  sums.check();
}

/// 2 layers, 2 heads, width 64.
inline gpu::ModelConfiguration gpt2_to_decode(const char* position) {
  return {.layers = 2,
          .heads = 2,
          .kv_heads = 2,
          .width = 64,
          .hidden = 256,
          .vocabulary = 19,
          .context = 9,
          .position = position};
}

template <class Position>
reference::Matrix<reference::Traced> gpt2_oracle(const gpu::ModelConfiguration& c,
                                                 const Position& position,
                                                 const reference::PositionEmbedding& embedding,
                                                 const std::vector<int>& ids) {
  auto oracle = reference::gpt2(c.layers, c.heads, c.width, position);
  oracle.vocabulary = c.vocabulary;
  oracle.positions = c.context;
  oracle.ssmax = c.ssmax;
  oracle.embedding = embedding;
  auto parameters = reference::Gpt2Parameters<reference::Traced, Position>::zero(oracle);
  set_oracle_parameters(gpu::ParameterLayout(c), parameters);
  const auto state = reference::gpt2_forward<reference::TracedTier>(oracle, parameters, ids);
  return reference::gpt2_logits<reference::TracedTier>(parameters, state.hidden);
}

template <class Position>
void check_gpt2_decoder(
    const gpu::ModelConfiguration& c, const Position& position,
    const reference::PositionEmbedding& embedding = {.kind = reference::EmbeddedPositions::none},
    bool deterministic = true) {
  check_decoder(
      c, [&](const std::vector<int>& ids) { return gpt2_oracle(c, position, embedding, ids); },
      deterministic);
}

template <class Position>
void check_gpt2_decoder(const char* name, const Position& position, bool ssmax = false) {
  gpu::ModelConfiguration c = gpt2_to_decode(name);
  c.ssmax = ssmax;
  check_gpt2_decoder(c, position);
}

/// 71 tokens, beyond the training context: more than 64 of them at once, from the first one on and
/// after some, then one. 1 layer.
template <class Position>
void check_long_prompt(const char* name, const Position& position, bool ssmax) {
  gpu::ModelConfiguration c = gpt2_to_decode(name);
  c.layers = 1;
  c.ssmax = ssmax;
  reference::Traced::tape.clear();
  const auto expected =
      gpt2_oracle(c, position, {.kind = reference::EmbeddedPositions::none}, some_tokens(0, 0, 71));
  gpu::Decoder decoder(c, {.batch = 2, .capacity = 73}, test_parameters(c));
  LogitSums sums(c.position + ", 71 tokens");
  const auto append = [&](int of_first, int of_second) {
    const auto logits = decoder.append({some_tokens(0, decoder.length(0), of_first),
                                        some_tokens(0, decoder.length(1), of_second)});
    sums.add(logits.data(), expected, decoder.length(0) - 1);
    sums.add(logits.data() + c.vocabulary, expected, decoder.length(1) - 1);
  };
  append(70, 3);
  append(1, 67);
  append(0, 1);
  sums.check();
}

}  // namespace plumbline::gpu_tests
