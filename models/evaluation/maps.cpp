// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "inference/scorer.hpp"
#include "model/parameters.hpp"
#include "model/position_method.hpp"
#include "models/evaluation/refusal.hpp"
#include "support/error.hpp"
#include "support/pictures/ticks.hpp"

namespace plumbline::evaluation {

namespace {

/// q . k of rows of a head's numbers.
double dot(const std::vector<float>& q, std::size_t query, const std::vector<float>& k,
           std::size_t key, int dim) {
  double sum = 0.0;
  for (int n = 0; n < dim; ++n) sum += double{q[query * dim + n]} * k[key * dim + n];
  return sum;
}

HeadMaps maps_of(const gpu::AttentionWeights& w, int layer, int head, bool causal, bool ssmax) {
  HeadMaps maps{layer, head, {}, {}};
  const double scale = 1.0 / std::sqrt(static_cast<double>(w.head_dim));
  const auto length = static_cast<std::size_t>(w.length);
  const std::size_t first_query = head * length;
  const std::size_t first_key = static_cast<std::size_t>(head / (w.heads / w.kv_heads)) * length;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t query = first_query + i;
    std::vector<double> attention, bias;
    for (std::size_t j = 0; j < (causal ? i + 1 : length); ++j) {
      const double p = w.p[query * length + j];
      attention.push_back(p);
      const double logit = p < 0x1p-126 ? -INFINITY : std::log(p) + w.lse[query];
      bias.push_back(logit - scale * dot(w.q, query, w.k, first_key + j, w.head_dim));
    }
    maps.attention.push_back(std::move(attention));
    if (!ssmax) maps.bias.push_back(std::move(bias));
  }
  return maps;
}

/// Pictures have no infinity: a key of no weight gets the lowest shade of the others.
std::vector<std::vector<double>> finite(std::vector<std::vector<double>> rows) {
  double lowest = INFINITY;
  for (const auto& row : rows)
    for (const double value : row)
      if (std::isfinite(value)) lowest = std::fmin(lowest, value);
  for (auto& row : rows)
    for (double& value : row)
      if (!std::isfinite(value)) value = std::isfinite(lowest) ? lowest : 0.0;
  return rows;
}

}  // namespace

void validate(const gpu::ModelConfiguration& model, const std::vector<text::Token>& tokens) {
  if (tokens.empty()) throw BadInput("text", "empty", "one token at least");
  const int largest = *std::ranges::max_element(tokens);
  if (largest >= model.vocabulary)
    throw BadInput("text", "token " + std::to_string(largest),
                   "tokens below the model's vocabulary, " + std::to_string(model.vocabulary));
  const auto length = static_cast<double>(tokens.size());
  const auto heads = static_cast<double>(model.layers) * model.heads;
  const double longest = std::floor(std::sqrt(static_cast<double>(most_scores) / heads));
  if (length > longest)
    throw BadInput("length", std::to_string(tokens.size()),
                   fmt::format("at most {} tokens: the maps of {} layers of {} heads have layers x "
                               "heads x length^2 numbers, of which memory is to hold {}",
                               longest, model.layers, model.heads, most_scores));
  if (const std::string reason = refusal(model, static_cast<int>(tokens.size())); !reason.empty())
    throw BadInput("length", std::to_string(tokens.size()),
                   "no more than the model can read: " + reason);
}

std::vector<HeadMaps> head_maps(const gpu::ModelConfiguration& model,
                                const std::vector<float>& parameters,
                                const std::vector<text::Token>& tokens) {
  validate(model, tokens);
  const int length = static_cast<int>(tokens.size());
  const std::vector<int> ids(tokens.begin(), tokens.end());
  gpu::Scorer scorer(model, {.batch = 1, .length = length}, parameters);
  scorer.logits({.batch = 1, .length = length, .ids = ids.data()});
  const bool causal = model.architecture != gpu::Architecture::bert;
  std::vector<HeadMaps> all;
  for (int layer = 0; layer < model.layers; ++layer) {
    const gpu::AttentionWeights weights = scorer.attention_weights(layer);
    for (int head = 0; head < model.heads; ++head)
      all.push_back(maps_of(weights, layer, head, causal, model.ssmax));
  }
  return all;
}

std::vector<PriorExponents> prior_exponents(const gpu::ModelConfiguration& model,
                                            const std::vector<float>& parameters) {
  std::vector<PriorExponents> all;
  if (gpu::position_method(model.position).name != "ggd") return all;
  const gpu::ParameterLayout layout(model);
  for (int layer = 0; layer < model.layers; ++layer) {
    const auto values = [&](const char* name) {
      const gpu::Parameter& p =
          layout[gpu::attention_name(model.architecture, layer) + ".position." + name];
      const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(p.offset);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(p.size()));
    };
    all.push_back({layer, values("theta_alpha"), values("theta_beta")});
  }
  return all;
}

pictures::Picture picture_of(const std::vector<HeadMaps>& all, int layer, MapKind kind) {
  const bool attention = kind == MapKind::attention;
  pictures::Picture picture;
  picture.name = attention ? "attention" : "bias";
  picture.title = fmt::format(
      "{}, layer {}",
      attention ? "Attention weights" : "What the position method adds to the scores", layer);
  picture.description =
      attention ? "A map a head, a row a query, a column a key; every row sums to 1."
                : "A map a head, a row a query, a column a key: the logit less q k over the root "
                  "of the head's dimension. A key without weight has the lowest shade.";
  picture.x.label = "key";
  picture.y.label = "query";
  for (const HeadMaps& maps : all) {
    if (maps.layer != layer) continue;
    picture.maps.push_back(
        {fmt::format("head {}", maps.head), attention ? maps.attention : finite(maps.bias)});
  }
  return picture;
}

pictures::Picture picture_of(const std::vector<PriorExponents>& all) {
  pictures::Picture picture;
  picture.name = "theta";
  picture.title = "GGD: theta_beta over theta_alpha, a point a head";
  picture.description = "Scale exp(theta_alpha) and shape theta_beta of every head's prior.";
  std::vector<double> alphas, betas;
  for (const PriorExponents& layer : all) {
    picture.curves.push_back({fmt::format("layer {}", layer.layer), layer.theta_alpha,
                              layer.theta_beta, pictures::Curve::Mark::points});
    alphas.insert(alphas.end(), layer.theta_alpha.begin(), layer.theta_alpha.end());
    betas.insert(betas.end(), layer.theta_beta.begin(), layer.theta_beta.end());
    for (std::size_t head = 0; head < layer.theta_alpha.size(); ++head)
      picture.description += fmt::format(" Layer {}, head {}: {:.3g}, {:.3g}.", layer.layer, head,
                                         layer.theta_alpha[head], layer.theta_beta[head]);
  }
  picture.x = pictures::axis_over("theta_alpha", alphas);
  picture.y = pictures::axis_over("theta_beta", betas);
  return picture;
}

nlohmann::ordered_json to_json(const std::vector<HeadMaps>& maps,
                               const std::vector<PriorExponents>& exponents) {
  auto heads = nlohmann::ordered_json::array(), priors = heads;
  for (const HeadMaps& one : maps)
    heads.push_back({{"layer", one.layer},
                     {"head", one.head},
                     {"attention", one.attention},
                     {"bias", one.bias}});  // JSON has null for infinity
  for (const PriorExponents& one : exponents)
    priors.push_back(
        {{"layer", one.layer}, {"theta_alpha", one.theta_alpha}, {"theta_beta", one.theta_beta}});
  return {{"format", "plumbline-maps-1"}, {"heads", heads}, {"priors", priors}};
}

}  // namespace plumbline::evaluation
