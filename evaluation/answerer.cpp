// SPDX-License-Identifier: Apache-2.0
#include "evaluation/answerer.hpp"

#include <algorithm>

namespace plumbline::evaluation {

std::vector<Tokens> ask(Answerer& answerer, std::span<const Tokens> prompts, int count, int batch,
                        const std::function<void(long answered)>& answered) {
  std::vector<Tokens> result;
  while (result.size() < prompts.size()) {
    const std::size_t together =
        std::min(static_cast<std::size_t>(batch), prompts.size() - result.size());
    auto said = answerer.answers(prompts.subspan(result.size(), together), count);
    std::move(said.begin(), said.end(), std::back_inserter(result));
    answered(static_cast<long>(result.size()));
  }
  return result;
}

}  // namespace plumbline::evaluation
