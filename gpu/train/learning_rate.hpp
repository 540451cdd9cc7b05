// SPDX-License-Identifier: Apache-2.0
// The learning rate of every update: a linear warm-up, then half a cosine. Sources: Loshchilov,
// Hutter, "SGDR", arXiv:1608.03983, equation 5, one period; warm-up: Goyal et al.,
// arXiv:1706.02677, section 2.2. Host code.
#pragma once

namespace plumbline::gpu {

/// The defaults are CABLE's, section 4.2.
struct CosineSchedule {
  double highest = 6e-4;  ///< the rate after the warm-up, above 0
  double lowest = 6e-5;   ///< the rate at the end and beyond, in [0, highest]
  long warm_up = 750;     ///< updates W, in [0, updates)
  long updates = 19073;   ///< N
};

/// @throws BadInput naming the field, its value and what was expected.
void validate(const CosineSchedule&);

/// The rate of update `n`, counted from 0:
///   n < W:      highest (n + 1) / W;
///   n < N:      lowest + (highest - lowest) (1 + cos(pi (n - W) / (N - W))) / 2;
///   otherwise:  lowest.
double learning_rate(const CosineSchedule&, long n);

}  // namespace plumbline::gpu
