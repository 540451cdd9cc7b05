// SPDX-License-Identifier: Apache-2.0
#include "ops/row_products.cuh"

#include <cstdint>

#include "ops/elementwise.cuh"
#include "ops/gelu_value.cuh"
#include "ops/head_gate_value.cuh"
#include "ops/reduce.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kProductWarps = 8;
constexpr int kProductThreads = kProductWarps * kLanes;
constexpr int kAtOnce = 8;      // numbers of a row of weights that a lane loads together
constexpr int kColumns = 2048;  // of the row, in shared memory

struct RowMaps {
  RowMap of[kMostRowMaps];
  int count;
  bool vectors;  // every row of weights begins on a boundary of 16 bytes
};

/// The row's numbers less x_0 and less `mean`, times rstd, as norm_kernels.cuh has them.
struct NormedRow {
  RowInput row;
  float origin = 0.0f, mean = 0.0f, rstd = 1.0f;

  __device__ float centred(int c) const {
    return (load_element(row.x, row.format, c) - origin) - mean;
  }
  __device__ float operator[](int c) const {
    if (!row.gamma) return load_element(row.x, row.format, c);
    const float scaled = row.gamma[c] * (centred(c) * rstd);
    return row.beta ? scaled + row.beta[c] : scaled;
  }

  /// The sums of the norm, by all threads.
  __device__ NormedRow(const RowInput& of, float* per_warp) : row(of) {
    if (!row.gamma) return;
    const auto count = static_cast<float>(row.in);
    const int first = static_cast<int>(threadIdx.x);
    if (row.beta) {
      origin = load_element(row.x, row.format, 0);
      float sum = 0.0f;
      for (int c = first; c < row.in; c += kProductThreads) sum += centred(c);
      mean = block_reduce(sum, per_warp, Plus()) / count;
    }
    float squares = 0.0f;
    for (int c = first; c < row.in; c += kProductThreads) squares += centred(c) * centred(c);
    rstd = 1.0f / sqrtf(block_reduce(squares, per_warp, Plus()) / count + row.epsilon);
  }
};

/// The lane's part of w . x over `count` columns. `vectors`: w is on a boundary of 16 bytes.
template <class T>
__device__ float part_of_product(const T* w, const float* x, int count, bool vectors) {
  const int lane = static_cast<int>(lane_index());
  float sum = 0.0f;
  for (int c = lane * kAtOnce; c < count; c += kLanes * kAtOnce) {
    if (vectors && c + kAtOnce <= count) {
      float weights[kAtOnce], numbers[kAtOnce];
      load_vector<T>(w + c, weights);
      load_vector<float>(x + c, numbers);
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) sum += weights[n] * numbers[n];
    } else {
      for (int n = c; n < min(c + kAtOnce, count); ++n) sum += to_float(w[n]) * x[n];
    }
  }
  return sum;
}

__device__ float part_of_product(const void* w, Format format, std::size_t first, const float* x,
                                 int count, bool vectors) {
  switch (format) {
    case Format::bf16:
      return part_of_product(static_cast<const bfloat16*>(w) + first, x, count, vectors);
    case Format::fp16:
      return part_of_product(static_cast<const float16*>(w) + first, x, count, vectors);
    default:
      return part_of_product(static_cast<const float*>(w) + first, x, count, vectors);
  }
}

__device__ float function_value(RowFunction function, float z, float gate) {
  switch (function) {
    case RowFunction::identity:
      return z;
    case RowFunction::gelu:
      return gelu_value(GeluForm::tanh, z);
    case RowFunction::swiglu:
      return gate * Gate(gate).open * z;
    case RowFunction::increment:
      return head_gate_value(HeadGate::increment, z);
    case RowFunction::gain:
      return head_gate_value(HeadGate::gain, z);
    case RowFunction::log_forget:
      return head_gate_value(HeadGate::log_forget, z);
  }
  return z;
}

/// A warp a number of the results, those of one map after those of the other.
__global__ void __launch_bounds__(kProductThreads) row_products_kernel(RowInput row, RowMaps maps) {
  SharedMemory shared;
  float* const x = shared.take<float>(kColumns);
  float* const per_warp = shared.take<float>(kProductWarps);
  const NormedRow normed(row, per_warp);
  int n = static_cast<int>(blockIdx.x) * kProductWarps + static_cast<int>(threadIdx.x) / kLanes;
  int m = 0;
  while (m < maps.count && n >= maps.of[m].out) n -= maps.of[m++].out;
  const bool has_result = m < maps.count;
  const RowMap& map = maps.of[has_result ? m : 0];

  float product = 0.0f, gate = 0.0f;
  for (int first = 0; first < row.in; first += kColumns) {
    const int count = min(kColumns, row.in - first);
    __syncthreads();  // all are done with the columns before
    for (int c = static_cast<int>(threadIdx.x); c < count; c += kProductThreads)
      x[c] = normed[first + c];
    __syncthreads();
    if (!has_result) continue;
    const std::size_t at = static_cast<std::size_t>(n) * row.in + first;
    product += part_of_product(map.w, map.format, at, x, count, maps.vectors);
    if (map.function == RowFunction::swiglu)
      gate += part_of_product(map.gate, map.format, at, x, count, maps.vectors);
  }
  if (!has_result) return;  // a whole warp
  float z = warp_sum(product);
  gate = warp_sum(gate);
  if (lane_index() != 0) return;
  if (map.b) z += load_element(map.b, map.format, n);
  float y = function_value(map.function, z, gate);
  if (map.residual) y += load_element(map.residual, map.format, n);
  store_element(map.y, map.format, n, y);
}

bool on_16_bytes(const void* array) { return reinterpret_cast<std::uintptr_t>(array) % 16 == 0; }

}  // namespace

void row_products(const Stream& stream, const RowInput& row, const std::vector<RowMap>& maps) {
  require(row.in >= 1, "in", row.in, "at least 1");
  require_array(row.x, row.in, "x");
  if (row.gamma) require(row.epsilon >= 0x1p-100f, "epsilon", row.epsilon, "at least 2^-100");
  require(!maps.empty() && maps.size() <= kMostRowMaps, "maps", maps.size(), "1 to 5");
  RowMaps all{};
  all.vectors = row.in % kAtOnce == 0;
  std::size_t results = 0;
  for (const RowMap& map : maps) {
    require(map.out >= 1, "out", map.out, "at least 1");
    const std::size_t weights = static_cast<std::size_t>(map.out) * row.in;
    require_array(map.w, weights, "w");
    require_array(map.y, map.out, "y");
    if (map.function == RowFunction::swiglu) require_array(map.gate, weights, "gate");
    all.vectors = all.vectors && on_16_bytes(map.w) && on_16_bytes(map.gate);
    results += map.out;
    all.of[all.count++] = map;
  }
  require(results <= 0x7fffffffu - kProductWarps, "out", results, "below 2^31 - 8 together");
  launch(stream,
         {dim3{static_cast<unsigned>((results - 1) / kProductWarps + 1)}, dim3{kProductThreads},
          shared_bytes<float>(kColumns) + shared_bytes<float>(kProductWarps)},
         row_products_kernel, row, all);
}

}  // namespace plumbline::gpu
