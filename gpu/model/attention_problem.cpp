// SPDX-License-Identifier: Apache-2.0
#include "model/attention_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/score_methods.cuh"
#include "model/position_method.hpp"
#include "support/error.hpp"

namespace plumbline::gpu {

namespace {

/// Of CoPE and DAPE, which have matrices of scores; 0 of the other methods.
double scores_of(const ModelConfiguration& c, int batch, int length) {
  const int bias = position_method(c.position).bias;
  if (!needs_scores(bias)) return 0.0;
  const int wide = bias == PLUMBLINE_COPE ? c.options.positions : c.options.hidden;
  return 1.0 * batch * c.heads * length * std::max({length, wide, c.head_dim()});
}

}  // namespace

bool scores_fit(const ModelConfiguration& c, int batch, int length) {
  return scores_of(c, batch, length) < 0x1p31;
}

plumbline_problem attention_problem(const ModelConfiguration& c, int batch, int length) {
  const PositionMethod& method = position_method(c.position);
  const PositionOptions& o = c.options;
  if (!scores_fit(c, batch, length))
    throw BadInput(fmt::format("rows x heads x length x length of {}", c.position),
                   fmt::format("{:.0f}", scores_of(c, batch, length)), "below 2^31");
  plumbline_problem problem{};
  problem.struct_size = sizeof(problem);
  problem.batch = batch;
  problem.heads = c.heads;
  problem.kv_heads = c.kv_heads;
  problem.queries = problem.keys = length;
  problem.head_dim = c.head_dim();
  problem.format = static_cast<int>(c.format);
  problem.bias = method.bias;
  problem.ssmax = c.ssmax;
  problem.causal = c.architecture != Architecture::bert;
  problem.window = -1;
  if (method.window == PositionWindow::distance) problem.window = o.window;
  if (method.window == PositionWindow::keys) problem.window = o.window - 1;
  problem.scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim()));
  problem.options[PLUMBLINE_EPSILON] =
      method.bias == PLUMBLINE_FIRE ? o.fire_epsilon : o.prior_epsilon;
  problem.options[PLUMBLINE_BUCKETS] = o.buckets;
  problem.options[PLUMBLINE_MAX_DISTANCE] = o.max_distance;
  problem.options[PLUMBLINE_LARGEST] = o.largest;
  problem.options[PLUMBLINE_HIDDEN] = o.hidden;
  problem.options[PLUMBLINE_L0] = o.L0;
  problem.options[PLUMBLINE_BASE] = o.base;
  problem.options[PLUMBLINE_POSITIONS] = o.positions;
  return problem;
}

}  // namespace plumbline::gpu
