// SPDX-License-Identifier: Apache-2.0
// Parameters of a model on the CUDA path (gpu/model/parameters.hpp) as files with Hugging Face's
// names, to and from its flat buffer in host memory.
#pragma once

#include <filesystem>
#include <span>

#include "model/parameters.hpp"
#include "models/checkpoint/naming.hpp"

namespace plumbline::checkpoint {

const Naming& naming_of(gpu::Architecture);

/// Sets every parameter, or none. @throws BadInput as load_parameters does; std::invalid_argument
/// unless `values` has the layout's size.
void load_model(const std::filesystem::path&, gpu::Architecture, const gpu::ParameterLayout&,
                std::span<float> values);

/// Writes F32, exactly, whole or not at all. Throws likewise.
void save_model(const std::filesystem::path&, gpu::Architecture, const gpu::ParameterLayout&,
                std::span<const float> values);

}  // namespace plumbline::checkpoint
