// SPDX-License-Identifier: Apache-2.0
// What the translation asks the executor's instructions for.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_FORM_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_FORM_HPP

#include <cstdint>

#include "ptx/read/types.hpp"

namespace plumbline::ptx {

enum class Operator : std::uint8_t {
  // integers and bits: d, a[, b[, c]]
  add,
  sub,
  mul_lo,
  mul_hi,
  mul_wide,
  mad_lo,
  mad_hi,
  mad_wide,
  mul24_lo,
  mul24_hi,
  mad24_lo,
  mad24_hi,
  sad,
  div,
  rem,
  abs,
  neg,
  min,
  max,
  popc,
  clz,
  bfind,
  bfind_shiftamt,
  brev,
  bfe,
  bfi,  ///< the length is in list[0]
  fns,
  dp4a,
  dp2a_lo,
  dp2a_hi,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  bitwise_not,
  cnot,
  shl,
  shr,
  shf_l_clamp,
  shf_l_wrap,
  shf_r_clamp,
  shf_r_wrap,
  lop3,  ///< the table is the immediate
  prmt,
  prmt_f4e,
  prmt_b4e,
  prmt_rc8,
  prmt_ecl,
  prmt_ecr,
  prmt_rc16,
  szext_clamp,
  szext_wrap,
  bmsk_clamp,
  bmsk_wrap,
  add_carry,  ///< with carry in (flag 1) and out (flag 2)
  sub_carry,
  mad_lo_carry,
  mad_hi_carry,
  // floating point
  fma,
  rcp,
  sqrt,
  rsqrt,
  sin,
  cos,
  lg2,
  ex2,
  tanh,
  copysign,
  testp,
  min_nan,
  max_nan,
  min3,
  max3,
  // compare and select
  setp,
  set,
  selp,
  slct,
  // conversions
  cvt,
  cvt_pack,
  // predicates and moves
  mov,
  pred_mov,
  pred_and,
  pred_or,
  pred_xor,
  pred_not,
  pack,    ///< list: the parts, low first
  unpack,  ///< list: the parts, ~0u for none
  // memory
  load,
  store,
  load_param,  ///< a uniform address of the parameters
  isspacep,
  ldmatrix,
  stmatrix,
  wgmma,
  copy_async,
  copy_commit,
  copy_wait,
};

enum class Round : std::uint8_t { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi, rs };

enum class Compare : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};

enum class Test : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

struct Form {
  Operator op{};
  Type type = Type::none;  ///< of the result, and of the operands where there is no other
  Type from = Type::none;  ///< of the operands of cvt, set and slct
  Round round = Round::none;
  bool ftz = false, sat = false, approximate = false, full = false, nan = false, xorsign = false,
       relu = false;
  Compare compare{};
  std::uint8_t boolean = 0;  ///< of setp and set: 0 none, 1 and, 2 or, 3 xor
  Test test{};
  std::uint8_t register_bits = 32;  ///< of the registers of ld and st: 32 or 64
};

}  // namespace plumbline::ptx

#endif
