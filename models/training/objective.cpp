// SPDX-License-Identifier: Apache-2.0
#include "models/training/objective.hpp"

#include "models/training/contrastive.hpp"
#include "models/training/language_model.hpp"

namespace plumbline::training {

std::unique_ptr<Objective> make_objective(const Settings& settings,
                                          const text::Tokenizer& tokenizer) {
  if (settings.contrastive) return std::make_unique<Contrastive>(settings, tokenizer);
  return std::make_unique<LanguageModel>(settings, tokenizer);
}

}  // namespace plumbline::training
