// SPDX-License-Identifier: Apache-2.0
// The same as load.hpp and save.hpp for parameters in fp32.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "models/checkpoint/naming.hpp"
#include "models/checkpoint/parameters.hpp"
#include "models/checkpoint/save.hpp"

namespace plumbline::checkpoint {

/// As load_parameters in double, each number rounded to fp32 once, to nearest.
/// @throws BadInput as there, and naming the tensor for a number that is too large for fp32.
void load_parameters(const std::filesystem::path&, const Naming&,
                     const std::vector<Parameter<float>>&);

/// As save_parameters in double; written as F32, exactly. @throws BadInput as there.
void save_parameters(const std::filesystem::path&, const Naming&,
                     const std::vector<Parameter<const float>>&,
                     const std::map<std::string, std::string>& metadata = huggingface_metadata);

}  // namespace plumbline::checkpoint
