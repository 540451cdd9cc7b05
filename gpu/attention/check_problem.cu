// SPDX-License-Identifier: Apache-2.0
#include "attention/check_problem.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "attention/head_dims.cuh"
#include "attention/score_methods.cuh"
#include "methods.hpp"

namespace plumbline::gpu {

namespace {

/// What a bias reads, put together once: every call of attention asks for it.
struct Composed {
  methods::Method method;
  std::vector<plumbline_parameter> parameters;
};

/// Of a problem whose bias there is. @throws std::out_of_range
const Composed& composed(const plumbline_problem& p) {
  constexpr int kDapes = 3;
  const auto place = [](int bias, int dape, int rope) {
    return static_cast<std::size_t>((bias * kDapes + dape) * PLUMBLINE_ROPE_COUNT + rope);
  };
  static const auto all = [&] {
    std::vector<Composed> list(place(PLUMBLINE_BIAS_COUNT, 0, 0));
    for (int bias = 0; bias < PLUMBLINE_BIAS_COUNT; ++bias)
      for (int dape = 0; dape < kDapes; ++dape)
        for (int rope = 0; rope < PLUMBLINE_ROPE_COUNT; ++rope) {
          if (!methods::is_bias(bias, dape, rope)) continue;
          Composed& entry = list[place(bias, dape, rope)];
          entry.method = methods::of(
              {static_cast<plumbline_bias>(bias), dape, static_cast<plumbline_rope>(rope)});
          for (const methods::Parameter& parameter : entry.method.parameters)
            entry.parameters.push_back(parameter.id);
        }
    return list;
  }();
  if (!methods::is_bias(p.bias, p.dape, p.rope)) throw std::out_of_range("no such bias");
  return all[place(p.bias, p.dape, p.rope)];
}

constexpr int kMaxGrid = 65535;         // gridDim.y and gridDim.z
constexpr int kMaxPositions = 1 << 30;  // for the sums of mask.cuh
constexpr int kMaxOption = 1 << 20;     // rows of a table, width of a layer
constexpr int kMostDapeHidden = 4096;   // dape.cuh
constexpr int kMostWidth = 1024;

/// Of the options that the bias reads; "" where all can be run.
std::string unsupported_option(const plumbline_problem& p, plumbline_option option) {
  const double value = p.options[option];
  const auto whole = [](double x, int least) {
    return x == std::floor(x) && x >= least && x <= kMaxOption;
  };
  const int directions = p.bias == PLUMBLINE_T5_BIDIRECTIONAL ? 2 : 1;
  const int most_hidden = p.dape > 0 ? kMostDapeHidden : kMaxOption;
  switch (option) {
    case PLUMBLINE_EPSILON:
    case PLUMBLINE_BASE:
      return value > 0 && std::isfinite(value) ? "" : "must be above 0";
    case PLUMBLINE_L0:
      return std::isfinite(value) ? "" : "must be finite";
    case PLUMBLINE_BUCKETS:
      return whole(value / directions, 2) ? "" : "must be at least 2 for each direction";
    case PLUMBLINE_MAX_DISTANCE:
      return value == std::floor(value) && value <= kMaxPositions &&
                     value > std::floor(p.options[PLUMBLINE_BUCKETS] / directions / 2)
                 ? ""
                 : "must be a whole number above half of a direction's buckets";
    case PLUMBLINE_LARGEST:
      return whole(value, 0) ? "" : "must be 0 .. 2^20";
    case PLUMBLINE_HIDDEN:
      return whole(value, 1) && value <= most_hidden
                 ? ""
                 : "must be 1 .. " + std::to_string(most_hidden);
    case PLUMBLINE_POSITIONS:
      return whole(value, 1) ? "" : "must be 1 .. 2^20";
    case PLUMBLINE_PER_BATCH:
    case PLUMBLINE_PER_HEAD:
    case PLUMBLINE_PER_QUERY:
    case PLUMBLINE_IN_FORMAT_OF_O:
    case PLUMBLINE_SLOPES_PER_BATCH:
      return value == 0 || value == 1 ? "" : "must be 0 or 1";
  }
  return "unknown";
}

std::string unsupported_option(const plumbline_problem& p) {
  const methods::Method& method = composed(p).method;
  if (method.causal_only && p.causal != 1) return std::string(method.name) + " needs a causal mask";
  if (p.dape > 0 && (plumbline_features(&p) & PLUMBLINE_HAS_SLOPES_PER_BATCH) != 0)
    return "slopes_per_batch must be 0 with DAPE";
  for (const methods::Option& option : method.options) {
    const std::string reason = unsupported_option(p, option.id);
    if (!reason.empty()) return methods::option_infos[option.id].name + (" " + reason);
  }
  return "";
}

std::string unsupported_positions(const plumbline_problem& p) {
  const bool beyond = p.query_offset > p.keys - p.queries;
  if (beyond && p.documents) return "query_offset + queries must be within keys, with documents";
  if (beyond && (needs_scores(p) || summed_parameter(p.bias) >= 0))
    return "query_offset + queries must be within keys, with this bias";
  if (needs_scores(p) && (p.query_offset < 0 || p.queries_at_end != 0))
    return "query_offset must be 0 or more and queries_at_end 0, with CoPE and DAPE";
  if (p.queries_at_end != 0 && p.queries_at_end != 1) return "queries_at_end must be 0 or 1";
  if (p.queries_at_end == 0) return "";
  if (!p.lengths) return "queries_at_end must be 0 without lengths";
  return p.query_offset == p.keys - p.queries
             ? ""
             : "query_offset must be keys - queries, with queries_at_end";
}

std::string unsupported_width(const plumbline_problem& p, Widths widths) {
  if (widths == Widths::compiled && !needs_scores(p)) {
    if (!is_among(p.head_dim, HeadDims{})) return "head_dim must be one of " + list_of(HeadDims{});
    return p.value_dim >= 1 && p.value_dim <= p.head_dim ? "" : "value_dim must be 1 .. head_dim";
  }
  if (p.head_dim < 1 || p.head_dim > kMostWidth) return "head_dim must be 1 .. 1024";
  return p.value_dim >= 1 && p.value_dim <= kMostWidth ? "" : "value_dim must be 1 .. 1024";
}

std::string unsupported_rope(const plumbline_problem& p) {
  if (p.rope == PLUMBLINE_NO_ROPE)
    return p.rotary_dim == 0 ? "" : "rotary_dim must be 0 without RoPE";
  return p.rotary_dim >= 2 && p.rotary_dim <= p.head_dim && p.rotary_dim % 2 == 0
             ? ""
             : "rotary_dim must be even, from 2 to head_dim, with RoPE";
}

std::string unsupported_dropout(const plumbline_problem& p) {
  if (!(p.dropout >= 0 && p.dropout < 1)) return "dropout must be at least 0 and below 1";
  if (p.dropout_generator != 0 && p.dropout_generator != 1)
    return "dropout_generator must be 0 or 1";
  if (p.dropout == 0) return p.keep ? "keep must be NULL without dropout" : "";
  return needs_scores(p) ? "dropout must be 0 with CoPE and DAPE" : "";
}

std::string unsupported_mask(const plumbline_problem& p) {
  const auto flag = [](int value) { return value == 0 || value == 1; };
  if (!flag(p.mask_per_batch) || !flag(p.mask_per_head))
    return "mask_per_batch and mask_per_head must be 0 or 1";
  if (!p.mask)
    return p.mask_per_batch == 0 && p.mask_per_head == 0
               ? ""
               : "mask_per_batch and mask_per_head must be 0 without mask";
  if (p.ssmax == 1) return "mask must be NULL with SSMax";
  return needs_scores(p) ? "mask must be NULL with CoPE and DAPE" : "";
}

std::string unsupported_cache(const plumbline_problem& p) {
  if (p.cache_format < 0 || p.cache_format >= PLUMBLINE_CACHE_FORMAT_COUNT)
    return "cache_format must be 0 .. 3";
  if (p.scale_per_key != 0 && p.scale_per_key != 1) return "scale_per_key must be 0 or 1";
  if (p.cache_format == PLUMBLINE_CACHE_IN_FORMAT)
    return p.scale_per_key == 0 ? "" : "scale_per_key must be 0 without cache_format";
  if (p.q_scale) return "q_scale must be NULL with cache_format";
  return needs_scores(p) ? "cache_format must be 0 with CoPE and DAPE" : "";
}

std::string unsupported_layout(const plumbline_problem& p) {
  if (p.strided != 0 && p.strided != 1) return "strided must be 0 or 1";
  if (!p.cu_seqlens_q != !p.cu_seqlens_k) return "cu_seqlens_q and cu_seqlens_k must go together";
  if (!p.cu_seqlens_q)
    return p.strided == 1 && needs_scores(p) ? "strided must be 0 with CoPE and DAPE" : "";
  if (p.strided == 1) return "strided must be 0 with cu_seqlens_q";
  if (p.documents || p.mask || p.dropout != 0 || p.page_size > 0)
    return "documents, mask, dropout and page_size must not be there with cu_seqlens_q";
  if (needs_scores(p) || methods::has_numbers_of_tokens(composed(p).method))
    return "cu_seqlens_q must be NULL with CoPE, DAPE and numbers for each query or key";
  if (p.sinks == 1 && p.lse_gradient == 1)
    return "lse_gradient must be 0 with cu_seqlens_q and sinks";
  return p.query_offset == p.keys - p.queries
             ? ""
             : "query_offset must be keys - queries, with cu_seqlens_q";
}

/// Each sequence within `queries` and `keys`, and with no more queries than keys but in causal
/// problems whose query_offset is below 0.
void check_packed(const plumbline_problem& p) {
  const int *q = p.cu_seqlens_q, *k = p.cu_seqlens_k;
  const auto refuse = [](const std::string& what) { throw InvalidProblem(what); };
  if (p.lengths) refuse("lengths must be NULL with cu_seqlens_q");
  if (q[0] != 0 || k[0] != 0) refuse("cu_seqlens must begin with 0");
  const bool more_queries = p.causal == 1 && p.query_offset < 0;
  for (int b = 0; b < p.batch; ++b) {
    const std::int64_t queries = std::int64_t{q[b + 1]} - q[b];
    const std::int64_t keys = std::int64_t{k[b + 1]} - k[b];
    const std::int64_t most = more_queries ? p.queries : std::min<std::int64_t>(p.queries, keys);
    if (!(0 <= queries && queries <= most && 0 <= keys && keys <= p.keys))
      refuse("cu_seqlens: sequence " + std::to_string(b) + " has " + std::to_string(queries) +
             " queries and " + std::to_string(keys) + " keys");
  }
  if (q[p.batch] != p.total_q || k[p.batch] != p.total_k)
    refuse("cu_seqlens must end with total_q and total_k");
}

/// None below 0, and of packed sequences none between sequences.
void check_strides(const plumbline_problem& p) {
  for (const plumbline_strides* s : {&p.q_strides, &p.k_strides, &p.v_strides, &p.o_strides}) {
    if (s->batch < 0 || s->head < 0 || s->token < 0)
      throw InvalidProblem("strides must be 0 or more");
    if (p.cu_seqlens_q && s->batch != 0)
      throw InvalidProblem("strides.batch must be 0 with cu_seqlens_q");
  }
}

/// One query row of every sequence and head at least lies in memory, and is counted in 31 bits.
std::string unsupported_scores(const plumbline_problem& p) {
  const bool cope = p.bias == PLUMBLINE_COPE;
  const auto wide = static_cast<int>(p.options[cope ? PLUMBLINE_POSITIONS : PLUMBLINE_HIDDEN]);
  if (p.keys > kMostScoredKeys) return "keys must be at most 2^24";
  if (!cope && p.heads > kMostDapeHidden) return "heads must be at most 4096";
  if (row_scores(static_cast<plumbline_bias>(p.bias), p.batch, p.heads, p.keys, wide) >
      std::numeric_limits<int>::max())
    return cope ? "batch * heads * keys, and positions in place of keys, must be below 2^31"
                : "batch * heads * keys, and hidden in place of heads, must be below 2^31";
  return "";
}

}  // namespace

const std::vector<plumbline_parameter>& parameters_of(const plumbline_problem& p) {
  return composed(p).parameters;
}

int summed_parameter(int bias) { return methods::row(bias).summed(); }

const char* name_of(plumbline_parameter parameter) {
  return methods::parameter_infos[parameter].name;
}

std::size_t parameter_size(const plumbline_problem& p, plumbline_parameter parameter) {
  const methods::Method& method = composed(p).method;
  const methods::Sizes sizes{p.batch, p.heads, p.queries, p.keys, p.head_dim, p.options};
  std::size_t size = 1;
  for (const methods::Extent extent : methods::parameter_of(method, parameter).shape)
    size *= static_cast<std::size_t>(methods::size_of(extent, method, sizes));
  return size;
}

std::string unsupported_reason(const plumbline_problem& p, Widths widths) {
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
  if (p.query_offset <= -p.queries || p.query_offset > kMaxPositions - p.queries)
    return "query_offset must be above -queries, and query_offset + queries at most 2^30";
  std::string reason = unsupported_width(p, widths);
  if (!reason.empty()) return reason;
  if (p.format < PLUMBLINE_FP32 || p.format > PLUMBLINE_TF32)
    return "format must be fp32, bf16, fp16 or tf32";
  if (!methods::is_method(p.bias)) return "unknown bias";
  if (!methods::is_bias(p.bias, p.dape, p.rope))
    return "dape must be 0, 1 or 2 and rope 0, 1 or 2, and the bias must compose with them";
  if (p.ssmax != 0 && p.ssmax != 1) return "ssmax must be 0 or 1";
  if (p.sinks != 0 && p.sinks != 1) return "sinks must be 0 or 1";
  if (p.sinks != 0 && needs_scores(p)) return "sinks must be 0 with CoPE and DAPE";
  if (p.softcap != 0 && !(p.softcap >= 0x1p-126 && p.softcap <= 0x1p127))
    return "softcap must be 0 or 2^-126 .. 2^127";
  if (p.softcap != 0 && needs_scores(p)) return "softcap must be 0 with CoPE and DAPE";
  if (p.causal != 0 && p.causal != 1) return "causal must be 0 or 1";
  if (p.window_left < -1) return "window_left must be -1 or more";
  if (p.window_right < -1) return "window_right must be -1 or more";
  if (p.lse_gradient != 0 && p.lse_gradient != 1) return "lse_gradient must be 0 or 1";
  reason = unsupported_rope(p);
  if (reason.empty()) reason = unsupported_dropout(p);
  if (reason.empty()) reason = unsupported_mask(p);
  if (reason.empty()) reason = unsupported_cache(p);
  if (reason.empty()) reason = unsupported_positions(p);
  if (reason.empty()) reason = unsupported_layout(p);
  if (reason.empty()) reason = unsupported_option(p);
  return reason.empty() && needs_scores(p) ? unsupported_scores(p) : reason;
}

void require(const void* pointer, const char* name) {
  if (!pointer) throw InvalidProblem(std::string(name) + " is missing");
}

void check_problem(const plumbline_problem& p, Widths widths) {
  const std::string reason = unsupported_reason(p, widths);
  if (!reason.empty()) throw InvalidProblem(reason);
  require(p.q, "q");
  require(p.k, "k");
  require(p.v, "v");
  if (p.ssmax == 1) require(p.parameters[PLUMBLINE_SSMAX_SCALE], "ssmax_scale");
  if (p.sinks == 1) require(p.parameters[PLUMBLINE_SINKS], "sinks");
  if (p.dropout != 0) require(p.keep, "keep");
  if (p.cache_format != PLUMBLINE_CACHE_IN_FORMAT) {
    require(p.k_scale, "k_scale");
    require(p.v_scale, "v_scale");
  }
  for (const plumbline_parameter parameter : parameters_of(p))
    if (parameter != summed_parameter(p.bias) || !p.prefix_sums)
      require(p.parameters[parameter], name_of(parameter));
  if (p.cu_seqlens_q) check_packed(p);
  if (p.strided == 1 || p.cu_seqlens_q) check_strides(p);
  for (int b = 0; p.lengths && b < p.batch; ++b)
    if (p.lengths[b] < 0 || p.lengths[b] > p.keys)
      throw InvalidProblem("lengths[" + std::to_string(b) + "] = " + std::to_string(p.lengths[b]) +
                           " is not between 0 and " + std::to_string(p.keys));
}

}  // namespace plumbline::gpu
