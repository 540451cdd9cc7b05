// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/retrieval_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "support/pictures/ticks.hpp"

namespace plumbline::evaluation {

double RetrievalPoint::mean() const {
  return std::accumulate(ndcg.begin(), ndcg.end(), 0.0) / static_cast<double>(ndcg.size());
}

nlohmann::ordered_json to_json(const RetrievalRun& run, const text::RetrievalTask& task,
                               const std::vector<RetrievalPoint>& points) {
  auto all = nlohmann::ordered_json::array();
  for (const RetrievalPoint& point : points) {
    auto queries = nlohmann::ordered_json::object();
    for (std::size_t n = 0; n < point.ndcg.size(); ++n)
      queries[task.queries()[n].id] = point.ndcg[n];
    all.push_back({{"length", point.length},
                   {"ndcg_at_10", point.mean()},
                   {"seconds", point.seconds},
                   {"queries", queries}});
  }
  return {{"format", "plumbline-retrieval-1"},
          {"model", run.model},
          {"task", run.task},
          {"split", run.split},
          {"pooling", run.pooling},
          {"documents", task.documents()},
          {"points", all}};
}

std::string table(const text::RetrievalTask& task, const std::vector<RetrievalPoint>& points) {
  std::string text = fmt::format("{} queries, {} documents\nlength   nDCG@10  seconds\n",
                                 task.queries().size(), task.documents());
  for (const RetrievalPoint& p : points)
    text += fmt::format("{:>6}  {:>8.4f}  {:>7.1f}\n", p.length, p.mean(), p.seconds);
  return text;
}

pictures::Picture picture(const RetrievalRun& run, const std::vector<RetrievalPoint>& points) {
  pictures::Picture picture{
      .name = "retrieval",
      .title = "nDCG@10 against the length of texts",
      .description =
          fmt::format("The model {} on the task {}; higher is better.", run.model, run.task),
      .x = {},
      .y = {.label = "nDCG@10"},
      .curves = {{run.model, {}, {}, pictures::Curve::Mark::marked_line}},
      .maps = {}};
  for (const RetrievalPoint& point : points) {
    picture.curves[0].x.push_back(point.length);
    picture.curves[0].y.push_back(point.mean());
    picture.description += fmt::format(" {:.4f} at {}.", point.mean(), point.length);
  }
  picture.x = pictures::axis_over("tokens of a text", picture.curves[0].x, true);
  picture.x.at = picture.curves[0].x;
  return picture;
}

}  // namespace plumbline::evaluation
