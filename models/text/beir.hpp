// SPDX-License-Identifier: Apache-2.0
// Retrieval tasks in BEIR's layout (Thakur et al., arXiv:2104.08663; MLDR's task has this form),
// and what a ranking is worth.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/text/json_lines.hpp"

namespace plumbline::text {

/// A folder with
///   corpus.jsonl      {"_id": text, "title": text, "text": text}, the title optional
///   queries.jsonl     {"_id": text, "text": text}
///   qrels/SPLIT.tsv   query-id, corpus-id, score: a header, then a line for each judgement
/// where a "metadata" field is passed over. Queries without a document of score > 0 are left out,
/// since no ranking of them is better than another.
class RetrievalTask {
 public:
  /// @throws BadInput naming file, line and field: a file that cannot be read, a line of another
  /// form, an id twice, a judgement of a query or a document that there is not, or twice; a split
  /// without queries.
  RetrievalTask(const std::filesystem::path& folder, const std::string& split);

  std::size_t documents() const { return corpus_.size(); }
  /// Title and text with a blank between them, or the text alone where the title is empty.
  std::string document(std::size_t n) const;

  struct Query {
    std::string id, text;
    std::map<std::size_t, int> relevance;  ///< of documents; those not named have 0
  };
  const std::vector<Query>& queries() const { return queries_; }

 private:
  JsonLines corpus_;
  std::vector<Query> queries_;
};

/// The `count` best documents, best first; of equal scores the earlier document first.
/// @throws std::invalid_argument for a score that is not finite.
std::vector<std::size_t> ranking(std::span<const float> scores, std::size_t count);

/// nDCG@k = DCG / largest possible DCG, DCG = sum_{r=1..k} relevance(r-th document) / log2(r + 1):
/// the linear gain of trec_eval, which BEIR measures by (Jarvelin, Kekalainen, "Cumulated
/// gain-based evaluation of IR techniques", ACM TOIS 2002, has it as discounted cumulated gain).
/// Negative relevance counts as 0. @throws std::invalid_argument if no document is relevant.
double ndcg(std::span<const std::size_t> ranked, const std::map<std::size_t, int>& relevance,
            std::size_t k = 10);

}  // namespace plumbline::text
