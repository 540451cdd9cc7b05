// SPDX-License-Identifier: Apache-2.0
// wmma: matrices of a warp whose fragments the ISA leaves open. Here element i of a matrix, counted
// by rows, is the (i % each)-th of lane i / each; what lanes are left have the matrix
// again.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_WMMA_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_WMMA_HPP

#include "ptx/arithmetic/product.hpp"
#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

/// `extra` of wmma_address points to it: a is the address of the matrix, b the stride in elements,
/// and d becomes that of one element of each lane.
struct WmmaPlace {
  std::uint32_t rows = 0, columns = 0, bytes = 0;
  std::uint32_t each = 0, element = 0;  ///< of a lane
  bool by_rows = true;
};
Outcome wmma_address(Warp& warp, const Operation& operation);

/// `extra` of wmma_multiply points to it. The list has the registers of d, a, b and c.
struct WmmaProduct {
  arithmetic::Product how;  ///< of the blocks of 16 x 8 (f64: 8 x 8)
  arithmetic::Mma function = nullptr;
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t d = 0, a = 0, b = 0, c = 0;  ///< registers
  bool half_d = false, half_c = false;       ///< they are pairs of f16
};
Outcome wmma_multiply(Warp& warp, const Operation& operation);

}  // namespace plumbline::ptx

#endif
