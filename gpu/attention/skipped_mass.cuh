// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_SKIPPED_MASS_CUH
#define PLUMBLINE_GPU_ATTENTION_SKIPPED_MASS_CUH

namespace plumbline::gpu {

/// Mass of a row that skipping may leave out: 2^-14 > e^-10.
inline constexpr float kSkippedLogit = 10.0f;

/// Norms are taken 0.01 % too large, which covers the rounding of their sums.
inline constexpr float kNormFactor = 1.0001f;

/// What the sum of up to 128 squares begins with, each of which may lose 2^-126 by underflow.
inline constexpr float kLostSquares = 0x1p-119f;

}  // namespace plumbline::gpu

#endif
