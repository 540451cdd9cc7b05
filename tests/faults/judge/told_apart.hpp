// SPDX-License-Identifier: Apache-2.0
// Whether anybody could tell a mutant from a correct kernel: how far the fault alone moves results,
// against how far correct kernels of the same contract are from the exact ones.
#pragma once

#include <vector>

#include "tests/faults/judge/kernel.hpp"
#include "tests/faults/judge/mutants.hpp"

namespace plumbline::bench {

/// All results of a pass one after the other: o and lse; of the backward pass the gradients.
struct CorrectKernels {
  std::vector<double> exact;     ///< of the plain loops in double
  std::vector<double> variance;  ///< mean square of what kernels of floats are off by
};
/// Kernels with the numerics of `variant` but tiles, lanes and exponentials of their own, P and
/// operands rounded by a random part of half a step either way; before their outputs are stored,
/// which can only lose what tells them apart. @param given o and lse that a backward pass reads.
CorrectKernels correct_kernels(const cases::Case& the_case, const Variant& variant,
                               const cases::Outputs& given);

/// sum (effect / deviation)^2 over all results, the effect being the fault's in double: the square
/// of the distance, in standard deviations, between the mutant and correct kernels, to one who
/// knows the fault and takes roundings for independent. Infinite where a result that is the same in
/// all correct kernels moves, and where the fault is not one of arithmetic.
double told_apart(const cases::Case& the_case, const CorrectKernels& correct, const Mutant& mutant,
                  const cases::Outputs& given);

/// Up to this, over all of a mutant's cases, nobody can tell: a test with one false alarm in 10^6
/// would see the fault with a probability below 10^-5, Phi(sqrt(0.1) - 4.75).
inline constexpr double told_apart_from = 0.1;

}  // namespace plumbline::bench
