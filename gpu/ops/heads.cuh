// SPDX-License-Identifier: Apache-2.0
// Between the rows of tokens that linear layers work on and the rows of heads that attention works
// on: copies, exact in every format.
#ifndef PLUMBLINE_GPU_OPS_HEADS_CUH
#define PLUMBLINE_GPU_OPS_HEADS_CUH

#include "core/formats.cuh"
#include "core/launch.cuh"

namespace plumbline::gpu {

/// Token t of sequence b has its heads in head_dim columns each, side by side, of a row of
/// `row_stride` elements: of an array q | k | v of [batch, length, 3 width], GPT-2's c_attn, the
/// stride is 3 width, and the keys begin at element `width`.
struct HeadColumns {
  int batch, length, heads, head_dim, row_stride;
};

/// split[b, h, t, d] = columns[(b length + t) row_stride + h head_dim + d]. Both arrays are in
/// `format`, in device memory; `columns` points to the first head of the first token.
/// @throws std::invalid_argument for null arrays, for a size below 1, head_dim no multiple of 8,
/// row_stride no multiple of 8 or below heads x head_dim, or an array that is not aligned to 16
/// bytes.
void split_heads(const Stream& stream, Format format, const HeadColumns& shape, const void* columns,
                 void* split);

/// The inverse, and the adjoint of split_heads where no other column is written:
/// columns[(b length + t) row_stride + h head_dim + d] = split[b, h, t, d]. The other columns of a
/// row stay as they are. @throws std::invalid_argument as split_heads.
void merge_heads(const Stream& stream, Format format, const HeadColumns& shape, const void* split,
                 void* columns);

}  // namespace plumbline::gpu

#endif
