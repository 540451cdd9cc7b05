// SPDX-License-Identifier: Apache-2.0
// How far a correct kernel's DAPE may be from the exact one. Derived in docs/bounds.md, section
// "DAPE", and docs/bounds-backward.md.
#pragma once

#include "reference/attention/dape.hpp"
#include "reference/scalars/double.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// One query row of DAPE in double, all heads: A and B [heads, keys], with what a kernel's may be
/// off by.
struct DapeNumbers {
  using Numbers = reference::Matrix<double>;
  Numbers A, B, A_error, B_error;
  int seen;  ///< keys that the network sees
};

/// A matrix, and the bound of a kernel's error in it.
struct Bounded {
  reference::Matrix<double> value, error;
};

/// What the network computes on its way, with a kernel's errors.
struct DapeErrors {
  Bounded features;                 ///< [2 heads, keys]
  Bounded before;                   ///< [hidden, keys], what enters LeakyReLU
  Bounded hidden;                   ///< [hidden, keys], what leaves it
  reference::Matrix<double> added;  ///< [heads, keys], of B + f, and of their sum with A
};
DapeErrors dape_errors(const Contract& contract, const DapeNumbers& row,
                       const reference::DapeLayers<double>& layers);

/// Bounds of a kernel's gradients of one row, and for the network's parameters, which are summed
/// over rows, the sizes of the terms.
struct DapeGradientErrors {
  reference::Matrix<double> A, B;  ///< [heads, keys]
  reference::KeyConvolutionGrad<double> first_error, first_size, second_error, second_size;
};
/// @param grad_logits [heads, keys], the exact dl and the bound of a kernel's.
DapeGradientErrors dape_gradient_errors(const Contract& contract, const DapeNumbers& row,
                                        const reference::DapeLayers<double>& layers,
                                        const DapeErrors& errors, const Bounded& grad_logits);

}  // namespace plumbline::verdict
