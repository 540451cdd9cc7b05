// SPDX-License-Identifier: Apache-2.0
#include "models/text/beir.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/strict_json.hpp"
#include "support/text.hpp"

namespace plumbline::text {
namespace {

struct Entry {
  std::string id, title, text;
};

Entry entry(const JsonLines& lines, std::size_t n) {
  const nlohmann::json object = lines.at(n);
  Fields fields(object, lines.place(n));
  Entry result;
  result.id = fields.required(fields.text("_id"), "_id");
  result.title = fields.text("title").value_or("");
  result.text = fields.required(fields.text("text"), "text");
  fields.any("metadata");
  fields.finish();
  return result;
}

using Numbers = std::unordered_map<std::string, std::size_t>;

void add(Numbers& numbers, const std::string& id, const JsonLines& lines, std::size_t n) {
  const auto [known, fresh] = numbers.emplace(id, n);
  if (!fresh) {
    throw BadInput(lines.place(n) + ": _id", in_quotes(id) + " a second time",
                   "another id than of " + lines.place(known->second));
  }
}

std::size_t number_of(const Numbers& numbers, std::string_view id, const std::string& place,
                      const char* what) {
  const auto known = numbers.find(std::string(id));
  if (known == numbers.end()) {
    throw BadInput(place + ": " + what + "-id", in_quotes(id), fmt::format("the id of a {}", what));
  }
  return known->second;
}

/// The three columns of a line.
std::array<std::string_view, 3> columns(std::string_view line, const std::string& place) {
  const std::size_t first = line.find('\t');
  const std::size_t second = first == line.npos ? line.npos : line.find('\t', first + 1);
  if (second == line.npos || line.find('\t', second + 1) != line.npos) {
    throw BadInput(place, in_quotes(line), "three columns with tabs between them");
  }
  return {line.substr(0, first), line.substr(first + 1, second - first - 1),
          line.substr(second + 1)};
}

int score_of(std::string_view text, const std::string& place) {
  int score = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), score);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw BadInput(place + ": score", in_quotes(text), "a whole number");
  }
  return score;
}

}  // namespace

RetrievalTask::RetrievalTask(const std::filesystem::path& folder, const std::string& split)
    : corpus_(folder / "corpus.jsonl") {
  Numbers documents, queries;
  for (std::size_t n = 0; n < corpus_.size(); ++n) add(documents, entry(corpus_, n).id, corpus_, n);
  const JsonLines lines(folder / "queries.jsonl");
  for (std::size_t n = 0; n < lines.size(); ++n) {
    const Entry query = entry(lines, n);
    add(queries, query.id, lines, n);
    queries_.push_back({query.id, query.text, {}});
  }
  const auto path = folder / "qrels" / (split + ".tsv");
  const std::string judgements = read_file(path);
  bool header = true;
  for_each_line(judgements, [&](std::size_t number, std::string_view line) {
    const std::string place = fmt::format("file {}, line {}", path_in_quotes(path), number);
    const auto [query_id, document_id, score] = columns(line, place);
    if (header) {
      header = false;
      if (query_id != "query-id" || document_id != "corpus-id" || score != "score") {
        throw BadInput(place, in_quotes(line), "the header query-id, corpus-id, score");
      }
      return;
    }
    auto& query = queries_[number_of(queries, query_id, place, "query")];
    const std::size_t document = number_of(documents, document_id, place, "corpus");
    if (!query.relevance.emplace(document, score_of(score, place)).second) {
      throw BadInput(place, "a second judgement of the same query and document", "one");
    }
  });
  std::erase_if(queries_, [](const Query& query) {
    return std::none_of(query.relevance.begin(), query.relevance.end(),
                        [](const auto& judged) { return judged.second > 0; });
  });
  if (queries_.empty()) {
    throw BadInput("file " + path_in_quotes(path), "without a relevant document",
                   "a query with a judgement above 0");
  }
}

std::string RetrievalTask::document(std::size_t n) const {
  Entry found = entry(corpus_, n);
  return found.title.empty() ? std::move(found.text) : found.title + " " + found.text;
}

std::vector<std::size_t> ranking(std::span<const float> scores, std::size_t count) {
  for (const float score : scores) {
    if (!std::isfinite(score)) throw std::invalid_argument("a score is not finite");
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
                    });
  order.resize(count);
  return order;
}

double ndcg(std::span<const std::size_t> ranked, const std::map<std::size_t, int>& relevance,
            std::size_t k) {
  const auto dcg = [k](const std::vector<int>& gains) {
    double sum = 0;
    for (std::size_t n = 0; n < std::min(k, gains.size()); ++n) {
      sum += std::max(gains[n], 0) / std::log2(static_cast<double>(n) + 2);
    }
    return sum;
  };
  std::vector<int> gains, best;
  for (const std::size_t document : ranked) {
    const auto judged = relevance.find(document);
    gains.push_back(judged == relevance.end() ? 0 : judged->second);
  }
  for (const auto& judged : relevance) best.push_back(judged.second);
  std::sort(best.rbegin(), best.rend());
  const double ideal = dcg(best);
  if (!(ideal > 0)) throw std::invalid_argument("nDCG of a query without a relevant document");
  return dcg(gains) / ideal;
}

}  // namespace plumbline::text
