// SPDX-License-Identifier: Apache-2.0
// What a kernel declares of its numerics, and the unit roundoffs that follow from it.
#pragma once

#include "kernel_abi/plumbline_kernel.h"
#include "verdict/bounds/roundoff.hpp"
#include "verdict/cases/spec.hpp"

namespace plumbline::verdict {

/// The same structure that a kernel library fills in: nothing is translated on the way.
using Contract = plumbline_contract;

/// Half the distance of neighbouring values relative to the value, as the format lies in memory
/// (precision p bits: 2^-p): fp32 2^-24, bf16 2^-8, fp16 2^-11, e4m3 2^-4, e5m2 2^-3; tf32 lies in
/// memory as fp32.
double unit_roundoff(cases::Format format);

/// Half the smallest subnormal: what rounding can lose where the relative bound no longer holds.
double half_smallest_subnormal(cases::Format format);

/// A correct kernel may overflow from here on: fp16 65504, e4m3 448, e5m2 57344, the others 2^127,
/// half of what they hold.
double largest_safe(cases::Format format);

/// How P and dS are rounded before they meet a matrix. A number x becomes one within
/// relative |x| + absolute of it, relative = (1 + format)(1 + operand) - 1.
struct ProbabilityRounding {
  double format = 0;    ///< to probability_format; 0 for fp32, whose rounding exp_error covers
  double operand = 0;   ///< of a float on its way into the product
  double relative = 0;  ///< both
  double absolute = 0;  ///< half the smallest subnormal
  double largest = 0;   ///< beyond it the format overflows
};
ProbabilityRounding probability_rounding(const Contract&);
/// The same of P, which probability_scale multiplies first: what underflows is so much smaller, and
/// so is what overflows.
ProbabilityRounding scaled_probability_rounding(const Contract&);

/// What dropout's m p may lose besides, relative: in 16 bits a program may round p, m and m p, each
/// on its own. 0 for other formats of P.
double dropout_roundings(const Contract&);

/// The contract as it holds for a spec. Packed sequences have no rows without a key: those that a
/// case has beside them are filled in by the judge, and are 0. In e4m3 and e5m2 with what the
/// scales of q, k and v cost, 2^-23 for each operand: a
/// scale's product with the stored number, or with another factor, is rounded once, and so is the
/// number that the oracle reads where a scale has more than 20 bits.
Contract contract_for(Contract, const cases::Spec&);

/// What an operand below 2^-126 may lose on its way into a product: where operands are cut to tf32
/// the spacing of its subnormals, 2^-136; where subnormals are flushed 2^-126.
double operand_underflow(const Contract&);

/// What a component of q or k may lose so where RoPE turns it. Where operand_roundoff is that of a
/// 16-bit format of the case, it is what the rotated components are rounded to again: half of the
/// format's smallest subnormal. The rotation's own two products and sum underflow before.
double rotated_underflow(const Contract&, cases::Format);

/// What an fp32 operation may lose where its result is subnormal: half of the smallest one, 2^-150,
/// or 2^-126 where subnormals are flushed.
double result_underflow(const Contract&);

/// The same of a number that is stored in the format.
double stored_underflow(const Contract&, cases::Format);

/// How a number is rounded that the kernel keeps in a format of the contract's; nothing for fp32.
struct StoredRounding {
  double relative = 0, absolute = 0, largest = 0x1p127;
  /// Bound of the rounding of a number of this size at most; infinite where the format overflows.
  double of(double size) const;
  /// Of `count` roundings of numbers one after the other, none of which has more than `size` but
  /// for the roundings before it.
  double of_several(double count, double size) const;
};
/// @param format a field of the contract: score_format, ...
StoredRounding stored_rounding(const Contract& contract, std::int32_t format);

/// Bound of the rounding of lse to lse_format, in natural units: of an lse of this size at most, in
/// natural units, which is stored in the contract's base. 0 where lse is fp32.
double lse_rounding(const Contract& contract, double size);

/// In how many blocks of the contract's sum_block what `seen` of `all` keys or queries add lies.
double sum_blocks(const Contract& contract, double seen, double all);

/// Whether this contract has ALiBi's bias as m j for the spec (the contract's alibi_of_key).
bool is_alibi_of_key(const Contract& contract, const cases::Spec& spec);

/// gamma_n = n u / (1 - n u): error of a sum of n terms in any order (Higham, Accuracy and
/// Stability of Numerical Algorithms, 2nd ed., lemma 3.1). Infinite from n u >= 1 on.
double gamma(double n, double u);

/// Every field within its range, and within what a kernel of this format can need: an fp32 kernel
/// that takes tf32 products, or P in bf16, is one of another format.
/// @throws BadInput naming the first field that is not.
void validate(const Contract&, cases::Format format);

}  // namespace plumbline::verdict
