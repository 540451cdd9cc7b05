// SPDX-License-Identifier: Apache-2.0
// The logits of the tensor-core forward pass.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_FORWARD_BIAS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_FORWARD_BIAS_CUH

#include <type_traits>

#include "attention/mma_bias.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_softmax.cuh"

namespace plumbline::gpu {

/// Makes logits of products q.k, in units of log2, for a lane's rows:
///   c_i (scale q.k + b_ij) log2 e = (c_i scale log2 e) q.k + (c_i log2 e) b_ij.
/// `shared` has c_i log2 e of the block's rows; `scale` is the problem's, or in fp8 times those of
/// q and k. `begin` is the tile's first key.
template <class Bias, class Rows, class Shared, int groups, int tiles>
__device__ __forceinline__ void make_logits(float (&score)[groups][tiles][4], const Rows& rows,
                                            float scale, const typename Bias::Params& params,
                                            const Shared& shared, int begin) {
  constexpr int kRows = Rows::kRows;
  typename InTile<Bias>::Row of_row[kRows];
  float product_factor[kRows], bias_factor[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    of_row[r] = shared.bias.row(rows.row_in_tile(r));
    bias_factor[r] = shared.factor(rows.row_in_tile(r));
    product_factor[r] = bias_factor[r] * scale;
  }
  const PartOfTile part{rows.warp_row, Rows::kWarpRows, 0, 8 * tiles, rows.first_position - begin};
  with_method_of_part<Bias>(params, rows.head, shared.bias, part, [&](auto method) {
    constexpr bool is_line = decltype(method)::kIsLine;
    constexpr bool together = decltype(method)::kTogether && !is_line;
    [[maybe_unused]] FireRowLine lines[kRows];  // `is_line`
    if constexpr (is_line) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) lines[r] = method.line(of_row[r], bias_factor[r]);
    }
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
      float biases[2 * kRows];  // of the eight keys, `together`
      if constexpr (together) {
#pragma unroll
        for (int m = 0; m < 2 * kRows; ++m) {
          const int r = m % kRows, key = 8 * tile + 2 * rows.place + m / kRows;
          biases[m] = method.value(of_row[r], shared.bias.key(key),
                                   shared.bias.entry(rows.row_in_tile(r), key));
        }
        method.finish(biases);
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const int key = 8 * tile + 2 * rows.place + n;
        const typename InTile<Bias>::Key of_key = shared.bias.key(key);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          float& logit = score[r / 2][tile][r % 2 * 2 + n];
          if constexpr (std::is_same_v<Bias, Nope>) {
            // Rounded before RunningSoftmax subtracts from it.
            logit = rounded_product(product_factor[r], logit);
          } else if constexpr (is_line) {
            const float entry = shared.bias.entry(rows.row_in_tile(r), key);
            logit = product_factor[r] * logit + fmaf(lines[r].slope, entry, lines[r].intercept);
          } else {
            float b;
            if constexpr (together)
              b = biases[n * kRows + r];
            else
              b = method.value(of_row[r], of_key, shared.bias.entry(rows.row_in_tile(r), key));
            logit = product_factor[r] * logit + bias_factor[r] * b;
          }
        }
      }
    }
  });
}

}  // namespace plumbline::gpu

#endif
