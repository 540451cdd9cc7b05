// SPDX-License-Identifier: Apache-2.0
// When errors count as random, and how far a sum of them reaches but for an event of probability
// 3e-14. Derived in docs/bounds.md, "Generic data".
#pragma once

#include <span>

#include "verdict/cases/spec.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// Of a sum of errors with mean 0, |e_k| <= c_k, each whatever the others are, P(|sum| > t sqrt(sum
/// c_k^2)) <= 2 e^(-t^2 / 2) (Hoeffding 1963, Azuma 1967): 3e-14 for this t.
inline constexpr double largest_deviation = 8;

/// Whether q, k, v and dO are independent numbers with random signs: the families generic and
/// diffuse. Not with a softcap or sinks: how the weights then spread is not derived.
bool has_random_signs(const cases::Spec& spec);

/// Whether the additions of a kernel's sums round to nearest; a truncating sum errs to one side.
bool sums_to_nearest(const Contract& contract);

/// Error of a sum of products with random signs, in any order.
/// @param additions of a term, rescales included; @param magnitude sum |x|; @param root_sum_square
/// sqrt(sum x^2).
double signed_sum_error(const Contract& contract, double additions, double magnitude,
                        double root_sum_square);

/// Error of a sum of positive terms, relative to it: to the same side, and random.
struct SumError {
  double systematic = 0, random = 0;
};
/// Of l = sum_j p_j in any order. @param spread standard deviation of the scores of keys beside one
/// another: terms spread less than the sum's neighbours round alike, and so do all of them where
/// l sums P rounded to few bits.
SumError weight_sum_error(const Contract& contract, std::span<const double> probability,
                          double spread);

/// What sum_e z_e^2 stays below if the z_e are sums of errors with mean 0 in units of sqrt(sum
/// c_k^2), those of different groups being independent, those of one group perhaps all the same.
double largest_sum_of_squares(double groups, double group_size);

}  // namespace plumbline::verdict
