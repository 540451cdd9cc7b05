// SPDX-License-Identifier: Apache-2.0
#include "attention/cope.cuh"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/warp.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kCopeThreads = 128;

__device__ float gate(float s) { return 1.0f / (1.0f + expf(-s)); }

/// Sum of the values of the lanes up to this one.
__device__ double sum_of_lanes(double value) {
  for (unsigned delta = 1; delta < kWarpSize; delta *= 2) {
    const double before = shuffle_up(value, delta);
    if (lane_index() >= delta) value += before;
  }
  return value;
}

/// What the last lane has, for all: a sum over the lanes in which only its value is not 0.
__device__ double of_last_lane(double value) {
  double only = lane_index() == kWarpSize - 1 ? value : 0.0;
  for (unsigned mask = kWarpSize / 2; mask > 0; mask /= 2) only += shuffle_xor(only, mask);
  return only;
}

/// Where a count stands in the table: between two rows, clamped at the last.
struct Place {
  int row;
  float above;  // weight of row + 1; 0 at a whole number

  __device__ Place(float count, int rows) {
    const float p = fminf(count, static_cast<float>(rows - 1));
    row = static_cast<int>(p);
    above = p - static_cast<float>(row);
  }
};

/// A warp for each query row, from its last key to its first.
__global__ void forward_kernel(CopeShape s, Mask mask, const float* scores, const float* by_row,
                               float* counts, float* logits) {
  const std::size_t row = blockIdx.x;
  const int lane = static_cast<int>(lane_index());
  const int b = static_cast<int>(row / s.queries / s.heads);
  const int position = static_cast<int>(row % s.queries) + s.query_offset;
  const KeyRange range = key_range(mask, b, position);
  const float* z = by_row + row * s.rows;
  double total = 0.0;
  for (int end = s.keys; end > 0; end -= kLanes) {
    const int key = end - 1 - lane;
    const bool sees = key >= 0 && visible(mask, range, b, position, key);
    const std::size_t at = row * s.keys + max(key, 0);
    const double sum = total + sum_of_lanes(sees ? gate(scores[at]) : 0.0f);
    total = of_last_lane(sum);
    if (key < 0) continue;
    counts[at] = -1.0f;
    logits[at] = -INFINITY;
    if (!sees) continue;
    counts[at] = static_cast<float>(sum);
    const Place place(counts[at], s.rows);
    float added = z[place.row];
    if (place.above > 0.0f) added = (1.0f - place.above) * added + place.above * z[place.row + 1];
    logits[at] = scores[at] + added;
  }
}

/// A warp for each query row, from its first key to its last.
__global__ void scores_kernel(CopeShape s, const float* scores, const float* by_row,
                              const float* counts, const float* grad_logits, float* grad_scores) {
  const std::size_t row = blockIdx.x;
  const float* z = by_row + row * s.rows;
  double total = 0.0;
  for (int begin = 0; begin < s.keys; begin += kLanes) {
    const int key = begin + static_cast<int>(lane_index());
    const std::size_t at = row * s.keys + min(key, s.keys - 1);
    const bool sees = key < s.keys && counts[at] >= 0.0f;
    float by_position = 0.0f;
    if (sees) {
      const Place place(counts[at], s.rows);
      if (place.above > 0.0f) by_position = grad_logits[at] * (z[place.row + 1] - z[place.row]);
    }
    const double sum = total + sum_of_lanes(by_position);
    total = of_last_lane(sum);
    if (key >= s.keys) continue;
    grad_scores[at] = 0.0f;
    if (sees)
      grad_scores[at] =
          grad_logits[at] + gate(scores[at]) * gate(-scores[at]) * static_cast<float>(sum);
  }
}

/// A thread for each row of the table and each query row.
__global__ void table_kernel(CopeShape s, const float* counts, const float* grad_logits,
                             float* grad_by_row) {
  const std::size_t row = blockIdx.x;
  for (int n = static_cast<int>(threadIdx.x); n < s.rows; n += kCopeThreads) {
    double sum = 0.0;
    for (int key = 0; key < s.keys; ++key) {
      const std::size_t at = row * s.keys + key;
      if (counts[at] < 0.0f) continue;
      const Place place(counts[at], s.rows);
      if (place.row == n) sum += static_cast<double>(grad_logits[at]) * (1.0f - place.above);
      if (place.row + 1 == n) sum += static_cast<double>(grad_logits[at]) * place.above;
    }
    grad_by_row[row * s.rows + n] = static_cast<float>(sum);
  }
}

void check_shape(const CopeShape& s) {
  constexpr int most = 1 << 24;  // whole numbers up to it are floats
  const auto size = [](int value, const char* name) {
    require(value >= 1 && value <= most, name, value, "1 .. 2^24");
  };
  size(s.batch, "batch");
  size(s.heads, "heads");
  size(s.queries, "queries");
  size(s.keys, "keys");
  size(s.rows, "rows");
  require(s.query_offset >= 0 && s.query_offset <= s.keys - s.queries, "query_offset",
          s.query_offset, "0 .. keys - queries");
  const std::int64_t heads = std::int64_t{s.batch} * s.heads;
  require(heads <= std::numeric_limits<int>::max() / s.queries, "batch x heads", heads,
          "below 2^31 / queries");
}

unsigned query_rows(const CopeShape& s) {
  return static_cast<unsigned>(s.batch) * s.heads * s.queries;
}

}  // namespace

void cope_forward(const Stream& stream, const CopeShape& shape, const Mask& mask,
                  const float* scores, const float* by_row, float* counts, float* logits) {
  check_shape(shape);
  require(mask.keys == shape.keys, "mask.keys", mask.keys, "keys");
  launch(stream, {dim3{query_rows(shape)}, dim3{kWarpSize}}, forward_kernel, shape, mask, scores,
         by_row, counts, logits);
}

void cope_backward(const Stream& stream, const CopeShape& shape, const float* scores,
                   const float* by_row, const float* counts, const float* grad_logits,
                   float* grad_scores, float* grad_by_row) {
  check_shape(shape);
  launch(stream, {dim3{query_rows(shape)}, dim3{kWarpSize}}, scores_kernel, shape, scores, by_row,
         counts, grad_logits, grad_scores);
  launch(stream, {dim3{query_rows(shape)}, dim3{kCopeThreads}}, table_kernel, shape, counts,
         grad_logits, grad_by_row);
}

}  // namespace plumbline::gpu
