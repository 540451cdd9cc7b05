// SPDX-License-Identifier: Apache-2.0
// Small problems with parameters of every method, for tests that judge no numbers themselves.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "methods.hpp"
#include "plumbline_kernel.h"

namespace plumbline::gpu_tests {

/// Knuth's MMIX generator: enough for inputs that nobody judges.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 2654435761u + 1) {}

  std::uint32_t bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }
  float between(float low, float high) {
    return low + (high - low) * static_cast<float>(bits()) / 2147483648.0f;
  }
  std::vector<float> many(std::size_t count, float low, float high) {
    std::vector<float> values(count);
    for (float& x : values) x = between(low, high);
    return values;
  }

 private:
  std::uint64_t state_;
};

struct Shape {
  const char* name;
  int batch, heads, kv_heads, queries, keys, head_dim;
  bool causal;
  int window;
  bool ragged, documents, ssmax;
  double softcap = 0;
  bool sinks = false;
  bool queries_at_end = false;
  int beyond = 0;     // positions that the last query stands after the last key
  int value_dim = 0;  // 0: head_dim
  bool mask = false, mask_per_batch = false, mask_per_head = false;
  float dropout = 0;
  int rotary_dim = 0;  // with RoPE; 0: head_dim

  int value_width() const { return value_dim > 0 ? value_dim : head_dim; }
  constexpr Shape with_values(int width) const {
    Shape shape = *this;
    shape.value_dim = width;
    return shape;
  }
  /// Of Case::keep.
  constexpr Shape with_dropout(float probability) const {
    Shape shape = *this;
    shape.dropout = probability;
    return shape;
  }
  constexpr Shape with_rotary_dim(int dim) const {
    Shape shape = *this;
    shape.rotary_dim = dim;
    return shape;
  }
  /// Of Case::mask_shows.
  constexpr Shape with_mask(bool per_batch, bool per_head) const {
    Shape shape = *this;
    shape.mask = true;
    shape.mask_per_batch = per_batch;
    shape.mask_per_head = per_head;
    return shape;
  }
};

using methods::Bias;

inline constexpr Bias kRopeInterleaved(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_INTERLEAVED),
    kRopeHalfSplit(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_HALF_SPLIT);

/// Those of the fused kernels: every method but CoPE, RoPE, and RoPE with one of each family.
inline std::vector<Bias> fused_biases() {
  std::vector<Bias> biases;
  for (const methods::Method& method : methods::all)
    if (!method.needs_scores()) biases.push_back(method.bias);
  biases.insert(biases.end(), {kRopeInterleaved,
                               kRopeHalfSplit,
                               {PLUMBLINE_ALIBI, 0, PLUMBLINE_ROPE_HALF_SPLIT},
                               {PLUMBLINE_CABLE, 0, PLUMBLINE_ROPE_INTERLEAVED},
                               {PLUMBLINE_FIRE, 0, PLUMBLINE_ROPE_HALF_SPLIT}});
  return biases;
}
/// And those that need the matrix of scores: CoPE, and DAPE with what it composes with.
inline std::vector<Bias> every_bias() {
  std::vector<Bias> biases = fused_biases();
  biases.push_back(PLUMBLINE_COPE);
  for (int dape = 1; dape <= 2; ++dape)
    for (const methods::Method& method : methods::all)
      if (method.with_dape) biases.push_back({method.bias, dape});
  return biases;
}

inline constexpr const char* kFormats[] = {"fp32", "bf16", "fp16", "tf32"};
inline constexpr int kBuckets = 8, kHidden = 5, kPositions = 6;

/// The numbers' upper 16 bits: any bf16 or fp16 will do.
inline std::vector<std::uint16_t> truncated(const std::vector<float>& values) {
  std::vector<std::uint16_t> upper(values.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    std::uint32_t bits;
    std::memcpy(&bits, &values[n], sizeof bits);
    upper[n] = static_cast<std::uint16_t>(bits >> 16);
  }
  return upper;
}

/// Parameters of all methods for a shape, in ranges that suit each.
struct Parameters {
  Parameters(Numbers& numbers, const Shape& s) {
    const auto heads = static_cast<std::size_t>(s.heads);
    const auto fill = [&](plumbline_parameter parameter, std::size_t count, float low, float high) {
      values[parameter] = numbers.many(count, low, high);
    };
    fill(PLUMBLINE_SSMAX_SCALE, heads, 0.5f, 1.5f);
    fill(PLUMBLINE_SLOPES, heads, 0.0f, 0.5f);
    fill(PLUMBLINE_INCREMENTS, heads * s.batch * s.keys, 0.0f, 0.3f);
    fill(PLUMBLINE_GAIN, heads * s.batch * s.queries, 0.0f, 2.0f);
    fill(PLUMBLINE_THETA_ALPHA, heads, -1.0f, 1.0f);
    fill(PLUMBLINE_THETA_BETA, heads, -1.0f, 1.0f);
    fill(PLUMBLINE_THETA_MU, heads, -1.0f, 1.0f);
    fill(PLUMBLINE_P, heads, 0.1f, 1.0f);
    fill(PLUMBLINE_A, heads, 0.1f, 1.0f);
    fill(PLUMBLINE_TABLE, heads * (2 * kBuckets + 1), -1.0f, 1.0f);
    fill(PLUMBLINE_HIDDEN_WEIGHT, kHidden, -1.0f, 1.0f);
    fill(PLUMBLINE_HIDDEN_BIAS, kHidden, -1.0f, 1.0f);
    fill(PLUMBLINE_OUTPUT_WEIGHT, heads * kHidden, -1.0f, 1.0f);
    fill(PLUMBLINE_OUTPUT_BIAS, heads, -1.0f, 1.0f);
    fill(PLUMBLINE_C, 1, 0.1f, 0.2f);
    fill(PLUMBLINE_L, 1, 0.5f, 1.0f);
    fill(PLUMBLINE_LOG_FORGET, heads * s.batch * s.keys, -0.3f, 0.0f);
    values[PLUMBLINE_SINKS] = Numbers(79).many(heads, -2.0f, 2.0f);
    // The same for all sequences (options).
    values[PLUMBLINE_TENSOR] = Numbers(78).many(heads * s.queries * s.keys, -1.0f, 1.0f);
    // Other numbers of heads, in a range that suits any.
    for (const methods::Method& method : methods::all)
      for (const methods::Parameter& parameter : method.parameters)
        if (values[parameter.id].empty() && parameter.shape.size() == 1 &&
            *parameter.shape.begin() == methods::Extent::heads)
          values[parameter.id] = Numbers(77).many(heads, 0.5f, 1.5f);
  }
  /// Those of CoPE and DAPE, in other shapes; taps is 3 or less.
  void of_scores(Numbers& numbers, const Shape& s) {
    const auto heads = static_cast<std::size_t>(s.heads);
    values[PLUMBLINE_HIDDEN_WEIGHT] = numbers.many(kHidden * 2 * heads * 3, -0.3f, 0.3f);
    values[PLUMBLINE_OUTPUT_WEIGHT] = numbers.many(heads * kHidden * 3, -0.3f, 0.3f);
    values[PLUMBLINE_POSITION_EMBEDDING] =
        numbers.many(heads * kPositions * s.head_dim, -0.1f, 0.1f);
  }
  std::vector<float> values[PLUMBLINE_PARAMETER_COUNT];
};

/// The arrays of one run and the problem that points at them.
struct Case {
  Case(const Shape& shape, Bias bias, int format) : s(shape) {
    problem.struct_size = sizeof problem;
    problem.batch = s.batch;
    problem.heads = s.heads;
    problem.kv_heads = s.kv_heads;
    problem.queries = s.queries;
    problem.keys = s.keys;
    problem.head_dim = s.head_dim;
    problem.value_dim = s.value_width();
    problem.query_offset = s.keys - s.queries + s.beyond;
    problem.format = format;
    problem.bias = bias.method;
    problem.dape = bias.dape;
    problem.rope = bias.rope;
    if (bias.has_rope()) problem.rotary_dim = s.rotary_dim > 0 ? s.rotary_dim : s.head_dim;
    problem.ssmax = s.ssmax ? 1 : 0;
    problem.causal = s.causal || bias.method == PLUMBLINE_FOX ? 1 : 0;
    problem.window_left = problem.window_right = s.window;
    problem.queries_at_end = s.queries_at_end ? 1 : 0;
    problem.scale = 0.125;
    problem.softcap = s.softcap;
    problem.sinks = s.sinks ? 1 : 0;
    problem.options[PLUMBLINE_EPSILON] = 1e-5;
    problem.options[PLUMBLINE_BUCKETS] = kBuckets;
    problem.options[PLUMBLINE_MAX_DISTANCE] = 20;
    problem.options[PLUMBLINE_LARGEST] = kBuckets;
    problem.options[PLUMBLINE_HIDDEN] = kHidden;
    problem.options[PLUMBLINE_L0] = 30;
    problem.options[PLUMBLINE_BASE] = 10000;
    problem.options[PLUMBLINE_POSITIONS] = kPositions;
    problem.options[PLUMBLINE_PER_HEAD] = problem.options[PLUMBLINE_PER_QUERY] = 1;
    if (methods::of(bias).needs_scores()) parameters.of_scores(numbers, s);
    problem.q = of_format(q, q16);
    problem.k = of_format(k, k16);
    problem.v = of_format(v, v16);
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n)
      problem.parameters[n] = parameters.values[n].data();
    if (!s.ssmax) problem.parameters[PLUMBLINE_SSMAX_SCALE] = nullptr;
    if (!s.sinks) problem.parameters[PLUMBLINE_SINKS] = nullptr;
    for (int b = 0; b < s.batch; ++b) lengths[b] = b == 0 ? s.keys : s.keys / 2;
    for (std::size_t n = 0; n < documents.size(); ++n) documents[n] = static_cast<int>(n) / 13;
    problem.lengths = s.ragged ? lengths.data() : nullptr;
    problem.documents = s.documents ? documents.data() : nullptr;
    if (s.dropout > 0) {
      Numbers of_pairs(13);
      for (std::size_t n = 0; n < rows * s.keys; ++n) keep.push_back(of_pairs.bits() % 3 != 0);
      problem.dropout = s.dropout;
      problem.keep = keep.data();
    }
    if (!s.mask) return;
    problem.mask_per_batch = s.mask_per_batch ? 1 : 0;
    problem.mask_per_head = s.mask_per_head ? 1 : 0;
    for (int slice = 0; slice < mask_slices(); ++slice)
      for (int row = 0; row < s.queries; ++row)
        for (int key = 0; key < s.keys; ++key) mask.push_back(mask_number(slice, row, key));
    problem.mask = mask.data();
  }

  bool short_format() const {
    return problem.format == PLUMBLINE_BF16 || problem.format == PLUMBLINE_FP16;
  }
  /// Another tensor like o.
  std::vector<float> v_like_o() const {
    return Numbers(11).many(rows * s.value_width(), -1.0f, 1.0f);
  }
  /// Another one like lse.
  std::vector<float> v_like_lse() const { return Numbers(12).many(rows, -1.0f, 1.0f); }
  /// What the mask tensor says: of two keys in three, and of none in every fifth row, another one
  /// in each of its heads and batches.
  bool mask_shows(int b, int head, int row, int key) const {
    const int batch = s.mask_per_batch ? b : 0;
    return !s.mask || mask_number(s.mask_per_head ? batch * s.heads + head : batch, row, key) != 0;
  }
  const void* of_format(const std::vector<float>& wide,
                        const std::vector<std::uint16_t>& narrow) const {
    return short_format() ? static_cast<const void*>(narrow.data()) : wide.data();
  }
  int mask_slices() const {
    return (s.mask_per_batch ? s.batch : 1) * (s.mask_per_head ? s.heads : 1);
  }
  static std::uint8_t mask_number(int slice, int row, int key) {
    return (row + slice) % 5 != 2 && Numbers((slice * 1000 + row) * 1000 + key).bits() % 3 != 0;
  }

  Shape s;
  Numbers numbers{7};
  std::size_t rows = static_cast<std::size_t>(s.batch) * s.heads * s.queries;
  std::size_t keys = static_cast<std::size_t>(s.batch) * s.kv_heads * s.keys;
  std::vector<float> q = numbers.many(rows * s.head_dim, -2.0f, 2.0f);
  std::vector<float> k = numbers.many(keys * s.head_dim, -2.0f, 2.0f);
  std::vector<float> v = numbers.many(keys * s.value_width(), -1.0f, 1.0f);
  std::vector<std::uint16_t> q16 = truncated(q), k16 = truncated(k), v16 = truncated(v);
  Parameters parameters{numbers, s};
  std::vector<std::int32_t> lengths = std::vector<std::int32_t>(s.batch);
  std::vector<std::int32_t> documents =
      std::vector<std::int32_t>(static_cast<std::size_t>(s.batch) * s.keys);
  std::vector<std::uint8_t> mask, keep;
  plumbline_problem problem{};
};

}  // namespace plumbline::gpu_tests
