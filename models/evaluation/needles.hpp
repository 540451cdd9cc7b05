// SPDX-License-Identifier: Apache-2.0
// RULER's eight needle tasks (Hsieh et al., arXiv:2404.06654, section 3.1) by length, as in BAM,
// appendix F, tables 4 and 5; models/text/needles.hpp makes the prompts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/evaluation/answerer.hpp"

namespace plumbline::evaluation {

struct NeedleSettings {
  std::vector<std::string> tasks;  ///< names of text::needle_tasks()
  std::vector<int> lengths;        ///< tokens of the prompt and room for the answer together
  int prompts = 50;                ///< of each task and length; RULER has 500
  int answer_room = 128;           ///< tokens that are generated; RULER's
  std::uint64_t seed = 1;
  std::string essay = {};  ///< the running text around needles; empty: our own
  int batch = 8;           ///< prompts answered together: no answer depends on it
};

/// The prompts of one task and length.
struct NeedleCell {
  std::string task;
  int length = 0;
  std::string refused;  ///< why not; empty if it was
  double score = 0;     ///< see measure_needles()
};

struct NeedleResult {
  NeedleSettings settings;
  std::vector<NeedleCell> cells;  ///< tasks in the order of the settings, each with all lengths

  const NeedleCell& cell(std::size_t task, std::size_t length) const {
    return cells.at(task * settings.lengths.size() + length);
  }
};

/// @throws BadInput for no task, an unknown one or one that stands there twice, lengths as
/// validate_lengths() with the shortest length that all prompts fit into, prompts or a batch
/// outside [1, most_prompts], or an answer room outside [1, longest_length], naming the field.
void validate(const NeedleSettings&, const text::Tokenizer&);

/// What is said until end-of-text is searched for every answer, in upper or lower case; the score
/// is the mean over the prompts of the share of the answers found: 0 to 1 (RULER's
/// string_match_all, which is in percent). Prompt p of a task has the same secrets in every length.
/// What the answerer refuses is told in `refused`.
/// @throws BadInput as validate().
NeedleResult measure_needles(Answerer&, const text::Tokenizer&, const NeedleSettings&,
                             const Progress&);

/// The shortest length that all prompts of all tasks fit into. @throws BadInput as validate() but
/// for the lengths, which are not looked at.
int shortest_length(const NeedleSettings&, const text::Tokenizer&);

}  // namespace plumbline::evaluation
