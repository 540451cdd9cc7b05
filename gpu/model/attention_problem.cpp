// SPDX-License-Identifier: Apache-2.0
#include "model/attention_problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "attention/score_methods.cuh"
#include "model/position_method.hpp"
#include "support/error.hpp"

namespace plumbline::gpu {

namespace {

/// Of CoPE and DAPE, whose scores lie in memory, those of one query of every row and head at least.
void expect_countable_scores(const ModelConfiguration& c, int batch, int length) {
  const methods::Bias bias = position_method(c.position).bias;
  if (!needs_scores(bias)) return;
  if (length > kMostScoredKeys)
    throw BadInput("length of " + c.position, std::to_string(length), "at most 2^24");
  const bool cope = bias.method == PLUMBLINE_COPE;
  const int wide = cope ? c.options.positions : c.options.hidden;
  const std::int64_t scores = row_scores(bias.method, batch, c.heads, length, wide);
  if (scores > std::numeric_limits<int>::max())
    throw BadInput(fmt::format("rows x {} of {}",
                               cope ? "heads x the larger of length and positions"
                                    : "length x the larger of heads and hidden",
                               c.position),
                   std::to_string(scores), "below 2^31");
}

}  // namespace

plumbline_problem attention_problem(const ModelConfiguration& c, int batch, int length) {
  const PositionMethod& method = position_method(c.position);
  const PositionOptions& o = c.options;
  expect_countable_scores(c, batch, length);
  plumbline_problem problem{};
  problem.struct_size = sizeof(problem);
  problem.batch = batch;
  problem.heads = c.heads;
  problem.kv_heads = c.kv_heads;
  problem.queries = problem.keys = length;
  problem.head_dim = problem.value_dim = c.head_dim();
  problem.format = static_cast<int>(c.format);
  problem.bias = method.bias.method;
  problem.dape = method.bias.dape;
  problem.rope = method.bias.rope;
  problem.rotary_dim = problem.rope == PLUMBLINE_NO_ROPE ? 0 : problem.head_dim;
  problem.ssmax = c.ssmax;
  problem.causal = c.architecture != Architecture::bert;
  const bool keys = method.window == PositionWindow::keys;
  problem.window_left = problem.window_right =
      method.window == PositionWindow::none ? -1 : o.window - keys;
  problem.scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim()));
  problem.options[PLUMBLINE_EPSILON] =
      method.bias.method == PLUMBLINE_FIRE ? o.fire_epsilon : o.prior_epsilon;
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
