// SPDX-License-Identifier: Apache-2.0
// RoPE inside the load of queries and keys.
#ifndef PLUMBLINE_GPU_ATTENTION_ROTATION_CUH
#define PLUMBLINE_GPU_ATTENTION_ROTATION_CUH

#include <cstddef>
#include <vector>

#include "core/formats.cuh"

namespace plumbline::gpu {

/// RoPE (Su et al., eqs 15 and 34): the pair (a, b) of components at a position becomes
/// (a cos - b sin, a sin + b cos) of the angle position base^(-2k / head_dim). Pair k is
/// (2k, 2k + 1), or (k, k + head_dim / 2). The tables are [positions, head_dim / 2], in device
/// memory; null: nothing is rotated. A row at a position below 0 sees no key, and is rotated as at
/// 0.
struct Rotation {
  const float *cosine, *sine;
  bool interleaved;
};

/// Both tables, by double: within 2^-24 of 1, plus 2^-52 times the angle.
struct RotationTables {
  std::vector<float> cosine, sine;
};
RotationTables rotation_tables(int positions, int head_dim, double base);

/// A component's place: its pair, the other component of it, and whether it is the first.
struct RotatedComponent {
  int pair, other;
  bool first;

  __device__ __forceinline__ RotatedComponent(const Rotation& rotation, int d, int half) {
    if (rotation.interleaved) {
      pair = d / 2;
      first = d % 2 == 0;
      other = first ? d + 1 : d - 1;
    } else {
      first = d < half;
      pair = first ? d : d - half;
      other = first ? d + half : d - half;
    }
  }
};

/// Component d of the row that begins at element `start` and stands at `position`.
__device__ __forceinline__ float load_rotated(const Rotation& rotation, const void* array,
                                              Format format, std::size_t start, int d, int position,
                                              int head_dim) {
  const float own = load_element(array, format, start + d);
  if (!rotation.cosine) return own;
  const RotatedComponent at(rotation, d, head_dim / 2);
  const float other = load_element(array, format, start + at.other);
  const std::size_t angle = static_cast<std::size_t>(max(position, 0)) * (head_dim / 2) + at.pair;
  const float sine = rotation.sine[angle];
  return own * rotation.cosine[angle] + other * (at.first ? -sine : sine);
}

}  // namespace plumbline::gpu

#endif
