// SPDX-License-Identifier: Apache-2.0
// The matrix products of mma.sync (PTX ISA 9.7.14.5.14) and wgmma (9.7.15.5.2).
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_PRODUCT_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_PRODUCT_HPP

#include "ptx/arithmetic/level.hpp"
#include "ptx/device.hpp"

namespace plumbline::ptx::arithmetic {

/// Of A and B, of C and D.
enum class Element { f16, bf16, tf32, e4m3, e5m2, f64, s8, u8, s4, u4, b1, f32, s32 };

struct Product {
  int n = 8, k = 16;  ///< m is 16, for f64 with k = 4 and for integers it may be 8
  Element a, b;       ///< differ only among e4m3 and e5m2, s8 and u8, s4 and u4
  Element c;          ///< of C and D: f32 or f16, f64, s32
  Variation::Sums sums = Variation::Sums::nearest;
  bool satfinite = false;  ///< of s32; else sums wrap
  int m = 16;
  bool exclusive = false;  ///< of b1: ones of a xor b are counted, else of a and b
};

/// D = A B + C of one warp in mma.sync's fragments. Each of d, a, b, c lists registers in the order
/// of the instruction's operands, each of 32 words of 32 bits (64 for f64). A register of d may be
/// one of c, a or b.
///
/// How floats are summed (the ISA leaves order and rounding open):
/// nearest: in order of k, each step c + a b rounded once, to nearest in fp32; in f64, fma. An f16
/// accumulator is rounded from fp32 at the end.
/// ampere, hopper: groups of g products and the accumulator; each summand is truncated to F bits
/// below the largest exponent of them (sums of the factors' exponents, before any carry), they are
/// added exactly, and the sum is truncated to fp32, for 8-bit types to 13 bits after the point, for
/// f16 accumulators rounded to nearest:
///
///            f16, bf16     tf32         e4m3, e5m2
///   ampere   g 8,  F 24    g 4, F 24    g 16, F 13 (Ada: A100 has none)
///   hopper   g 16, F 25    g 8, F 25    g 32, F 13
///
/// As measured: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ
/// CS 7:e330, 2021 (truncation, one more bit, A100's groups); Xie et al., "MMA-Sim", arXiv
/// 2511.10909, Table 4 and Algorithm 7 (all of it). f64 is the same in all.
///
/// tf32 operands are truncated to 10 bits after the point (9.7.15.5.2 says so; mma leaves it open).
/// NaN is 0x7fffffff, in f16 0x7fff; f64 0x7fffffffffffffff (as fma).
using Mma = void (*)(const Product&, void* const* d, const void* const* a, const void* const* b,
                     const void* const* c);

/// Null if mma.sync has no such product: m16n8k8 and k16 of f16 and bf16, m16n8k4 and k8 of tf32,
/// m8n8k4 and m16n8k4, k8, k16 of f64, m16n8k16 and k32 of s8 and u8, and of e4m3 and e5m2; m8n8k16
/// of s8 and u8, m8n8k32, m16n8k32 and k64 of s4 and u4, m8n8k128, m16n8k128 and k256 of b1.
Mma mma(const Product& product, Level level = best_level());

/// Where the operands of one warp's part of wgmma lie.
struct WgmmaOperands {
  void* const* d;                  ///< the accumulators: n / 2 registers, n / 4 for f16
  const void* const* a = nullptr;  ///< A in its four registers; or null, and
  const void* a_rows = nullptr;    ///< A of the warp's 16 rows: [16][k] elements, as in memory
  const float* b = nullptr;        ///< what decode_b wrote (s8 and u8: integers as floats)
  bool accumulate = true;          ///< scale-d
  bool negate_a = false;           ///< imm-scale-a is -1
};

/// B for all warps of the warpgroup: `columns` is [n][k] elements (k_major) or [k][n], as in
/// memory, `b` [n * k] floats. `negate`: imm-scale-b is -1.
void decode_b(const Product& product, const void* columns, bool negate, float* b,
              bool k_major = true, Level level = best_level());

/// The 16 rows that one warp has of wgmma.mma_async m64nNk16 (f16, bf16), k8 (tf32), k32 (8 bits):
/// rows 16 (warp % 4) and on, with sums as above. Null for other products.
using Wgmma = void (*)(const Product&, const WgmmaOperands&);
Wgmma wgmma(const Product& product, Level level = best_level());

}  // namespace plumbline::ptx::arithmetic

#endif
