// SPDX-License-Identifier: Apache-2.0
// The frequent conversions, as convert_lanes.cpp compiles them for each level.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_CONVERT_LANES_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_CONVERT_LANES_HPP

#include "ptx/arithmetic/convert.hpp"

namespace plumbline::ptx::arithmetic {
namespace plain {
Convert frequent_conversion(const Conversion&);
}
namespace avx2 {
Convert frequent_conversion(const Conversion&);
}
namespace avx512 {
Convert frequent_conversion(const Conversion&);
}

/// Any conversion, a lane at a time: a number is read exactly, rounded, written.
void convert_any(const Conversion&, void* d, const void* a, const void* b);

}  // namespace plumbline::ptx::arithmetic

#endif
