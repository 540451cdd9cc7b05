// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_SINUSOIDAL_CUH
#define PLUMBLINE_GPU_OPS_SINUSOIDAL_CUH

#include <vector>

namespace plumbline::gpu {

/// The frequency of the cosine in column 2k + 1.
enum class CosineFrequency {
  shared,  ///< base^(-2k/C), as its sine in column 2k: the article
  own,     ///< base^(-(2k+1)/C): the published code of BAM
};

/// P_t,2k = a sin(t base^(-2k/C)), P_t,2k+1 = a cos(t w), w the sine's frequency or its own.
/// Source: Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, section 3.5, with a = 1
/// and base 10000; CABLE's published code has a = 0.1. Computed by the host in double and rounded
/// once to fp32: an angle of many turns would lose its digits in fp32. Not learned. Shape: [length,
/// C].
/// @throws std::invalid_argument unless base > 0, length >= 1 and C is even and at least 2.
std::vector<float> sinusoidal_table(int length, int width, double base, CosineFrequency cosine,
                                    double amplitude);

}  // namespace plumbline::gpu

#endif
