// SPDX-License-Identifier: Apache-2.0
// The matrix products, as product_lanes.cpp compiles them for each level.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_PRODUCT_LANES_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_PRODUCT_LANES_HPP

#include "ptx/arithmetic/product.hpp"

#define PLUMBLINE_PTX_PRODUCT_LANES \
  Mma mma(const Product&);          \
  Wgmma wgmma(const Product&);      \
  void decode_b(const Product&, const void* columns, bool negate, float* b, bool k_major);

namespace plumbline::ptx::arithmetic {
namespace plain {
PLUMBLINE_PTX_PRODUCT_LANES
}
namespace avx2 {
PLUMBLINE_PTX_PRODUCT_LANES
}
namespace avx512 {
PLUMBLINE_PTX_PRODUCT_LANES
}
}  // namespace plumbline::ptx::arithmetic

#undef PLUMBLINE_PTX_PRODUCT_LANES

#endif
