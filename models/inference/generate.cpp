// SPDX-License-Identifier: Apache-2.0
#include "models/inference/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inference/decoder.hpp"
#include "model/position_method.hpp"
#include "support/error.hpp"

namespace plumbline::inference {

namespace {

using Prompts = std::vector<std::vector<int>>;

void expect(bool holds, const char* field, int value, const std::string& expected) {
  if (!holds) throw BadInput(field, std::to_string(value), expected);
}

Prompts tokens_of(const text::Tokenizer& tokenizer, const std::vector<std::string>& prompts) {
  Prompts all;
  for (const std::string& prompt : prompts) {
    if (prompt.empty()) throw BadInput("prompt", "empty", "a text to continue");
    all.push_back({tokenizer.specials().end_of_text});
    for (const text::Token token : tokenizer.encode(prompt)) all.back().push_back(token);
  }
  return all;
}

void check(const gpu::ModelConfiguration& model, const text::Tokenizer& tokenizer,
           const Prompts& prompts, const GenerationSettings& s) {
  validate(s.sampling);
  constexpr int most = 1 << 24;
  expect(s.tokens >= 1 && s.tokens <= most, "tokens", s.tokens, "from 1 to 2^24");
  expect(s.samples >= 1 && s.samples <= most, "samples", s.samples, "from 1 to 2^24");
  expect(s.batch >= 1, "batch", s.batch, "at least 1");
  if (prompts.empty()) throw BadInput("prompt", "missing", "a text to continue");
  expect(tokenizer.vocabulary() <= model.vocabulary, "the tokenizer's vocabulary",
         tokenizer.vocabulary(),
         fmt::format("at most the model's, {}: it was trained with another tokenizer",
                     model.vocabulary));
  const bool table =
      gpu::position_method(model.position).embedded == gpu::EmbeddedPositions::learnable;
  for (std::size_t n = 0; table && n < prompts.size(); ++n) {
    // Nothing comes after the last token, which needs no position.
    const long needed = static_cast<long>(prompts[n].size()) + s.tokens - 1;
    if (needed > model.context)
      throw BadInput(
          "tokens",
          fmt::format("{} after the {} of prompt {}, which need {} positions", s.tokens,
                      prompts[n].size(), n + 1, needed),
          fmt::format("at most {} positions, the rows of the model's table", model.context));
  }
}

/// What may be chosen: logits of the others become -infinity.
class Choice {
 public:
  /// The model has `logits` of them, the tokenizer no more.
  Choice(const text::Tokenizer& tokenizer, int logits, const SamplingSettings& sampling)
      : logits_(logits),
        vocabulary_(tokenizer.vocabulary()),
        end_of_text_(tokenizer.specials().end_of_text),
        sampling_(sampling) {
    for (const text::Token token : tokenizer.without_text())
      if (token != end_of_text_) barred_.push_back(token);
  }

  std::size_t logits() const { return logits_; }
  int end_of_text() const { return end_of_text_; }

  int operator()(const float* logits, std::uint64_t sequence, std::uint64_t step) const {
    std::vector<float> own(logits, logits + vocabulary_);
    for (const text::Token token : barred_) own[token] = -INFINITY;
    return next_token(own, sampling_, sequence, step);
  }

 private:
  std::size_t logits_;
  int vocabulary_, end_of_text_;
  SamplingSettings sampling_;
  std::vector<text::Token> barred_;
};

/// Reads the prompts of some continuations; samples of one prompt are copies of the first.
std::vector<float> read_prompts(gpu::Decoder& decoder, const Prompts& prompts,
                                std::span<const Continuation> group) {
  Prompts given(decoder.batch());
  for (std::size_t b = 0; b < group.size(); ++b) {
    decoder.truncate(static_cast<int>(b), 0);
    if (b == 0 || group[b].prompt != group[b - 1].prompt) given[b] = prompts[group[b].prompt];
  }
  decoder.append(given);
  for (std::size_t b = 1; b < group.size(); ++b)
    if (given[b].empty()) decoder.copy(static_cast<int>(b) - 1, static_cast<int>(b));
  return decoder.append(Prompts(decoder.batch()));
}

/// The next token of every continuation that has not ended.
Prompts chosen(std::span<Continuation> group, const std::vector<float>& logits, int step,
               const Choice& choose, const OnToken& on_token) {
  Prompts next(logits.size() / choose.logits());
  for (std::size_t b = 0; b < group.size(); ++b) {
    Continuation& own = group[b];
    if (own.ended) continue;
    const int token = choose(logits.data() + b * choose.logits(), own.number, step);
    own.ended = token == choose.end_of_text();
    if (!own.ended) {
      own.tokens.push_back(static_cast<text::Token>(token));
      next[b] = {token};
    }
    if (on_token) on_token(own);
  }
  return next;
}

}  // namespace

std::vector<Continuation> generate(const TrainedModel& model, const text::Tokenizer& tokenizer,
                                   const std::vector<std::string>& prompts,
                                   const GenerationSettings& s, const OnToken& on_token) {
  const Prompts given = tokens_of(tokenizer, prompts);
  check(model.configuration, tokenizer, given, s);
  std::vector<Continuation> all;
  for (int prompt = 0; prompt < static_cast<int>(given.size()); ++prompt)
    for (int sample = 0; sample < s.samples; ++sample)
      all.push_back({.number = all.size(), .prompt = prompt, .sample = sample, .tokens = {}});

  std::size_t longest = 0;
  for (const auto& prompt : given) longest = std::max(longest, prompt.size());
  const int batch = static_cast<int>(std::min<std::size_t>(s.batch, all.size()));
  gpu::Decoder decoder(model.configuration,
                       {.batch = batch,
                        .capacity = static_cast<int>(longest) + s.tokens - 1,
                        .deterministic = s.deterministic},
                       model.parameters);
  const Choice choose(tokenizer, model.configuration.vocabulary, s.sampling);
  for (std::size_t first = 0; first < all.size(); first += batch) {
    const std::span group =
        std::span(all).subspan(first, std::min<std::size_t>(batch, all.size() - first));
    std::vector<float> logits = read_prompts(decoder, given, group);
    for (int step = 0; step < s.tokens; ++step) {
      const Prompts next = chosen(group, logits, step, choose, on_token);
      const bool last = step + 1 == s.tokens || std::ranges::all_of(next, &std::vector<int>::empty);
      if (last) break;
      logits = decoder.append(next);
    }
  }
  return all;
}

}  // namespace plumbline::inference
