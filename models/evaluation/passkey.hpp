// SPDX-License-Identifier: Apache-2.0
// Passkey retrieval by length and depth: BAM, section 3.1, figures 2 and 3; models/text/passkey.hpp
// makes the prompts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/evaluation/answerer.hpp"

namespace plumbline::evaluation {

struct PasskeySettings {
  std::vector<int> lengths;  ///< tokens of prompt and answer together
  int depths = 20;           ///< evenly spaced places of the key: 0 is the front, 1 the end
  int prompts = 1;           ///< of each length and depth
  std::uint64_t seed = 1;
  int batch = 20;  ///< prompts answered together: no answer depends on it
};

/// The prompts of one length and depth.
struct PasskeyCell {
  int keys = 0;    ///< answers that are the whole key
  int digits = 0;  ///< right digits in their places, of five an answer
};

struct PasskeyLength {
  int length = 0;
  std::string refused;             ///< why not; empty if it was
  std::vector<PasskeyCell> cells;  ///< by depth; empty if it was not measured
};

struct PasskeyResult {
  PasskeySettings settings;
  std::vector<PasskeyLength> lengths;  ///< as in the settings

  /// The share of the prompts whose whole key was said, of one cell, of all depths of one length,
  /// of one depth in all lengths that were measured.
  double accuracy(const PasskeyCell&) const;
  double accuracy(const PasskeyLength&) const;
  double accuracy_at_depth(int depth) const;  ///< NaN if no length was measured
  /// The share of the digits that were right: 0.1 for one who guesses them.
  double digit_accuracy(const PasskeyLength&) const;
  /// 0 to 1: the share of the filler before the key.
  double place(int depth) const { return depth / (settings.depths - 1.0); }
};

/// @throws BadInput as validate_lengths() with the length of a prompt without filler, and for
/// depths outside [2, 2^16], prompts or a batch outside [1, most_prompts], naming the field.
void validate(const PasskeySettings&, const text::Tokenizer&);

/// Asks for every key. Prompt p of depth d has the same key in every length; the lengths do not
/// depend on each other. What the answerer refuses is told in `refused`.
/// @throws BadInput as validate().
PasskeyResult measure_passkey(Answerer&, const text::Tokenizer&, const PasskeySettings&,
                              const Progress&);

}  // namespace plumbline::evaluation
