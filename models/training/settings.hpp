// SPDX-License-Identifier: Apache-2.0
// A training run as a person asks for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/configuration.hpp"
#include "models/text/sampler.hpp"
#include "models/training/checkpoint.hpp"
#include "ops/pooling.hpp"
#include "train/learning_rate.hpp"
#include "train/settings.hpp"

namespace plumbline::training {

/// Fine-tuning an encoder on pairs of texts (models/training/contrastive.hpp). CABLE, section 5.5,
/// names neither temperature nor pooling: these are its framework's, sentence-transformers'.
struct ContrastiveSettings {
  std::filesystem::path pairs;  ///< models/text/pairs.hpp
  gpu::Pooling pooling = gpu::Pooling::mean;
  double temperature = 0.05;
  int hard_negatives = 1;  ///< most of a pair's that are used, the first ones
};

struct Settings {
  gpu::ModelConfiguration model;
  /// A flat buffer of the model's layout to begin with; none: drawn from the seed.
  std::shared_ptr<const std::vector<float>> initial;
  std::optional<ContrastiveSettings> contrastive;  ///< none: a language model
  std::string tokenizer = "byte";                  ///< models/text/tokenizer.hpp
  std::vector<std::filesystem::path> data;         ///< texts and token shards, in order
  std::string separator;    ///< between the documents of a text; none: one a file
  double validation = 0.1;  ///< share of the tokens, the last ones

  int length = 64;             ///< tokens a row
  int batch = 16;              ///< rows of an update, of all ranks and parts together
  int part = 16;               ///< rows that go through the model at once; divides batch
  bool shuffled = true;        ///< windows in an order that is drawn for every epoch
  bool document_mask = false;  ///< attention stays within a document
  double masking = 0.15;       ///< BERT: share of the tokens to be predicted

  gpu::CosineSchedule schedule;
  gpu::OptimizerSettings optimizer;
  std::uint64_t seed = 1;     ///< of initial values, order, masking and dropout
  bool deterministic = true;  ///< the same bits every run
};

/// Where a run writes, how often, and how far it goes: what may differ when it is resumed.
struct Habits {
  std::filesystem::path folder;
  long updates = 0;           ///< the last one; 0: the schedule's. Beyond that, the lowest rate
  long save_every = 100;      ///< updates; 0: at the end only
  long evaluate_every = 100;  ///< updates; 0: at the end only
  int evaluation_rows = 64;   ///< most rows of the validation part
  int keep = 2;               ///< checkpoints that stay
  bool resume = false;
  /// Computes the first part once more before its time is taken: a GPU's kernels are loaded then.
  bool rehearse = false;
};

/// @throws BadInput naming the field, its value and what was expected.
void validate(const Settings&);
void validate(const Habits&);

/// Tokens that the model reads in an update, padding included.
std::int64_t tokens_per_update(const Settings&);

/// What a run and its resumption must have in common. @param data of Objective::data().
Terms terms_of(const Settings&, const Terms& data);

/// The model that terms were made for. @throws BadInput naming the field.
gpu::ModelConfiguration model_of(const Terms&);

}  // namespace plumbline::training
