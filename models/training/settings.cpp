// SPDX-License-Identifier: Apache-2.0
#include "models/training/settings.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "models/training/model_json.hpp"
#include "support/error.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

namespace plumbline::training {

namespace {

template <class T>
void expect(bool holds, const char* field, const T& value, const std::string& expected) {
  if (!holds) throw BadInput(field, fmt::format("{}", value), expected);
}

std::string_view name(gpu::OptimizerKind kind) {
  switch (kind) {
    case gpu::OptimizerKind::radam:
      return "radam";
    case gpu::OptimizerKind::radam_pytorch:
      return "radam_pytorch";
    default:
      return "adamw";
  }
}

std::string digest_of(const std::vector<float>& values) {
  Sha256 sum;
  sum.add(std::as_bytes(std::span(values)));
  return sum.digest();
}

Terms objective_of(const Settings& s) {
  if (!s.contrastive) return "language_model";
  return {{"kind", "contrastive"},
          {"pooling", s.contrastive->pooling == gpu::Pooling::cls ? "cls" : "mean"},
          {"temperature", s.contrastive->temperature},
          {"hard_negatives", s.contrastive->hard_negatives}};
}

void validate_contrastive(const Settings& s) {
  const ContrastiveSettings& c = *s.contrastive;
  if (s.model.architecture != gpu::Architecture::bert)
    throw BadInput("objective", "contrastive for a causal model", "a BERT, by --from or --preset");
  if (c.pairs.empty()) throw BadInput("pairs", "missing", "a file of queries and positives");
  if (!s.data.empty())
    throw BadInput("data", path_in_quotes(s.data.front()),
                   "pairs alone, for objective contrastive");
  expect(std::isfinite(c.temperature) && c.temperature > 0, "temperature", c.temperature,
         "finite and above 0");
  expect(c.hard_negatives >= 0, "hard_negatives", c.hard_negatives, "at least 0");
  expect(s.length >= 3, "length", s.length, "at least 3: cls, a token, sep");
}

}  // namespace

void validate(const Settings& s) {
  gpu::validate(s.model);
  gpu::validate(s.schedule);
  gpu::validate(s.optimizer);
  if (s.contrastive)
    validate_contrastive(s);
  else if (s.data.empty())
    throw BadInput("data", "missing", "a text or a token shard");
  expect(s.length >= 1, "length", s.length, "at least 1");
  expect(s.batch >= 1, "batch", s.batch, "at least 1");
  expect(s.part >= 1 && s.batch % s.part == 0, "part", s.part,
         fmt::format("a divisor of batch, {}", s.batch));
  // What fp32 does not take for 0, nor for infinite.
  constexpr float least = std::numeric_limits<float>::min(),
                  most = std::numeric_limits<float>::max();
  expect(s.schedule.highest >= least && s.schedule.highest <= most, "learning_rate",
         s.schedule.highest, fmt::format("a number from {:.2g} to {:.2g}", least, most));
  expect(s.optimizer.weight_decay <= most, "weight_decay", s.optimizer.weight_decay,
         fmt::format("at most {:.2g}", most));
  expect(std::isfinite(s.validation) && s.validation > 0 && s.validation < 1, "validation",
         s.validation, "a share of the tokens between 0 and 1");
  expect(s.masking > 0 && s.masking <= 1, "masking", s.masking, "above 0 and at most 1");
  if (s.model.position == "learnable")
    expect(
        s.length <= s.model.context, "length", s.length,
        fmt::format("at most {}, the rows of the table of learnable positions", s.model.context));
  if (s.model.format == gpu::Format::fp16)
    throw BadInput("format", "fp16", "bf16, fp32 or tf32: fp16 would need a scaled loss");
}

void validate(const Habits& h) {
  if (h.folder.empty()) throw BadInput("out", "missing", "a folder for the run");
  expect(h.updates >= 0, "updates", h.updates, "at least 0");
  expect(h.save_every >= 0, "save_every", h.save_every, "at least 0");
  expect(h.evaluate_every >= 0, "evaluate_every", h.evaluate_every, "at least 0");
  expect(h.evaluation_rows >= 1, "evaluation_rows", h.evaluation_rows, "at least 1");
  expect(h.keep >= 1, "keep", h.keep, "at least 1");
}

std::int64_t tokens_per_update(const Settings& s) {
  const std::int64_t texts = s.contrastive ? 2 + std::int64_t{s.contrastive->hard_negatives} : 1;
  return texts * s.batch * s.length;
}

Terms terms_of(const Settings& s, const Terms& data) {
  return {{"model", to_json(s.model)},
          {"from", s.initial ? digest_of(*s.initial) : ""},
          {"objective", objective_of(s)},
          {"tokenizer", s.tokenizer},
          {"data", data},
          {"separator", s.separator},
          {"validation", s.validation},
          {"length", s.length},
          {"batch", s.batch},
          {"part", s.part},
          {"shuffled", s.shuffled},
          {"document_mask", s.document_mask},
          {"masking", s.masking},
          {"schedule",
           {{"highest", s.schedule.highest},
            {"lowest", s.schedule.lowest},
            {"warm_up", s.schedule.warm_up},
            {"updates", s.schedule.updates}}},
          {"optimizer",
           {{"kind", name(s.optimizer.kind)},
            {"beta1", s.optimizer.beta1},
            {"beta2", s.optimizer.beta2},
            {"epsilon", s.optimizer.epsilon},
            {"weight_decay", s.optimizer.weight_decay},
            {"max_norm", s.optimizer.max_norm}}},
          {"seed", s.seed},
          {"deterministic", s.deterministic}};
}

gpu::ModelConfiguration model_of(const Terms& terms) {
  const auto found = terms.find("model");
  if (found == terms.end()) throw BadInput("terms: model", "missing", "a configuration");
  return model_from_json(*found);
}

}  // namespace plumbline::training
