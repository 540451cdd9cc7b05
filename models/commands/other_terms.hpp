// SPDX-License-Identifier: Apache-2.0
// Why a run cannot be resumed as it was asked for.
#pragma once

#include "models/commands/train_options.hpp"
#include "models/training/terms.hpp"

namespace plumbline::cli {

/// The options of `--resume` that are others than at the run's beginning, each with both values.
BadInput in_options(const training::OtherTerms& error, const TrainOptions& options,
                    const CLI::App& command);

}  // namespace plumbline::cli
