// SPDX-License-Identifier: Apache-2.0
// What an attention layer made of its input, for looking at. Host code.
#pragma once

#include <vector>

namespace plumbline::gpu {

/// With p_ij = exp(logit_ij - lse_i), in the layer's format: logit_ij = ln p_ij + lse_i, of which
/// q_i . k_j / sqrt(head_dim) is the content's part and the rest the position method's.
struct AttentionWeights {
  int batch = 0, heads = 0, kv_heads = 0, length = 0, head_dim = 0;
  std::vector<float> p;    ///< [batch, heads, length, length]; 0 for keys that are hidden
  std::vector<float> lse;  ///< [batch, heads, length]
  std::vector<float> q;    ///< [batch, heads, length, head_dim]
  std::vector<float> k;    ///< [batch, kv_heads, length, head_dim]
};

}  // namespace plumbline::gpu
