// SPDX-License-Identifier: Apache-2.0
// mma.sync, ldmatrix, stmatrix, movmatrix: instructions of a whole warp.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_MATRIX_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_MATRIX_HPP

#include "ptx/arithmetic/product.hpp"
#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

/// `extra` points to it. The list has the registers of d, a, b and c.
struct MatrixProduct {
  arithmetic::Product how;
  arithmetic::Mma function = nullptr;
  std::uint8_t d = 0, a = 0, b = 0;  ///< how many registers; c has as many as d
};
Outcome multiply(Warp& warp, const Operation& operation);

/// Of ldmatrix and stmatrix, beside memory_wide. Their lists have the registers, one for each
/// matrix.
inline constexpr std::uint8_t matrix_transposed = 0x40;
Outcome move_matrix(Warp& warp, const Operation& operation);

}  // namespace plumbline::ptx

#endif
