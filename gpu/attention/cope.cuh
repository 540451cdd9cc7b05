// SPDX-License-Identifier: Apache-2.0
// CoPE (Golovneva et al., arXiv:2405.18719, section 4): positions that count the keys which the
// query lets through. Unfused: the logits lie in memory.
#ifndef PLUMBLINE_GPU_ATTENTION_COPE_CUH
#define PLUMBLINE_GPU_ATTENTION_COPE_CUH

#include "attention/mask.cuh"
#include "core/launch.cuh"

namespace plumbline::gpu {

struct CopeShape {
  int batch, heads, queries, keys;
  int query_offset;  // position of query row 0
  int rows;          // of the table of position embeddings
};

/// logits_j = s_j + z_p, z linearly interpolated between floor(p) and ceil(p), with p = min(sum of
/// logistic(s_k) over the visible keys k >= j, rows - 1). Gates are summed in double.
/// Shapes, fp32 in device memory: scores s, the scaled products, counts and logits [batch, heads,
/// queries, keys]; by_row [batch, heads, queries, rows], z_n = q . E_n. counts is that sum before
/// it is clamped, for the backward pass. For a key that is not visible the logit is -infinity, the
/// count -1.
/// @throws std::invalid_argument unless every size is at least 1, query_offset + queries within
/// keys, mask.keys = keys and batch x heads x queries below 2^31.
void cope_forward(const Stream& stream, const CopeShape& shape, const Mask& mask,
                  const float* scores, const float* by_row, float* counts, float* logits);

/// The adjoint for dl, with gates g: dz_n = sum_j dl_j max(0, 1 - |p_j - n|),
///   dp_j = dl_j (z_ceil(p) - z_floor(p)), 0 where p_j is clamped or a whole number,
///   ds_k = dl_k + g_k (1 - g_k) sum over visible j <= k of dp_j;
/// 0 for keys that are not visible, whatever dl is there. The same bits every run.
/// @throws std::invalid_argument as forward.
void cope_backward(const Stream& stream, const CopeShape& shape, const float* scores,
                   const float* by_row, const float* counts, const float* grad_logits,
                   float* grad_scores, float* grad_by_row);

}  // namespace plumbline::gpu

#endif
