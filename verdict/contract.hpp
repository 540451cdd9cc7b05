// SPDX-License-Identifier: Apache-2.0
// What a kernel declares of its numerics, and the unit roundoffs that follow from it.
#pragma once

#include "cases/spec.hpp"
#include "kernel_abi/plumbline_kernel.h"

namespace plumbline::verdict {

/// The same structure that a kernel library fills in: nothing is translated on the way.
using Contract = plumbline_contract;

/// Unit roundoff of one elementwise fp32 operation, rounding to nearest: 2^-24.
inline constexpr double fp32_roundoff = 0x1p-24;

/// Half the distance of neighbouring values relative to the value: fp32 2^-24, bf16 2^-8, fp16 and
/// tf32 2^-11 (precision p bits: 2^-p).
double unit_roundoff(cases::Format format);

/// Half the smallest subnormal: what rounding can lose where the relative bound no longer holds.
double half_smallest_subnormal(cases::Format format);

/// gamma_n = n u / (1 - n u): error of a sum of n terms in any order (Higham, Accuracy and
/// Stability of Numerical Algorithms, 2nd ed., lemma 3.1). Infinite from n u >= 1 on.
double gamma(double n, double u);

/// Every field within its range.
/// @throws BadInput naming the first field that is not.
void validate(const Contract&);

}  // namespace plumbline::verdict
