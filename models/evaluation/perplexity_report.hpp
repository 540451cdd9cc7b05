// SPDX-License-Identifier: Apache-2.0
// What is told of perplexities: JSON, a table and a picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/evaluation/perplexity.hpp"
#include "support/pictures/picture.hpp"

namespace plumbline::evaluation {

struct ModelPerplexity {
  std::string label;  ///< in the table and the picture
  std::string path;
  std::string position;
  int trained_length;
  std::vector<PerplexityPoint> points;
};

/// "format": "plumbline-perplexity-1"; docs/evaluating.md has the fields.
nlohmann::ordered_json to_json(const PerplexitySettings&, const std::vector<ModelPerplexity>&);

/// A line a model, a column a length; "-" where a model was refused, and below it why.
std::string table(const std::vector<ModelPerplexity>&);

/// A curve a model over the length, both axes logarithmic; without any perplexity empty axes.
pictures::Picture picture(const PerplexitySettings&, const std::vector<ModelPerplexity>&);

}  // namespace plumbline::evaluation
