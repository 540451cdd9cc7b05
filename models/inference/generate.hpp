// SPDX-License-Identifier: Apache-2.0
// Texts continued by a trained model.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/inference/sampling.hpp"
#include "models/inference/trained_model.hpp"
#include "models/text/tokenizer.hpp"

namespace plumbline::inference {

struct GenerationSettings {
  SamplingSettings sampling;
  int tokens = 64;            ///< most that a prompt is continued with
  int samples = 1;            ///< continuations of every prompt
  int batch = 8;              ///< sequences that are continued together
  bool deterministic = true;  ///< gpu::DecoderRun: the same continuation in any batch
};

/// A continuation of a prompt.
struct Continuation {
  std::size_t number = 0;           ///< among all
  int prompt = 0, sample = 0;       ///< counted from 0
  std::vector<text::Token> tokens;  ///< without the end-of-text that ended it
  bool ended = false;               ///< by end-of-text, and not for the number of tokens
};

/// Called after every new token, with the continuation so far.
using OnToken = std::function<void(const Continuation&)>;

/// Continues every prompt `samples` times; the result is in the order of prompts, then of samples.
/// A prompt stands behind an end-of-text token, as documents do in training. End-of-text ends a
/// continuation; other tokens without text, and those that the tokenizer does not have, are never
/// chosen. Continuation `number` draws from the stream of
/// that number.
/// @throws BadInput naming the field: an empty prompt, no prompt, numbers below 1 or above 2^24,
/// and as validate(sampling); a tokenizer with more tokens than the model; BERT; a table of
/// learnable positions that is too short for prompt and continuation; logits that are not finite.
std::vector<Continuation> generate(const TrainedModel&, const text::Tokenizer&,
                                   const std::vector<std::string>& prompts,
                                   const GenerationSettings&, const OnToken& on_token = {});

}  // namespace plumbline::inference
