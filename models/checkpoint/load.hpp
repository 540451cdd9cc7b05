// SPDX-License-Identifier: Apache-2.0
// A model's parameters out of a safetensors file with Hugging Face's names.
#pragma once

#include <filesystem>
#include <vector>

#include "models/checkpoint/naming.hpp"
#include "models/checkpoint/parameters.hpp"

namespace plumbline::checkpoint {

/// Reads every parameter, widened to double (exact), weights that the naming lists as [in, out]
/// turned to [out, in]. The file is mapped, not copied. Either every parameter is set or none.
///
/// @throws BadInput naming the file, the tensor, what is found and what was expected: the file
/// cannot be read or is damaged (parse_safetensors); a parameter is missing, is there under two
/// names of the same meaning, has another shape, is not F64, F32, BF16 or F16, or holds a number
/// that is not finite; a tied tensor differs from its parameter; a tensor is neither parameter nor
/// tied nor among what the naming passes over.
void load_parameters(const std::filesystem::path&, const Naming&,
                     const std::vector<Parameter<double>>&);

/// The same for a whole model: load("model.safetensors", gpt2_naming(), parameters).
template <class Model>
void load(const std::filesystem::path& path, const Naming& naming, Model& model) {
  load_parameters(path, naming, parameters_of(model));
}

}  // namespace plumbline::checkpoint
