// SPDX-License-Identifier: Apache-2.0
// What Hugging Face's config.json says of a model.
#pragma once

#include <filesystem>

#include "model/configuration.hpp"

namespace plumbline::checkpoint {

/// The model of a config.json with model_type gpt2, bert or llama, as transformers computes it:
/// learnable positions, or for llama RoPE in halves with rope_theta. Fields that change nothing
/// here are passed over; what a field does not say is transformers' default.
/// @throws BadInput naming the file, the field, its value and what was expected: no JSON, another
/// model_type, a size that is missing, and whatever no model here has: another activation,
/// scaled RoPE, biases in llama, a tied head in llama, one of its own in gpt2 or bert, a head_dim
/// beside hidden_size / heads.
gpu::ModelConfiguration huggingface_configuration(const std::filesystem::path& config_json);

}  // namespace plumbline::checkpoint
