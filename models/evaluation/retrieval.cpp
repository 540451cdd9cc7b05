// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/retrieval.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/training/pair_batches.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"

namespace plumbline::evaluation {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

const EncoderSettings& checked(const EncoderSettings& s, const gpu::ModelConfiguration& model,
                               const text::Tokenizer& tokenizer) {
  validate(s, model, tokenizer);
  return s;
}

bool is_relevant(const text::RetrievalTask::Query& query, std::size_t document) {
  const auto judged = query.relevance.find(document);
  return judged != query.relevance.end() && judged->second > 0;
}

}  // namespace

void validate(const EncoderSettings& s, const gpu::ModelConfiguration& model,
              const text::Tokenizer& tokenizer) {
  const auto expect = [](bool holds, const char* field, int value, const std::string& expected) {
    if (!holds) throw BadInput(field, std::to_string(value), expected);
  };
  if (model.architecture != gpu::Architecture::bert)
    throw BadInput("model", "a causal one", "a BERT, for embeddings of texts");
  expect(s.length >= 3, "length", s.length, "at least 3: cls, a token, sep");
  expect(s.part >= 1, "part", s.part, "at least 1");
  if (model.position == "learnable")
    expect(s.length <= model.context, "length", s.length,
           fmt::format("at most {}, the rows of the table of learnable positions", model.context));
  expect(tokenizer.vocabulary() <= model.vocabulary, "tokenizer's vocabulary",
         tokenizer.vocabulary(), fmt::format("at most the model's, {}", model.vocabulary));
}

TextEncoder::TextEncoder(const gpu::ModelConfiguration& model, const std::vector<float>& parameters,
                         const text::Tokenizer& tokenizer, const EncoderSettings& settings)
    : tokenizer_(tokenizer),
      settings_(checked(settings, model, tokenizer)),
      width_(model.width),
      scorer_(model, {.batch = settings.part, .length = settings.length}, parameters) {}

std::vector<float> TextEncoder::embeddings(std::span<const std::string> texts) {
  std::vector<float> all;
  all.reserve(texts.size() * width_);
  const auto part = static_cast<std::size_t>(settings_.part);
  for (std::size_t first = 0; first < texts.size(); first += part) {
    const auto some = texts.subspan(first, std::min(part, texts.size() - first));
    const training::TextRows rows = training::framed(tokenizer_, some, settings_.length);
    const std::vector<float> own =
        scorer_.embeddings(rows.part(0, rows.rows()).view(), settings_.pooling);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

std::vector<std::vector<std::size_t>> rankings(TextEncoder& encoder,
                                               const text::RetrievalTask& task, std::size_t count) {
  std::vector<float> documents;
  constexpr std::size_t at_once = 1024;  // texts of documents that are in memory
  for (std::size_t first = 0; first < task.documents(); first += at_once) {
    std::vector<std::string> texts;
    for (std::size_t n = first; n < std::min(first + at_once, task.documents()); ++n)
      texts.push_back(task.document(n));
    const std::vector<float> some = encoder.embeddings(texts);
    documents.insert(documents.end(), some.begin(), some.end());
  }
  std::vector<std::string> texts;
  for (const auto& query : task.queries()) texts.push_back(query.text);
  const std::vector<float> queries = encoder.embeddings(texts);

  const Eigen::Index width = encoder.width();
  const Eigen::Map<const Matrix> d(documents.data(), documents.size() / width, width);
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const Eigen::Map<const Eigen::VectorXf> q(queries.data() + n * width, width);
    const Eigen::VectorXf scores = d * q;
    result.push_back(text::ranking({scores.data(), task.documents()}, count));
  }
  return result;
}

std::vector<double> ndcg_at_10(const text::RetrievalTask& task,
                               const std::vector<std::vector<std::size_t>>& rankings) {
  std::vector<double> result;
  for (std::size_t n = 0; n < rankings.size(); ++n)
    result.push_back(text::ndcg(rankings[n], task.queries()[n].relevance, 10));
  return result;
}

std::string mined_pairs(const text::RetrievalTask& task,
                        const std::vector<std::vector<std::size_t>>& rankings,
                        std::size_t negatives) {
  std::string lines;
  for (std::size_t n = 0; n < rankings.size(); ++n) {
    const auto& query = task.queries()[n];
    nlohmann::ordered_json hard = nlohmann::ordered_json::array();
    for (const std::size_t document : rankings[n])
      if (hard.size() < negatives && !is_relevant(query, document))
        hard.push_back(task.document(document));
    for (const auto& [document, relevance] : query.relevance) {
      if (relevance <= 0) continue;
      lines +=
          nlohmann::ordered_json{
              {"query", query.text}, {"positive", task.document(document)}, {"negatives", hard}}
              .dump() +
          "\n";
    }
  }
  return lines;
}

}  // namespace plumbline::evaluation
