// SPDX-License-Identifier: Apache-2.0
// Who answers prompts: a model, or in tests a script.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/text/tokenizer.hpp"

namespace plumbline::evaluation {

using Tokens = std::vector<text::Token>;

class Answerer {
 public:
  virtual ~Answerer() = default;

  /// Why nothing of this many tokens, prompt and answer together, can be asked; empty if it can.
  virtual std::string refusal(int tokens) const = 0;
  /// The greedy continuation of each prompt: `count` tokens, each the likeliest after all before
  /// it, the smaller one of two that are equally likely.
  /// @param prompts not empty; none is empty.
  virtual std::vector<Tokens> answers(std::span<const Tokens> prompts, int count) = 0;
};

/// Called with the number of prompts that are done so far and what is being asked.
using Progress = std::function<void(long done, const std::string& now)>;

/// What is asked: prompts 0, ..., prompts - 1, each made when its turn comes and forgotten when it
/// has been answered.
struct Questions {
  long prompts;
  std::function<Tokens(long n)> prompt;
  int answer_tokens;
  std::function<void(long n, const Tokens& said)> answered;  ///< in order
};

/// Asks everything, at most `batch` prompts together.
void ask(Answerer& answerer, const Questions& questions, int batch);

}  // namespace plumbline::evaluation
