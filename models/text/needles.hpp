// SPDX-License-Identifier: Apache-2.0
// The eight needle tasks of RULER (Hsieh et al., arXiv:2404.06654, section 3.1 and Table 2), with
// sentences of our own: the same shapes, not the same texts, so that results compare within
// Plumbline only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/tokenizer.hpp"

namespace plumbline::text {

/// noise: one sentence again and again; essay: a running text; needles: nothing but sentences of
/// the same form as the one to be found.
enum class Haystack { noise, essay, needles };
enum class Secret { words, numbers, uuids };

struct NeedleTask {
  std::string_view name;
  Haystack haystack;
  Secret key, value;
  int keys;     ///< how many are hidden
  int values;   ///< of each key
  int queries;  ///< how many keys are asked for
};

/// | task        | haystack | key   | value   | keys | values | asked |
/// | single_1    | noise    | words | numbers | 1 | 1 | 1 |
/// | single_2    | essay    | words | numbers | 1 | 1 | 1 |
/// | single_3    | essay    | words | uuids   | 1 | 1 | 1 |
/// | multikey_1  | essay    | words | numbers | 4 | 1 | 1 |
/// | multikey_2  | needles  | words | numbers | 1 | 1 | 1 |
/// | multikey_3  | needles  | uuids | uuids   | 1 | 1 | 1 |
/// | multivalue  | essay    | words | numbers | 1 | 4 | 1 |
/// | multiquery  | essay    | words | numbers | 4 | 1 | 4 |
const std::vector<NeedleTask>& needle_tasks();
/// @throws BadInput listing the names if there is no such task.
const NeedleTask& needle_task(std::string_view name);

struct NeedleOptions {
  int length = 1024;      ///< tokens of the prompt and room for the answer together
  int answer_room = 128;  ///< RULER's
  std::uint64_t seed = 1;
  std::uint64_t number = 0;     ///< which of the seed's prompts
  std::optional<double> depth;  ///< 0 (front) to 1: where a single needle stands; else drawn
  std::string_view essay;  ///< the running text, again from its begin when it ends; empty: ours
};

struct NeedlePrompt {
  std::string text;
  std::vector<Token> tokens;         ///< end-of-text and the text's tokens
  std::vector<std::string> answers;  ///< in the order in which they are asked for
};

/// As many sentences of the haystack as fit. In an essay the needles stand at different ones of 40
/// evenly spaced depths, elsewhere behind different sentences.
/// @throws BadInput for a length that the needles and the question alone do not fit into, a depth
/// outside [0, 1] or for several needles, or an essay without a sentence.
NeedlePrompt needle_prompt(const Tokenizer& tokenizer, const NeedleTask& task,
                           const NeedleOptions& options);

/// The least NeedleOptions::length for this prompt: the needles, as many sentences of the haystack,
/// the question and room for the answer. @throws BadInput as needle_prompt().
int shortest_needle_prompt(const Tokenizer& tokenizer, const NeedleTask& task,
                           const NeedleOptions& options);

/// The share of the answers that occur in what a model said, in upper or lower case (RULER's
/// measure; of several prompts the mean counts).
double answers_found(const std::vector<std::string>& answers, std::string_view said);

}  // namespace plumbline::text
