// SPDX-License-Identifier: Apache-2.0
// Sinusoidal positions, added to the embeddings. Source: Vaswani et al., "Attention Is All You
// Need", arXiv:1706.03762, section 3.5.
#pragma once

#include <type_traits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// The frequency of the cosine in column 2k + 1.
enum class SinusoidalCosine {
  shared_frequency,  ///< base^(-2k/C), as its sine in column 2k: the article
  own_frequency,     ///< base^(-(2k+1)/C): the published code of BAM (ArthurSBianchessi/BAM)
};

/// P_t,2k = a sin(t base^(-2k/C)), P_t,2k+1 = a cos(t w), where w is the sine's frequency or its
/// own. Source: Vaswani et al., section 3.5, with a = 1 and base 10000; CABLE's published code
/// (axiomlab/Cable) has a = 0.1. The table is added to the embeddings and not learned: it has no
/// gradient, and the embeddings' passes unchanged.
/// Shape: [length, C], C the model's width. Domain: base > 0, any amplitude a.
/// @throws std::invalid_argument unless base > 0, length >= 0 and C is even and above 0.
template <Real R>
Matrix<R> sinusoidal_table(int length, int width, const R& base, SinusoidalCosine cosine,
                           const std::type_identity_t<R>& amplitude) {
  require(length >= 0, "length", length, "at least 0");
  require(width > 0 && width % 2 == 0, "width", width, "even and above 0");
  require(representative(base) > 0, "base", representative(base), "above 0");
  Matrix<R> table(length, width);
  for (int even = 0; even < width; even += 2) {
    const int like = cosine == SinusoidalCosine::shared_frequency ? even : even + 1;
    const R sine_frequency = power(base, R(-even) / R(width));
    const R cosine_frequency = power(base, R(-like) / R(width));
    for (int t = 0; t < length; ++t) {
      table(t, even) = amplitude * sin(R(t) * sine_frequency);
      table(t, even + 1) = amplitude * cos(R(t) * cosine_frequency);
    }
  }
  return table;
}

}  // namespace plumbline::reference
