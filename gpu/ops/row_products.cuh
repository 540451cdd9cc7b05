// SPDX-License-Identifier: Apache-2.0
// Linear maps of one row, with the norm before them and what comes after them: the layers of a
// model for a single token, where a matrix product by a library would be bound by its launch.
#ifndef PLUMBLINE_GPU_OPS_ROW_PRODUCTS_CUH
#define PLUMBLINE_GPU_OPS_ROW_PRODUCTS_CUH

#include <vector>

#include "core/formats.cuh"
#include "core/launch.cuh"

namespace plumbline::gpu {

/// What becomes of z = w . x + b. The gates are those of ops/head_gate.cuh, GELU is the tanh form.
enum class RowFunction { identity, gelu, swiglu, increment, gain, log_forget };

/// y_n = f(z_n) + residual_n, z_n = w_n . x + b_n for n < out; with swiglu
/// y_n = silu(gate_n . x) z_n + residual_n. All in device memory and of one format.
struct RowMap {
  int out;
  Format format;
  const void* w;                   ///< [out, in]
  const void* b = nullptr;         ///< [out], or null
  void* y;                         ///< [out]; may be `residual`
  const void* residual = nullptr;  ///< [out], or null
  RowFunction function = RowFunction::identity;
  const void* gate = nullptr;  ///< [out, in], swiglu's
};

/// The row x [in] of `format`, in device memory; with gamma [in] its norm: LayerNorm with beta
/// [in], else RMSNorm (ops/layernorm.cuh, ops/rmsnorm.cuh).
struct RowInput {
  int in;
  Format format;
  const void* x;
  const float *gamma = nullptr, *beta = nullptr;
  float epsilon = 0.0f;
};

inline constexpr int kMostRowMaps = 5;

/// All maps of the row, in one launch. The norm, the products and what comes after them are in
/// fp32; each y is rounded once, to its map's format. Error: docs/bounds-ops.md. The same bits
/// every run. y must not overlap x. @throws std::invalid_argument for no or more than kMostRowMaps
/// maps, a size below 1, a null array, or epsilon below 2^-100 where there is gamma.
void row_products(const Stream& stream, const RowInput& row, const std::vector<RowMap>& maps);

}  // namespace plumbline::gpu

#endif
