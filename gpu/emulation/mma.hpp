// SPDX-License-Identifier: Apache-2.0
// The matrix products of a warp's tensor core.
#ifndef PLUMBLINE_GPU_EMULATION_MMA_HPP
#define PLUMBLINE_GPU_EMULATION_MMA_HPP

#include <cstdint>
#include <source_location>

namespace plumbline::emulation {

enum class MmaElement { bf16, fp16, tf32 };

/// One lane's fragments of C += A B; C has 16 rows and 8 `tiles` columns, A has `steps` times the
/// depth of an instruction as columns. Layouts in core/mma.cuh.
struct MmaFragments {
  MmaElement element;
  int steps, tiles;
  float* c;                // [tiles][4]
  const std::uint32_t* a;  // [steps][4]
  const std::uint32_t* b;  // [steps][tiles][2]
};

/// All lanes of the warp with the same element, steps and tiles.
///
/// A product of two elements is exact; tf32 reads the upper 19 bits of its operands. The sum is one
/// of two models of a tensor core:
/// - rounded: one addition after the other in fp32, to nearest;
/// - truncating: c and the next products (8, of tf32 4) are cut at 2^-24 of the largest of them,
///   added exactly, and the sum is cut to fp32. This is what measurements of compute capability 8.0
///   found (Fasi, Higham, Mikaitis, Pranesh, Numerical behavior of NVIDIA tensor cores, 2021).
void mma(MmaFragments& fragments, std::source_location where);

/// Which of the two models. The default is `truncating` where PLUMBLINE_TRUNCATING_MMA of the
/// environment is 1, else `rounded`.
void set_truncating_mma(bool truncating);
bool truncating_mma();

}  // namespace plumbline::emulation

#endif
