// SPDX-License-Identifier: Apache-2.0
#include "attention/attention.cuh"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "attention/backward_kernels.cuh"
#include "attention/bias_tile.cuh"
#include "attention/check_problem.cuh"
#include "attention/decode.cuh"
#include "attention/score_methods.cuh"
#include "attention/variants.cuh"
#include "attention/visible_count.cuh"
#include "bias/table_rows.cuh"
#include "ops/prefix_sum.cuh"

namespace plumbline::gpu {

namespace {

std::size_t size(auto... extents) {
  return (std::size_t{1} * ... * static_cast<std::size_t>(extents));
}

/// Before anything is allocated by its numbers.
const plumbline_problem& checked(const plumbline_problem& p, bool decode, Widths widths) {
  const std::string reason = decode ? unsupported_decode_reason(p) : unsupported_reason(p, widths);
  if (!reason.empty()) throw InvalidProblem(reason);
  return p;
}

bool has_rope(const plumbline_problem& p) { return p.rope != PLUMBLINE_NO_ROPE; }

/// One more than the largest position of a key or a query.
int positions(const plumbline_problem& p) { return std::max(p.keys, p.query_offset + p.queries); }

std::size_t angles(const plumbline_problem& p) {
  return has_rope(p) ? size(positions(p), p.rotary_dim / 2) : 0;
}

/// A side of a window, at most the distance of any two positions.
int clamped_window(int side, const plumbline_problem& p) {
  return std::min(side, positions(p) - 1);
}

int hidden(const plumbline_problem& p) { return static_cast<int>(p.options[PLUMBLINE_HIDDEN]); }

/// T5's rows of all offsets between two positions.
std::vector<int> table_row_of_positions(plumbline_problem p) {
  p.keys = positions(p);
  return table_row_of_offset(p);
}

/// Where rows of `width` numbers lie: as the problem says, or one after the other.
RowPlaces row_places(const plumbline_problem& p, const plumbline_strides& strides, long long heads,
                     long long tokens, long long width) {
  if (p.strided == 1 || p.cu_seqlens_q) return {strides.batch, strides.head, strides.token};
  return {heads * tokens * width, tokens * width, width};
}

void set_rows(Problem& problem, const plumbline_problem& p) {
  const int keys = p.page_size > 0 ? p.page_size : p.keys;
  problem.q_rows = row_places(p, p.q_strides, p.heads, p.queries, p.head_dim);
  problem.k_rows = row_places(p, p.k_strides, p.kv_heads, keys, p.head_dim);
  problem.v_rows = row_places(p, p.v_strides, p.kv_heads, keys, p.value_dim);
  problem.o_rows = row_places(p, p.o_strides, p.heads, p.queries, p.value_dim);
  problem.lse_rows = {static_cast<long long>(p.heads) * p.queries, p.queries, 1};
  if (!p.cu_seqlens_q) return;
  problem.lse_rows = {0, p.total_q, 1};
  problem.k_rows.cu_seqlens = problem.v_rows.cu_seqlens = p.cu_seqlens_k;
  for (RowPlaces* rows : {&problem.q_rows, &problem.o_rows, &problem.lse_rows}) {
    rows->cu_seqlens = p.cu_seqlens_q;
    rows->queries = p.queries;
  }
}

/// The problem as the kernels take it, without what is prepared for them.
Task task_of(const plumbline_problem& p) {
  Task task{};
  Problem& problem = task.problem;
  problem.batch = p.batch;
  problem.heads = p.heads;
  problem.kv_heads = p.kv_heads;
  problem.queries = p.queries;
  problem.keys = p.keys;
  problem.scale = static_cast<float>(p.scale);
  problem.softcap = static_cast<float>(p.softcap);
  problem.format = problem.output_format = static_cast<Format>(p.format);
  problem.lse_scale = 1.0f;
  problem.mask = {p.keys,
                  p.causal == 1,
                  clamped_window(p.window_left, p),
                  clamped_window(p.window_right, p),
                  p.lengths,
                  p.documents,
                  p.query_offset,
                  p.queries_at_end == 1,
                  p.cu_seqlens_q};
  problem.q = p.q;
  problem.k = p.k;
  problem.v = p.v;
  if (p.ssmax == 1) problem.ssmax_scale = p.parameters[PLUMBLINE_SSMAX_SCALE];
  if (p.sinks == 1) problem.sinks = p.parameters[PLUMBLINE_SINKS];
  problem.mask_tensor = {p.mask, p.mask_per_batch == 1, p.mask_per_head == 1};
  problem.value_dim = p.value_dim;
  set_rows(problem, p);
  problem.dropout = {p.keep,
                     static_cast<float>(1.0 / (1.0 - p.dropout)),
                     p.dropout != 0 && p.dropout_generator == 1,
                     p.dropout,
                     p.dropout_seed,
                     p.dropout_offset};

  BiasInputs& bias = task.bias;
  bias.method = static_cast<plumbline_bias>(p.bias);
  bias.dape_taps = methods::bias_of(p).dape_taps();
  bias.heads = p.heads;
  bias.queries = p.queries;
  bias.keys = p.keys;
  bias.slopes_per_batch = (plumbline_features(&p) & PLUMBLINE_HAS_SLOPES_PER_BATCH) != 0;
  for (const plumbline_parameter parameter : parameters_of(p))
    bias.parameters[parameter] = p.parameters[parameter];
  bias.epsilon = static_cast<float>(p.options[PLUMBLINE_EPSILON]);
  bias.hidden = hidden(p);
  bias.positions = static_cast<int>(p.options[PLUMBLINE_POSITIONS]);
  bias.L0 = p.options[PLUMBLINE_L0];
  const methods::Sizes sizes{p.batch, p.heads, p.queries, p.keys, p.head_dim, p.options};
  const auto extent = [&](methods::Extent of) {
    return static_cast<int>(methods::size_of(of, methods::row(p.bias), sizes));
  };
  bias.pairs = {extent(methods::Extent::batch_or_1), extent(methods::Extent::heads_or_1),
                extent(methods::Extent::queries_or_1)};
  bias.table_rows = table_rows(p);
  task.head_dim = p.head_dim;
  return task;
}

template <class T>
void upload(const Stream& stream, DeviceBuffer<T>& buffer, const std::vector<T>& values) {
  buffer.copy_from_host(stream, values.data(), 0, values.size());
  stream.wait();  // the values leave the host's memory
}

int most_splits(int keys) { return std::min(kMostSplits, (keys - 1) / kLeastSplitKeys + 1); }

}  // namespace

AttentionKernels kernels_by_mma(bool deterministic) {
  AttentionKernels kernels{mma_forward, mma_backward_keys, mma_backward_queries, !deterministic};
  kernels.rotated_rows = true;
  return kernels;
}

#if PLUMBLINE_ON_GPU
AttentionKernels kernels_by_wgmma() {
  AttentionKernels kernels{wgmma_forward, wgmma_backward_keys, wgmma_backward_queries, false};
  kernels.rotated_rows = true;
  return kernels;
}
#endif

AttentionKernels attention_kernels(Format format, bool tensor_cores, bool deterministic) {
  if (!tensor_cores || format == Format::fp32)
    return {fused_forward, backward_keys, backward_queries, !deterministic};
#if PLUMBLINE_ON_GPU
  if (device_has_wgmma()) return kernels_by_wgmma();
#endif
  return kernels_by_mma(deterministic);
}

std::string lacks_shared_memory(const plumbline_problem& p, const AttentionKernels& kernels,
                                bool backward) {
  const Stream stream;
  const Task task = task_of(p);
  NotedLaunches notes;
  kernels.forward(stream, task, {});
  if (backward) {
    BackwardArrays arrays{};
    arrays.head_rows = head_rows(task);
    arrays.atomic = kernels.atomic;
    if (!kernels.atomic) kernels.backward_keys(stream, task, arrays);
    kernels.backward_queries(stream, task, arrays);
  }
  const std::size_t there = shared_memory_of_block();
  if (notes.shared_bytes <= there) return "";
  return "a block needs " + std::to_string(notes.shared_bytes) +
         " bytes of shared memory for head_dim " + std::to_string(p.head_dim) +
         (p.bias == PLUMBLINE_FIRE ? " and hidden " + std::to_string(task.bias.hidden) : "") +
         "; this device gives it " + std::to_string(there);
}

Attention::Attention(const Stream& stream, const plumbline_problem& largest,
                     const AttentionKernels& kernels, const AttentionWorkspace& workspace)
    : stream_(stream),
      largest_(checked(largest, workspace.decode, kernels.widths)),
      kernels_(kernels),
      head_sums_(needs_scores(largest) ? 0 : head_rows(task_of(largest))),
      prefix_sums_(stream, summed_parameter(largest.bias) >= 0 && !largest.prefix_sums
                               ? size(largest.batch, largest.heads, largest.keys)
                               : 0),
      visible_counts_(stream, largest.ssmax == 1 ? size(largest.batch, largest.queries) : 0),
      table_row_(stream, uses_table(largest.bias) ? 2 * size(positions(largest)) - 1 : 0),
      distance_terms_(stream,
                      distance_terms(largest.bias, 1).empty() ? 0 : size(positions(largest))),
      fire_kinks_(stream, largest.bias == PLUMBLINE_FIRE
                              ? size(largest.heads, FireTable::stride(hidden(largest)))
                              : 0),
      fire_units_(stream,
                  largest.bias == PLUMBLINE_FIRE ? size(largest.heads, hidden(largest)) : 0),
      fire_places_(stream,
                   largest.bias == PLUMBLINE_FIRE ? size(largest.heads, hidden(largest) + 1) : 0),
      cosine_(stream, angles(largest)),
      sine_(stream, angles(largest)) {
  const plumbline_problem& p = largest_;
  if (uses_table(p.bias)) upload(stream, table_row_, table_row_of_positions(p));
  if (distance_terms_.size() > 0)
    upload(stream, distance_terms_, distance_terms(p.bias, positions(p)));
  if (has_rope(p)) {
    const RotationTables tables =
        rotation_tables(positions(p), p.rotary_dim, p.options[PLUMBLINE_BASE]);
    upload(stream, cosine_, tables.cosine);
    upload(stream, sine_, tables.sine);
  }
  if (needs_scores(p)) {
    scores_ = std::make_unique<ScoreBuffers>(stream, task_of(p), workspace.most_scores);
    if (workspace.backward)
      score_grads_ = std::make_unique<ScoreGradBuffers>(stream, task_of(p), *scores_, p.ssmax == 1);
    return;
  }
  if (has_rope(p) && kernels.rotated_rows)
    rotated_rows_ = std::make_unique<RotatedRows>(stream, task_of(p));
  const std::size_t heads = size(p.batch, p.heads), rows = heads * p.queries;
  if (workspace.backward) {
    const std::string reason = lacks_shared_memory(p, kernels, true);
    if (!reason.empty()) throw InvalidProblem(reason);
    const std::size_t tiles = (p.queries + kTileQueries - 1) / kTileQueries;
    const std::size_t key_numbers = size(p.batch, p.kv_heads, p.keys, p.head_dim);
    backward_workspace_ = std::make_unique<BackwardWorkspace>(
        BackwardWorkspace{{stream, rows},
                          {stream, rows * p.head_dim},
                          {stream, key_numbers},
                          {stream, key_numbers},
                          {stream, summed_parameter(p.bias) >= 0 ? heads * p.keys : 0},
                          {stream, heads * tiles * head_sums_},
                          {stream, p.bias == PLUMBLINE_BIAS_TENSOR ? rows * p.keys : 0},
                          {stream, p.ssmax == 1 ? heads * tiles : 0}});
  }
  if (workspace.decode) {
    const std::size_t partials = rows * most_splits(p.keys);
    decode_workspace_ = std::make_unique<DecodeWorkspace>(
        DecodeWorkspace{{stream, partials * p.value_dim}, {stream, partials}, {stream, partials}});
  }
}

void Attention::check(const plumbline_problem& p) const {
  const std::string reason = unsupported_reason(p, kernels_.widths);
  if (!reason.empty()) throw InvalidProblem(reason);
  const auto expect = [](bool holds, const char* name, const std::string& expected) {
    if (!holds) throw InvalidProblem(std::string(name) + " must be " + expected);
  };
  const auto same = [&](int value, int expected, const char* name) {
    expect(value == expected, name, std::to_string(expected) + ", as this attention was made for");
  };
  const auto fits = [&](int value, int most, const char* name) {
    expect(value <= most, name, "at most " + std::to_string(most) + ", the room there is");
  };
  same(p.heads, largest_.heads, "heads");
  same(p.kv_heads, largest_.kv_heads, "kv_heads");
  same(p.head_dim, largest_.head_dim, "head_dim");
  same(p.value_dim, largest_.value_dim, "value_dim");
  same(p.format, largest_.format, "format");
  same(p.bias, largest_.bias, "bias");
  same(p.dape, largest_.dape, "dape");
  same(p.rope, largest_.rope, "rope");
  same(p.rotary_dim, largest_.rotary_dim, "rotary_dim");
  same(p.ssmax, largest_.ssmax, "ssmax");
  same(p.sinks, largest_.sinks, "sinks");
  expect(std::equal(std::begin(p.options), std::end(p.options), largest_.options), "options",
         "those that this attention was made for");
  fits(p.batch, largest_.batch, "batch");
  fits(p.queries, largest_.queries, "queries");
  fits(p.keys, largest_.keys, "keys");
  fits(positions(p), positions(largest_), "query_offset + queries");
  require(p.q, "q");
  require(p.k, "k");
  require(p.v, "v");
  if (p.ssmax == 1) require(p.parameters[PLUMBLINE_SSMAX_SCALE], "ssmax_scale");
  if (p.sinks == 1) require(p.parameters[PLUMBLINE_SINKS], "sinks");
  if (p.dropout != 0) require(p.keep, "keep");
  const int summed = summed_parameter(p.bias);
  for (const plumbline_parameter parameter : parameters_of(p))
    if (parameter != summed || !p.prefix_sums) require(p.parameters[parameter], name_of(parameter));
  if (summed >= 0 && !p.prefix_sums) require(prefix_sums_.data(), "prefix_sums");
}

Task Attention::task(const plumbline_problem& p, int prefix_stride) const {
  check(p);
  if (prefix_stride != 0 && prefix_stride < p.keys)
    throw InvalidProblem("prefix_stride must be 0 or at least keys");
  Task task = task_of(p);
  if (kernels_.float_outputs) {
    task.problem.output_format = Format::fp32;
    task.problem.lse_scale = kLog2E;
  }
  if (p.ssmax == 1) {
    visible_count(stream_, task.problem.mask, p.batch, p.queries, visible_counts_.data());
    task.problem.visible_counts = visible_counts_.data();
  }
  BiasInputs& bias = task.bias;
  const int summed = summed_parameter(p.bias);
  if (summed >= 0 && p.prefix_sums) {
    bias.prefix_sum = p.prefix_sums;
    if (prefix_stride > 0) bias.keys = prefix_stride;
  } else if (summed >= 0) {
    prefix_sum(stream_, bias.parameters[summed], prefix_sums_.data(), p.batch * p.heads, p.keys);
    bias.prefix_sum = prefix_sums_.data();
  }
  if (uses_table(p.bias)) {
    bias.table_row = table_row_.data();
    bias.keys = positions(largest_);  // offset 0 stands in the middle of the largest table
  }
  if (distance_terms_.size() > 0) {
    bias.distance_terms = distance_terms_.data();
    bias.keys = positions(largest_);
  }
  if (has_rope(p))
    task.problem.rotation = {cosine_.data(), sine_.data(), p.rope == PLUMBLINE_ROPE_INTERLEAVED,
                             p.rotary_dim};
  return task;
}

Task Attention::task_of_tiles(const plumbline_problem& p) const {
  Task of_problem = task(p);
  if (p.bias == PLUMBLINE_FIRE) {
    of_problem.bias.fire_table = {fire_kinks_.data(), fire_units_.data(), fire_places_.data()};
    fill_fire_table(stream_, of_problem.bias);
  }
  return of_problem;
}

Task Attention::for_kernels(const Task& task) const {
  return rotated_rows_ ? rotated_rows_->of(stream_, task) : task;
}

void Attention::forward(const plumbline_problem& p, const plumbline_outputs& outputs) const {
  const Task of_problem = task_of_tiles(p);
  require(outputs.o, "o");
  if (kernels_.has_lse) require(outputs.lse, "lse");
  if (scores_)
    unfused_forward(stream_, of_problem, {}, *scores_, {outputs.o, outputs.lse});
  else
    kernels_.forward(stream_, for_kernels(of_problem), {outputs.o, outputs.lse});
}

void Attention::decode(const plumbline_problem& p, const plumbline_outputs& outputs,
                       int prefix_stride) const {
  if (!decode_workspace_ && !scores_)
    throw std::logic_error("this attention has no room for decoding");
  const Task of_problem = task(p, prefix_stride);
  require(outputs.o, "o");
  require(outputs.lse, "lse");
  Cache cache{};
  if (p.page_size > 0) {
    require(p.pages, "pages");
    cache.pages = p.pages;
    cache.page_size = p.page_size;
    cache.pages_per_sequence = (p.keys - 1) / p.page_size + 1;
  }
  if (p.cache_format != PLUMBLINE_CACHE_IN_FORMAT) {
    require(p.k_scale, "k_scale");
    require(p.v_scale, "v_scale");
    cache.format = static_cast<CacheFormat>(p.cache_format);
    cache.scale_per_key = p.scale_per_key == 1;
    cache.k_scale = p.k_scale;
    cache.v_scale = p.v_scale;
  }
  if (scores_) {
    unfused_forward(stream_, of_problem, cache, *scores_, {outputs.o, outputs.lse});
    return;
  }
  split_kv_decode(stream_, of_problem, cache,
                  {decode_workspace_->o.data(), decode_workspace_->maximum.data(),
                   decode_workspace_->sum.data(), split_count(p)},
                  {outputs.o, outputs.lse});
}

}  // namespace plumbline::gpu
