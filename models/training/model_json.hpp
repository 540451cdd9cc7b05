// SPDX-License-Identifier: Apache-2.0
// A model's configuration as JSON, for checkpoints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "model/configuration.hpp"

namespace plumbline::training {

std::string_view name(gpu::Architecture);  ///< gpt2, bert, llama_style
std::string_view name(gpu::Format);        ///< fp32, bf16, fp16, tf32
std::string_view name(gpu::PriorStart);    ///< uniform, slope

/// @throws BadInput listing the names for any other; `field` is what it was given as.
gpu::Architecture architecture_from(std::string_view name, const std::string& field);
gpu::Format format_from(std::string_view name, const std::string& field);
gpu::PriorStart prior_start_from(std::string_view name, const std::string& field);

nlohmann::json to_json(const gpu::ModelConfiguration&);
/// @throws BadInput for a field that is missing, of another type or unknown, and as
/// gpu::validate.
gpu::ModelConfiguration model_from_json(const nlohmann::json&);

}  // namespace plumbline::training
