// SPDX-License-Identifier: Apache-2.0
// Which instructions of the CPU the loops over lanes use. The results are the same bits.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_LEVEL_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_LEVEL_HPP

namespace plumbline::ptx::arithmetic {

/// plain: what every x86-64 has; fma is then a call of libm, which is exactly rounded and slow.
/// avx2: with FMA. avx512: F, BW, DQ, VL and CD.
enum class Level { plain, avx2, avx512 };

/// The most that this CPU has, or less if the environment variable PLUMBLINE_PTX_ISA names it.
Level best_level();

}  // namespace plumbline::ptx::arithmetic

#endif
