// SPDX-License-Identifier: Apache-2.0
// A trained model answers.
#pragma once

#include <memory>
#include <optional>

#include "inference/decoder.hpp"
#include "models/evaluation/answerer.hpp"

namespace plumbline::evaluation {

class DecoderAnswerer final : public Answerer {
 public:
  /// @param deterministic as gpu::DecoderRun: no answer depends on the prompts beside it.
  /// @throws BadInput for BERT, which continues nothing.
  DecoderAnswerer(const gpu::ModelConfiguration&, std::vector<float> parameters,
                  bool deterministic);

  /// Of a table of learnable positions that is too short.
  std::string refusal(int tokens) const override;
  /// @throws BadInput for logits that are not finite, tokens that the model has not, and more of
  /// them than refusal() allows.
  std::vector<Tokens> answers(std::span<const Tokens> prompts, int count) override;

 private:
  gpu::Decoder& decoder_for(std::size_t batch, std::size_t tokens);

  gpu::ModelConfiguration configuration_;
  std::vector<float> parameters_;
  bool deterministic_;
  std::optional<gpu::Decoder> decoder_;
};

}  // namespace plumbline::evaluation
