// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/decoder_answerer.hpp"

#include <algorithm>

#include "models/evaluation/refusal.hpp"
#include "models/inference/sampling.hpp"
#include "support/error.hpp"

namespace plumbline::evaluation {

DecoderAnswerer::DecoderAnswerer(const gpu::ModelConfiguration& configuration,
                                 std::vector<float> parameters, bool deterministic)
    : configuration_(configuration),
      parameters_(std::move(parameters)),
      deterministic_(deterministic) {
  if (configuration.architecture == gpu::Architecture::bert) {
    throw BadInput("model", "bert", "gpt2 or llama_style: BERT does not continue a text");
  }
}

std::string DecoderAnswerer::refusal(int tokens) const {
  return evaluation::refusal(configuration_, tokens);
}

gpu::Decoder& DecoderAnswerer::decoder_for(std::size_t batch, std::size_t tokens) {
  const gpu::DecoderRun run{static_cast<int>(batch), static_cast<int>(tokens), deterministic_};
  if (!decoder_ || decoder_->batch() != run.batch || decoder_->capacity() < run.capacity) {
    decoder_.reset();  // its memory before the next one's
    decoder_.emplace(configuration_, run, parameters_);
  }
  for (int sequence = 0; sequence < run.batch; ++sequence) decoder_->truncate(sequence, 0);
  return *decoder_;
}

std::vector<Tokens> DecoderAnswerer::answers(std::span<const Tokens> prompts, int count) {
  std::size_t longest = 0;
  for (const Tokens& prompt : prompts) longest = std::max(longest, prompt.size());
  // The last token of an answer is not read.
  gpu::Decoder& decoder =
      decoder_for(prompts.size(), longest + static_cast<std::size_t>(count) - 1);
  std::vector<std::vector<int>> given;
  for (const Tokens& prompt : prompts) given.emplace_back(prompt.begin(), prompt.end());
  std::vector<Tokens> result(prompts.size());
  for (int n = 0; n < count; ++n) {
    const std::vector<float>& logits = decoder.append(given);
    const auto vocabulary = static_cast<std::size_t>(decoder.vocabulary());
    for (std::size_t b = 0; b < prompts.size(); ++b) {
      const int likeliest = inference::next_token(
          std::span(logits).subspan(b * vocabulary, vocabulary), {.temperature = 0}, 0, 0);
      result[b].push_back(static_cast<text::Token>(likeliest));
      given[b] = {likeliest};
    }
  }
  return result;
}

}  // namespace plumbline::evaluation
