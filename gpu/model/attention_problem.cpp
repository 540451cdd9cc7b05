// SPDX-License-Identifier: Apache-2.0
#include "model/attention_problem.hpp"

#include <cmath>

#include "model/position_method.hpp"

namespace plumbline::gpu {

plumbline_problem attention_problem(const ModelConfiguration& c, int batch, int length) {
  const PositionMethod& method = position_method(c.position);
  const PositionOptions& o = c.options;
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
