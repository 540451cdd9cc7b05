// SPDX-License-Identifier: Apache-2.0
// What the instructions' files use of GCC and clang lacks. It is included before them in the
// fuzzers' build.
#pragma once

template <class Vector, class Index>
inline Vector __builtin_shuffle(Vector a, Vector b, Index from) {
  constexpr int size = sizeof(Vector) / sizeof a[0];
  Vector all = a;
  for (int i = 0; i < size; ++i) {
    const auto k = static_cast<int>(from[i]) & (2 * size - 1);
    all[i] = k < size ? a[k] : b[k - size];
  }
  return all;
}
