// SPDX-License-Identifier: Apache-2.0
// A case with its numbers, and the outputs that a kernel gives for it.
#pragma once

#include <cstdint>
#include <vector>

#include "cases/spec.hpp"
#include "kernel_abi/plumbline_kernel.h"

namespace plumbline::cases {

/// The numbers of a case. q, k, v hold values that the case's format represents exactly, widened to
/// float: kernel and oracle get the same numbers. Layouts as in plumbline_kernel.h; a vector that
/// the method or the mask does not use is empty.
struct Case {
  Spec spec;
  double scale = 1.0;     ///< 1/sqrt(head_dim) unless the case file says otherwise
  double epsilon = 1e-5;  ///< GGD only
  std::vector<float> q, k, v;
  std::vector<float> slopes;                             ///< [heads]
  std::vector<float> increments;                         ///< [batch, heads, keys]
  std::vector<float> gain;                               ///< [batch, heads, queries]
  std::vector<float> theta_alpha, theta_beta, theta_mu;  ///< [heads]
  std::vector<float> ssmax_scale;                        ///< [heads]
  std::vector<std::int32_t> lengths;                     ///< [batch]
  std::vector<std::int32_t> documents;                   ///< [batch, keys]
};

/// What a kernel returned, o widened to float.
struct Outputs {
  std::vector<float> o;    ///< [batch, heads, queries, head_dim]
  std::vector<float> lse;  ///< [batch, heads, queries]
};

/// The case's numbers from its seed alone: the same bits on every machine and for any thread count.
/// @throws BadInput if the spec is not valid or its family is `file`.
Case generate(const Spec&);

/// Sizes of all tensors, finiteness, signs (increments, gain >= 0), lengths in [0, keys].
/// @throws BadInput naming the tensor, the index and the value of the first that is wrong.
void validate(const Case&);

/// bf16 bits, round to nearest even, and back. NaN stays NaN.
std::uint16_t to_bf16(float);
float from_bf16(std::uint16_t);

}  // namespace plumbline::cases
