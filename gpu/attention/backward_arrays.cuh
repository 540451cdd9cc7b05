// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_BACKWARD_ARRAYS_CUH
#define PLUMBLINE_GPU_ATTENTION_BACKWARD_ARRAYS_CUH

#include "attention/problem.cuh"

namespace plumbline::gpu {

/// What the backward kernels read beside the problem, and where they write; all in device memory.
/// dq, dk and dv are in fp32 and belong to q and k as they meet in the product, after RoPE.
struct BackwardArrays {
  const float* lse;      // the forward pass's, where lse_rows has them
  const float* delta;    // [batch, heads, queries]: D_i = sum_d dO_id o_id, less dL/dlse_i
  const void* grad_o;    // like o, in the problem's format
  float *dq, *dk, *dv;   // like q, k, v; rows of dv are head_dim wide, with zeros from value_dim on
  double* prefix_sum;    // [batch, heads, keys]: dS, or null
  float* gain;           // [batch, heads, queries], or null
  double* head_partial;  // [batch, heads, tiles of queries][head_rows]: HeadGrad's sums of a block
  int head_rows;
  float* pairs;           // [batch, heads, queries, keys]: dL/db_ij of a bias tensor, or null
  double* ssmax_partial;  // [batch, heads, tiles of queries], or null
  bool atomic;            // the kernel over queries also adds up dk, dv and the keys' dS
};

/// ds and dz of a score, and its P.
struct ScoreGrad {
  float p, ds, dz;
};

/// p = exp(s - lse), ds = p (dp - D), dz = c ds, with s = c z.
__device__ __forceinline__ ScoreGrad score_grad(float z, float factor, float lse, float dp,
                                                float delta) {
  const float p = expf(rounded_product(factor, z) - lse);
  const float ds = p * (dp - delta);
  return {p, ds, factor * ds};
}

}  // namespace plumbline::gpu

#endif
