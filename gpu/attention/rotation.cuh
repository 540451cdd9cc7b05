// SPDX-License-Identifier: Apache-2.0
// RoPE inside the load of queries and keys.
#ifndef PLUMBLINE_GPU_ATTENTION_ROTATION_CUH
#define PLUMBLINE_GPU_ATTENTION_ROTATION_CUH

#include <cstddef>
#include <vector>

#include "core/formats.cuh"

namespace plumbline::gpu {

/// RoPE (Su et al., eqs 15 and 34): the pair (a, b) of components at a position becomes
/// (a cos - b sin, a sin + b cos) of the angle position base^(-2k / dim). Pair k is (2k, 2k + 1),
/// or (k, k + dim / 2). Components from `dim` on stay as they are, with dim = 0 all. The tables are
/// [positions, dim / 2], in device memory, null with dim = 0. A row at a position below 0 sees no
/// key, and is rotated as at 0.
struct Rotation {
  const float *cosine, *sine;
  bool interleaved;
  int dim;
};

/// Both tables, by double: within 2^-24 of 1, plus 2^-52 times the angle.
struct RotationTables {
  std::vector<float> cosine, sine;
};
RotationTables rotation_tables(int positions, int dim, double base);

/// A component's place: its pair, the other component of it, and whether it is the first. d < dim.
struct RotatedComponent {
  int pair, other;
  bool first;

  __device__ __forceinline__ RotatedComponent(const Rotation& rotation, int d) {
    const int half = rotation.dim / 2;
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

  /// Where the tables have its angle at a position.
  __device__ __forceinline__ std::size_t angle(const Rotation& rotation, int position) const {
    return static_cast<std::size_t>(max(position, 0)) * (rotation.dim / 2) + pair;
  }
};

/// Component d of the row at `position` whose components before the rotation are load(0), ...
template <class Load>
__device__ __forceinline__ float rotated(const Rotation& rotation, Load load, int d, int position) {
  const float own = load(d);
  if (d >= rotation.dim) return own;
  const RotatedComponent at(rotation, d);
  const float other = load(at.other);
  const std::size_t angle = at.angle(rotation, position);
  const float sine = rotation.sine[angle];
  return own * rotation.cosine[angle] + other * (at.first ? -sine : sine);
}

/// The same of the row that begins at element `start`.
__device__ __forceinline__ float load_rotated(const Rotation& rotation, const void* array,
                                              Format format, std::size_t start, int d,
                                              int position) {
  const auto load = [&](int n) { return load_element(array, format, start + n); };
  return rotated(rotation, load, d, position);
}

/// The components from d on, d a multiple of `count`, of the row at `position`, which is 0 or more:
/// several at once. The row lies on a boundary of 16 bytes.
template <class T, int count>
__device__ __forceinline__ void load_rotated_components(const Rotation& rotation, const T* row,
                                                        int d, int position,
                                                        float (&components)[count]) {
  if (d >= rotation.dim) {
    load_vector<T>(row + d, components);
    return;
  }
  if (rotation.dim % (2 * count) != 0) {
    const auto load = [&](int at) {
      float component[1];
      load_vector<T>(row + at, component);
      return component[0];
    };
    for (int n = 0; n < count; ++n) components[n] = rotated(rotation, load, d + n, position);
    return;
  }
  // All have their angles, and what they are rotated with, beside one another.
  const int half = rotation.dim / 2;
  const auto angles = static_cast<std::size_t>(position) * half;
  float own[count];
  load_vector<T>(row + d, own);
  if (rotation.interleaved) {
    float cosine[count / 2], sine[count / 2];
    load_vector<float>(rotation.cosine + angles + d / 2, cosine);
    load_vector<float>(rotation.sine + angles + d / 2, sine);
#pragma unroll
    for (int n = 0; n < count; ++n)
      components[n] =
          own[n] * cosine[n / 2] + own[n ^ 1] * (n % 2 == 0 ? -sine[n / 2] : sine[n / 2]);
    return;
  }
  const bool first = d < half;
  const int pair = first ? d : d - half;
  float other[count], cosine[count], sine[count];
  load_vector<T>(row + (first ? d + half : pair), other);
  load_vector<float>(rotation.cosine + angles + pair, cosine);
  load_vector<float>(rotation.sine + angles + pair, sine);
#pragma unroll
  for (int n = 0; n < count; ++n)
    components[n] = own[n] * cosine[n] + other[n] * (first ? -sine[n] : sine[n]);
}

}  // namespace plumbline::gpu

#endif
