// SPDX-License-Identifier: Apache-2.0
// A model's parameters, or their gradients, into a safetensors file with Hugging Face's names.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "models/checkpoint/naming.hpp"
#include "models/checkpoint/parameters.hpp"
#include "support/safetensors.hpp"

namespace plumbline::checkpoint {

/// What Hugging Face's loader asks for in a file's metadata.
inline const std::map<std::string, std::string> huggingface_metadata{{"format", "pt"}};

/// Writes every parameter under its full name as F64 (exact) or F32 (rounded to nearest), weights
/// that the naming lists as [in, out] turned back to that. A tied tensor is written once. The file
/// is written whole or not at all.
///
/// @throws BadInput naming the tensor for a number that is not finite, or not in the type that is
/// written; naming the path if it cannot be written. std::invalid_argument for another dtype.
void save_parameters(const std::filesystem::path&, const Naming&,
                     const std::vector<Parameter<const double>>&, Dtype = Dtype::f64,
                     const std::map<std::string, std::string>& metadata = huggingface_metadata);

/// The same for a whole model: save("model.safetensors", gpt2_naming(), parameters).
template <class Model>
void save(const std::filesystem::path& path, const Naming& naming, const Model& model,
          Dtype dtype = Dtype::f64) {
  save_parameters(path, naming, parameters_of(model), dtype);
}

}  // namespace plumbline::checkpoint
