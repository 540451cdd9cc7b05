// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/answerer.hpp"

namespace plumbline::evaluation {

void ask(Answerer& answerer, const Questions& questions, int batch) {
  std::vector<Tokens> together;
  for (long n = 0; n < questions.prompts; ++n) {
    together.push_back(questions.prompt(n));
    const auto count = static_cast<long>(together.size());
    if (count < batch && n + 1 < questions.prompts) continue;
    const auto said = answerer.answers(together, questions.answer_tokens);
    for (long b = 0; b < count; ++b) {
      questions.answered(n + 1 - count + b, said.at(static_cast<std::size_t>(b)));
    }
    together.clear();
  }
}

}  // namespace plumbline::evaluation
