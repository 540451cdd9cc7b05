// SPDX-License-Identifier: Apache-2.0
// A small SentencePiece model, trained on the spot.
#pragma once

#include <sentencepiece_trainer.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "support/atomic_file.hpp"

namespace plumbline::test {

/// Trains a model on forty short sentences and returns its path, folder / "small.model".
/// @param options in the trainer's command-line form, after the input, the output and silence.
inline std::filesystem::path train_small_model(const std::filesystem::path& folder,
                                               const std::string& options) {
  std::string text;
  for (const char* who : {"The plumb line", "A heavy stone", "My neighbour", "The tall mason"}) {
    for (const char* what : {"hangs", "waits", "falls", "turns", "sings"}) {
      for (const char* when : {"in the morning", "after 1234567890 days"}) {
        text += std::string(who) + " " + what + " " + when + ".\n";
      }
    }
  }
  write_file(folder / "corpus.txt", text);
  const auto prefix = folder / "small";
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      "--minloglevel=4 --input=" + (folder / "corpus.txt").string() +
      " --model_prefix=" + prefix.string() + " " + options);
  if (!status.ok()) throw std::runtime_error("training failed: " + status.ToString());
  return prefix.string() + ".model";
}

}  // namespace plumbline::test
