// SPDX-License-Identifier: Apache-2.0
// What is told of retrieval: JSON, a table and a picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/text/beir.hpp"
#include "support/pictures/picture.hpp"

namespace plumbline::evaluation {

/// One model on one task, its texts cut to one length.
struct RetrievalPoint {
  int length;                ///< tokens of a text, with cls and sep
  std::vector<double> ndcg;  ///< nDCG@10 of every query, in the task's order
  double seconds;

  double mean() const;
};

/// What was evaluated.
struct RetrievalRun {
  std::string model, task, split, pooling;
};

/// "format": "plumbline-retrieval-1"; docs/evaluating.md has the fields.
nlohmann::ordered_json to_json(const RetrievalRun&, const text::RetrievalTask&,
                               const std::vector<RetrievalPoint>&);

/// A line a length.
std::string table(const text::RetrievalTask&, const std::vector<RetrievalPoint>&);

/// Mean nDCG@10 from 0 to 1 over the length, on a logarithmic axis.
pictures::Picture picture(const RetrievalRun&, const std::vector<RetrievalPoint>&);

}  // namespace plumbline::evaluation
