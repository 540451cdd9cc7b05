// SPDX-License-Identifier: Apache-2.0
// Which tensors decay.
#pragma once

#include <type_traits>

#include "reference/core/preconditions.hpp"
#include "reference/core/real.hpp"

namespace plumbline::reference {

/// Whether a tensor is one of a positional prior (BAM's theta_alpha, theta_beta, theta_mu).
enum class PositionalPrior { no, yes };

/// The weight decay of a tensor: lambda for rank >= 2, whether weights or embedding tables; 0 for
/// rank 0 and 1 (biases, gains) and for the parameters of BAM's prior, whatever their rank.
/// Source: the training code of CABLE and of BAM, which put tensors below rank 2 in a group without
/// decay; lambda = 0.1 in both (BAM, appendix C).
/// @throws std::invalid_argument if rank < 0.
template <Real R>
R weight_decay_of(int rank, PositionalPrior prior, const R& lambda) {
  require(rank >= 0, "rank", rank, "at least 0");
  return rank >= 2 && prior == PositionalPrior::no ? lambda : R(0.0);
}

}  // namespace plumbline::reference
