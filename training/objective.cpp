// SPDX-License-Identifier: Apache-2.0
#include "training/objective.hpp"

#include "training/language_model.hpp"

namespace plumbline::training {

std::unique_ptr<Objective> make_objective(const Settings& settings,
                                          const text::Tokenizer& tokenizer) {
  return std::make_unique<LanguageModel>(settings, tokenizer);
}

}  // namespace plumbline::training
