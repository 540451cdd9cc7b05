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
template <int D>
struct RotatedComponent {
  int pair, other;
  bool first;

  __device__ RotatedComponent(const Rotation& rotation, int d) {
    if (rotation.interleaved) {
      pair = d / 2;
      first = d % 2 == 0;
      other = first ? d + 1 : d - 1;
    } else {
      first = d < D / 2;
      pair = first ? d : d - D / 2;
      other = first ? d + D / 2 : d - D / 2;
    }
  }
};

/// Component d of the row that begins at element `start` and stands at `position`.
template <int D>
__device__ __forceinline__ float load_rotated(const Rotation& rotation, const void* array,
                                              Format format, std::size_t start, int d,
                                              int position) {
  const float own = load_element(array, format, start + d);
  if (!rotation.cosine) return own;
  const RotatedComponent<D> at(rotation, d);
  const float other = load_element(array, format, start + at.other);
  const std::size_t angle = static_cast<std::size_t>(max(position, 0)) * (D / 2) + at.pair;
  const float sine = rotation.sine[angle];
  return own * rotation.cosine[angle] + other * (at.first ? -sine : sine);
}

}  // namespace plumbline::gpu

#endif
