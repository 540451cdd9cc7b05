// SPDX-License-Identifier: Apache-2.0
#include "attention/check_problem.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "attention/head_dims.cuh"
#include "attention/score_methods.cuh"
#include "bias/table_rows.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kMaxGrid = 65535;         // gridDim.y and gridDim.z
constexpr int kMaxPositions = 1 << 30;  // for the sums of mask.cuh
constexpr int kMaxOption = 1 << 20;     // rows of a table, width of a layer
constexpr int kMostDapeHidden = 4096;   // dape.cuh

std::string unsupported_option(const plumbline_problem& p) {
  const auto* options = p.options;
  const auto whole = [](double x, int least) {
    return x == std::floor(x) && x >= least && x <= kMaxOption;
  };
  const auto positive = [](double x) { return x > 0 && std::isfinite(x); };
  switch (p.bias) {
    case PLUMBLINE_GGD:
      return positive(options[PLUMBLINE_EPSILON]) ? "" : "epsilon must be above 0";
    case PLUMBLINE_T5:
    case PLUMBLINE_T5_BIDIRECTIONAL: {
      const int directions = p.bias == PLUMBLINE_T5 ? 1 : 2;
      if (!whole(options[PLUMBLINE_BUCKETS] / directions, 2))
        return "buckets must be at least 2 for each direction";
      const double exact = std::floor(options[PLUMBLINE_BUCKETS] / directions / 2);
      const double most = options[PLUMBLINE_MAX_DISTANCE];
      return most == std::floor(most) && most > exact && most <= kMaxPositions
                 ? ""
                 : "max_distance must be a whole number above half of a direction's buckets";
    }
    case PLUMBLINE_T5_CLIPPED:
    case PLUMBLINE_T5_CLIPPED_OFFSET:
      return whole(options[PLUMBLINE_LARGEST], 0) ? "" : "largest must be 0 .. 2^20";
    case PLUMBLINE_FIRE:
      if (!whole(options[PLUMBLINE_HIDDEN], 1)) return "hidden must be 1 .. 2^20";
      return options[PLUMBLINE_EPSILON] >= 0 && std::isfinite(options[PLUMBLINE_L0])
                 ? ""
                 : "epsilon must be at least 0, L0 finite";
    case PLUMBLINE_COPE:
      return whole(options[PLUMBLINE_POSITIONS], 1) ? "" : "positions must be 1 .. 2^20";
    case PLUMBLINE_FOX:
      return p.causal == 1 ? "" : "fox needs a causal mask";
    case PLUMBLINE_ROPE_INTERLEAVED:
    case PLUMBLINE_ROPE_HALF_SPLIT:
      return positive(options[PLUMBLINE_BASE]) ? "" : "base must be above 0";
    default:
      return dape_taps(p.bias) == 0 || (whole(options[PLUMBLINE_HIDDEN], 1) &&
                                        options[PLUMBLINE_HIDDEN] <= kMostDapeHidden)
                 ? ""
                 : "hidden must be 1 .. 4096";
  }
}

/// One query row of every sequence and head at least lies in memory, and is counted in 31 bits.
std::string unsupported_scores(const plumbline_problem& p) {
  const bool cope = p.bias == PLUMBLINE_COPE;
  const auto wide = static_cast<int>(p.options[cope ? PLUMBLINE_POSITIONS : PLUMBLINE_HIDDEN]);
  if (p.keys > kMostScoredKeys) return "keys must be at most 2^24";
  if (!cope && p.heads > kMostDapeHidden) return "heads must be at most 4096";
  if (row_scores(p.bias, p.batch, p.heads, p.keys, wide) > std::numeric_limits<int>::max())
    return cope ? "batch * heads * keys, and positions in place of keys, must be below 2^31"
                : "batch * heads * keys, and hidden in place of heads, must be below 2^31";
  return "";
}

/// Of DAPE: those of the bias, then the network's.
std::vector<plumbline_parameter> corrected(std::vector<plumbline_parameter> additive) {
  additive.insert(additive.end(), {PLUMBLINE_HIDDEN_WEIGHT, PLUMBLINE_HIDDEN_BIAS,
                                   PLUMBLINE_OUTPUT_WEIGHT, PLUMBLINE_OUTPUT_BIAS});
  return additive;
}

}  // namespace

const std::vector<plumbline_parameter>& parameters_of(int bias) {
  using List = std::vector<plumbline_parameter>;
  static const List none, slopes{PLUMBLINE_SLOPES}, increments{PLUMBLINE_INCREMENTS},
      weighted{PLUMBLINE_INCREMENTS, PLUMBLINE_GAIN},
      ggd{PLUMBLINE_THETA_ALPHA, PLUMBLINE_THETA_BETA, PLUMBLINE_THETA_MU},
      kerple{PLUMBLINE_P, PLUMBLINE_A}, table{PLUMBLINE_TABLE},
      fire{PLUMBLINE_HIDDEN_WEIGHT, PLUMBLINE_HIDDEN_BIAS, PLUMBLINE_OUTPUT_WEIGHT,
           PLUMBLINE_OUTPUT_BIAS,   PLUMBLINE_C,           PLUMBLINE_L},
      fox{PLUMBLINE_LOG_FORGET}, cope{PLUMBLINE_POSITION_EMBEDDING},
      dape_alibi = corrected(slopes), dape_kerple = corrected(kerple),
      dape_cable = corrected(weighted);
  if (dape_taps(bias) > 0) {
    const plumbline_bias additive = additive_part(bias);
    return additive == PLUMBLINE_ALIBI   ? dape_alibi
           : additive == PLUMBLINE_CABLE ? dape_cable
                                         : dape_kerple;
  }
  switch (bias) {
    case PLUMBLINE_ALIBI:
      return slopes;
    case PLUMBLINE_CABLE:
    case PLUMBLINE_K_CABLE:
    case PLUMBLINE_CABLE_PAPER:
    case PLUMBLINE_K_CABLE_PAPER:
      return weighted;
    case PLUMBLINE_CABLE_NW:
    case PLUMBLINE_K_CABLE_NW:
    case PLUMBLINE_CABLE_NW_PAPER:
      return increments;
    case PLUMBLINE_GGD:
      return ggd;
    case PLUMBLINE_KERPLE_LOG:
    case PLUMBLINE_KERPLE_POWER:
      return kerple;
    case PLUMBLINE_FIRE:
      return fire;
    case PLUMBLINE_FOX:
      return fox;
    case PLUMBLINE_COPE:
      return cope;
    default:
      return uses_table(bias) ? table : none;
  }
}

int summed_parameter(int bias) {
  switch (additive_part(bias)) {
    case PLUMBLINE_CABLE:
    case PLUMBLINE_CABLE_NW:
    case PLUMBLINE_K_CABLE:
    case PLUMBLINE_K_CABLE_NW:
    case PLUMBLINE_CABLE_PAPER:
    case PLUMBLINE_CABLE_NW_PAPER:
    case PLUMBLINE_K_CABLE_PAPER:
      return PLUMBLINE_INCREMENTS;
    case PLUMBLINE_FOX:
      return PLUMBLINE_LOG_FORGET;
    default:
      return -1;
  }
}

const char* name_of(plumbline_parameter parameter) {
  constexpr const char* names[PLUMBLINE_PARAMETER_COUNT] = {
      "ssmax_scale",   "slopes",      "increments", "gain",  "theta_alpha",   "theta_beta",
      "theta_mu",      "p",           "a",          "table", "hidden_weight", "hidden_bias",
      "output_weight", "output_bias", "c",          "L",     "log_forget",    "position_embedding"};
  return names[parameter];
}

std::size_t parameter_size(const plumbline_problem& p, plumbline_parameter parameter) {
  const auto size = [](auto... extents) {
    return (std::size_t{1} * ... * static_cast<std::size_t>(extents));
  };
  const auto hidden = static_cast<std::size_t>(p.options[PLUMBLINE_HIDDEN]);
  switch (parameter) {
    case PLUMBLINE_INCREMENTS:
    case PLUMBLINE_LOG_FORGET:
      return size(p.batch, p.heads, p.keys);
    case PLUMBLINE_GAIN:
      return size(p.batch, p.heads, p.queries);
    case PLUMBLINE_TABLE:
      return size(p.heads, table_rows(p));
    case PLUMBLINE_HIDDEN_WEIGHT:
      return dape_taps(p.bias) > 0 ? size(hidden, 2, p.heads, dape_taps(p.bias)) : hidden;
    case PLUMBLINE_HIDDEN_BIAS:
      return hidden;
    case PLUMBLINE_OUTPUT_WEIGHT:
      return dape_taps(p.bias) > 0 ? size(p.heads, hidden, dape_taps(p.bias))
                                   : size(p.heads, hidden);
    case PLUMBLINE_POSITION_EMBEDDING:
      return size(p.heads, p.options[PLUMBLINE_POSITIONS], p.head_dim);
    case PLUMBLINE_C:
    case PLUMBLINE_L:
      return 1;
    default:
      return size(p.heads);
  }
}

std::string unsupported_reason(const plumbline_problem& p) {
  const auto positive = [](int value, int largest) { return value >= 1 && value <= largest; };
  if (p.struct_size != sizeof(plumbline_problem))
    return "struct_size is " + std::to_string(p.struct_size) + ", this library's is " +
           std::to_string(sizeof(plumbline_problem));
  if (!positive(p.batch, kMaxGrid)) return "batch must be 1 .. 65535";
  if (!positive(p.heads, kMaxGrid)) return "heads must be 1 .. 65535";
  if (std::int64_t{p.batch} * p.heads > std::numeric_limits<int>::max())
    return "batch * heads must be below 2^31";
  if (!positive(p.kv_heads, p.heads) || p.heads % p.kv_heads != 0)
    return "kv_heads must divide heads";
  if (!positive(p.keys, kMaxPositions)) return "keys must be 1 .. 2^30";
  if (!positive(p.queries, kMaxPositions)) return "queries must be 1 .. 2^30";
  if (p.query_offset < 0 || p.query_offset > p.keys - p.queries)
    return "query_offset + queries must lie within keys";
  if (!is_among(p.head_dim, HeadDims{})) return "head_dim must be one of " + list_of(HeadDims{});
  if (p.format < PLUMBLINE_FP32 || p.format > PLUMBLINE_TF32)
    return "format must be fp32, bf16, fp16 or tf32";
  if (p.bias < 0 || p.bias >= PLUMBLINE_BIAS_COUNT) return "unknown bias";
  if (p.ssmax != 0 && p.ssmax != 1) return "ssmax must be 0 or 1";
  if (p.causal != 0 && p.causal != 1) return "causal must be 0 or 1";
  if (p.window < -1) return "window must be -1 or more";
  const std::string reason = unsupported_option(p);
  return reason.empty() && needs_scores(p.bias) ? unsupported_scores(p) : reason;
}

void require(const void* pointer, const char* name) {
  if (!pointer) throw InvalidProblem(std::string(name) + " is missing");
}

void check_problem(const plumbline_problem& p) {
  const std::string reason = unsupported_reason(p);
  if (!reason.empty()) throw InvalidProblem(reason);
  require(p.q, "q");
  require(p.k, "k");
  require(p.v, "v");
  if (p.ssmax == 1) require(p.parameters[PLUMBLINE_SSMAX_SCALE], "ssmax_scale");
  for (const plumbline_parameter parameter : parameters_of(p.bias))
    if (parameter != summed_parameter(p.bias) || !p.prefix_sums)
      require(p.parameters[parameter], name_of(parameter));
  for (int b = 0; p.lengths && b < p.batch; ++b)
    if (p.lengths[b] < 0 || p.lengths[b] > p.keys)
      throw InvalidProblem("lengths[" + std::to_string(b) + "] = " + std::to_string(p.lengths[b]) +
                           " is not between 0 and " + std::to_string(p.keys));
}

}  // namespace plumbline::gpu
