// SPDX-License-Identifier: Apache-2.0
// approximate.hpp's functions, as approximate_lanes.cpp compiles them for each level.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_APPROXIMATE_LANES_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_APPROXIMATE_LANES_HPP

#include "ptx/arithmetic/approximate.hpp"

#define PLUMBLINE_PTX_APPROXIMATE_LANES                                     \
  Unary approximate(Function, Format, Variation::Approximate);              \
  Binary approximate_division(bool full, bool ftz, Variation::Approximate); \
  Unary64 approximate_f64(Function, bool ftz, Variation::Approximate);

namespace plumbline::ptx::arithmetic {
namespace plain {
PLUMBLINE_PTX_APPROXIMATE_LANES
}
namespace avx2 {
PLUMBLINE_PTX_APPROXIMATE_LANES
}
namespace avx512 {
PLUMBLINE_PTX_APPROXIMATE_LANES
}
}  // namespace plumbline::ptx::arithmetic

#undef PLUMBLINE_PTX_APPROXIMATE_LANES

#endif
