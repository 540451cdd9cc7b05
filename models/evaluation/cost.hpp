// SPDX-License-Identifier: Apache-2.0
// What position methods cost at inference, time and memory against length: CABLE, figure 3; BAM,
// table 8.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/configuration.hpp"
#include "support/pictures/picture.hpp"

namespace plumbline::evaluation {

struct CostSettings {
  std::vector<std::string> positions;  ///< the first one is what the others are compared with
  std::vector<int> lengths;
  int new_tokens = 8;  ///< the last ones of a sequence, which go through the model one by one
  int repeats = 3;
};

struct CostPoint {
  int length = 0;
  /// The least of the repeats: the sequence but its last tokens; one of these, with the cache.
  double prompt_seconds = 0.0, token_seconds = 0.0;
  std::size_t bytes = 0;     ///< of device memory: weights, cache and room to work in
  std::string refused = {};  ///< why it was not measured
};

struct MethodCost {
  std::string position;
  std::vector<CostPoint> points;  ///< one a length
};

/// @throws BadInput naming the field: an unknown method, a length that is not above `new_tokens`
/// or beyond longest_length, a count below 1, BERT.
void validate(const gpu::ModelConfiguration& model, const CostSettings& settings);

/// Measures gpu::Decoder with one sequence, on weights as they are before training: values do not
/// change the time. At each length the methods take turns, so that what else the machine does hits
/// all of them. A turn makes its decoder anew, so that no two are in memory at a time, and reads
/// the sequence once before it is timed.
/// @throws BadInput as validate.
std::vector<MethodCost> measure_cost(const gpu::ModelConfiguration& model,
                                     const CostSettings& settings,
                                     const std::function<void(const std::string&)>& progress);

/// "format": "plumbline-cost-1"; docs/evaluating.md has the fields.
nlohmann::ordered_json to_json(const std::vector<MethodCost>&);
std::string table(const std::vector<MethodCost>&);

enum class CostKind { prompt, token, memory };
/// A curve a method over the length.
pictures::Picture picture_of(const std::vector<MethodCost>&, CostKind, const std::string& machine);

}  // namespace plumbline::evaluation
