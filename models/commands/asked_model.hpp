// SPDX-License-Identifier: Apache-2.0
// The model that `plumbline evaluate passkey` and `needles` ask, and what both take of the command
// line.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "cli/command.hpp"
#include "models/evaluation/decoder_answerer.hpp"

namespace plumbline::cli {

struct AskedModelOptions {
  std::string path, tokenizer, seed = "1", json, svg, backend = "emulated";
  std::vector<int> lengths;
  bool not_deterministic = false;
};
void add_asked_model_options(CLI::App& command, AskedModelOptions& options);

struct AskedModel {
  gpu::ModelConfiguration configuration;
  std::string tokenizer_name;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<evaluation::Answerer> answerer;

  /// @throws BadInput for a model that cannot be loaded or does not continue a text, or a tokenizer
  /// that is not known or has more tokens than the model.
  explicit AskedModel(const AskedModelOptions&);
};

/// Path, position method, training length and tokenizer.
nlohmann::ordered_json to_json(const AskedModelOptions&, const AskedModel&);

/// The position method and the path, for a picture.
std::string title_of(const AskedModelOptions&, const AskedModel&);

}  // namespace plumbline::cli
