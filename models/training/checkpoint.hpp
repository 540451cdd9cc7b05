// SPDX-License-Identifier: Apache-2.0
// What a training run goes on from, in one file: parameters under Hugging Face's names, the
// optimizer's moments, the number of updates, and the terms of the run.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "model/parameters.hpp"

namespace plumbline::training {

/// Flat buffers of model/parameters.hpp, on the host.
struct State {
  long updates = 0;  ///< made so far; the place in the data follows from it
  std::vector<float> parameters, mean, mean_square;
};

/// What a run and its resumption must have in common: model, data, optimizer, seed.
using Terms = nlohmann::json;

/// Writes a safetensors file, whole or not at all: every parameter as F32 under its name of
/// docs/models.md, GPT-2's weights turned to [in, out] as Hugging Face has them; its moments as
/// "optimizer.mean.NAME" and "optimizer.mean_square.NAME"; metadata `updates`, `terms` (JSON) and
/// `sha256`, of all the rest. Padding is not written.
/// @throws BadInput naming the path if it cannot be written. std::invalid_argument if a buffer has
/// not the layout's size.
void save_checkpoint(const std::filesystem::path&, const gpu::ModelConfiguration&,
                     const gpu::ParameterLayout&, const Terms&, const State&);

/// @throws BadInput naming the file, the field, its value and what was expected: it cannot be read,
/// is no checkpoint or is damaged (parse_safetensors, SHA-256); its name, where it is one of
/// checkpoint_path, says another number of updates; a tensor is missing, has another shape or type,
/// or is none of ours. OtherTerms (models/training/terms.hpp) where terms differ from `terms`.
State load_checkpoint(const std::filesystem::path&, const gpu::ModelConfiguration&,
                      const gpu::ParameterLayout&, const Terms& terms);

/// The terms that a file says it was made under. @throws BadInput as load_checkpoint.
Terms read_terms(const std::filesystem::path&);
/// The same, of a file that may be damaged, without reading its tensors.
Terms unchecked_terms(const std::filesystem::path&);

/// The file of a run's folder after so many updates: checkpoint-00000100.safetensors.
std::filesystem::path checkpoint_path(const std::filesystem::path& folder, long updates);

/// A folder's checkpoints, the newest last. Other files are passed over.
/// @throws BadInput if the folder cannot be read.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder);

}  // namespace plumbline::training
