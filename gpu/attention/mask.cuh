// SPDX-License-Identifier: Apache-2.0
// Which keys a query sees. Kernels visit the range of keys and ask `visible` for each of them; no
// logit is ever set to -infinity for the sake of a mask.
#ifndef PLUMBLINE_GPU_ATTENTION_MASK_CUH
#define PLUMBLINE_GPU_ATTENTION_MASK_CUH

#include <cstddef>

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// Key j is visible to position i of batch b when 0 <= i, j < lengths[b] and i < lengths[b], j <= i
/// (causal), i - j <= left (left >= 0), j - i <= right (right >= 0), documents[b, i] ==
/// documents[b, j]. Null pointers stand for no lengths and no documents. left and right are less
/// than 2^30, as positions are, so that position + right + 1 is an int. A row that packed sequences
/// do not have sees no key.
struct Mask {
  int keys;
  bool causal;
  int left, right;          // of the window; -1: none
  const int* lengths;       // [batch]
  const int* documents;     // [batch, keys]
  int query_offset;         // position of query row 0,
  bool queries_at_end;      // less what the sequence is shorter than `keys`
  const int* cu_seqlens_q;  // [batch + 1] of packed sequences, or null
};

/// Which keys a query row may see beside that, by numbers of its own: [batch or 1, heads or 1,
/// queries, keys]. Kernels on tensor cores take none.
struct MaskTensor {
  const unsigned char* values;  // 0: hidden; null: no tensor
  bool per_batch, per_head;     // else the same for all
};

/// Keys begin .. end-1.
struct KeyRange {
  int begin, end;
};

__device__ inline int length_of(const Mask& mask, int batch) {
  return mask.lengths ? min(mask.lengths[batch], mask.keys) : mask.keys;
}

/// The position of query row 0 of a sequence; negative where it is shorter than the rows.
__device__ inline int first_position(const Mask& mask, int batch) {
  return mask.query_offset - (mask.queries_at_end ? mask.keys - length_of(mask, batch) : 0);
}

/// The first position at which a sequence has a query row that may see a key.
__device__ inline int lowest_position(const Mask& mask, int batch) {
  if (!mask.cu_seqlens_q) return 0;
  const int rows = mask.cu_seqlens_q[batch + 1] - mask.cu_seqlens_q[batch];
  return max(0, length_of(mask, batch) - rows);
}

/// The keys that lengths, causality and window leave to a position.
__device__ inline KeyRange key_range(const Mask& mask, int batch, int position) {
  const int length = length_of(mask, batch);
  if (position < lowest_position(mask, batch) || (mask.lengths && position >= length))
    return {0, 0};
  KeyRange range{0, length};
  if (mask.causal) range.end = min(range.end, position + 1);
  if (mask.right >= 0) range.end = min(range.end, position + mask.right + 1);
  if (mask.left >= 0) range.begin = min(max(0, position - mask.left), range.end);
  return range;
}

/// The keys that some position of first .. last may see. Both ends of key_range grow with the
/// position from the lowest up to the length, and before and beyond nothing is seen.
__device__ inline KeyRange key_range(const Mask& mask, int batch, int first, int last) {
  first = max(first, lowest_position(mask, batch));
  if (mask.lengths) last = min(last, length_of(mask, batch) - 1);
  if (first > last) return {0, 0};
  return {key_range(mask, batch, first).begin, key_range(mask, batch, last).end};
}

/// The keys that all positions of first .. last see, by what key_range looks at.
__device__ inline KeyRange common_key_range(const Mask& mask, int batch, int first, int last) {
  const KeyRange of_first = key_range(mask, batch, first), of_last = key_range(mask, batch, last);
  return {of_last.begin, min(of_first.end, of_last.end)};
}

/// By the mask of positions alone (Problem::sees has the tensor, too). `range` is that of the
/// position.
__device__ inline bool visible(const Mask& mask, const KeyRange& range, int batch, int position,
                               int key) {
  if (key < range.begin || key >= range.end) return false;
  if (!mask.documents) return true;
  const int* documents = mask.documents + static_cast<std::size_t>(batch) * mask.keys;
  return documents[position] == documents[key];
}

}  // namespace plumbline::gpu

#endif
