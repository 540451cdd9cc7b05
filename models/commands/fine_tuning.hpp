// SPDX-License-Identifier: Apache-2.0
// A training run that begins with weights that there are already.
#pragma once

#include <filesystem>
#include <string>

#include "models/commands/pooling.hpp"
#include "models/training/settings.hpp"

namespace plumbline::cli {

/// Settings that begin with a model's weights (models/inference/trained_model.hpp): its
/// configuration, its context as length, its tokenizer, a tenth of the preset's learning rate. What
/// is told to differ in training but not in the parameters may be changed: length, dropout, format,
/// RoPE's base, a window.
/// @throws BadInput as load_trained_model.
training::Settings begun_with(const std::filesystem::path& weights, training::Settings preset);

/// @throws BadInput naming the field, or the parameter, in which a model differs from the one that
/// the weights are of.
void expect_same_parameters(const gpu::ModelConfiguration& wanted,
                            const gpu::ModelConfiguration& of_weights);

/// For contrastive fine-tuning: CABLE, section 5.5 (a batch of 128), and the rate and decay of
/// sentence-transformers, which it uses.
training::Settings for_contrast(training::Settings preset);

/// 5 % of the updates: CABLE, section 5.5.
long warm_up_for_contrast(long updates);

}  // namespace plumbline::cli
