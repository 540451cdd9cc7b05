// SPDX-License-Identifier: Apache-2.0
#include "ptx/arithmetic/approximate.hpp"

#include "ptx/arithmetic/approximate_lanes.hpp"
#include "ptx/arithmetic/at_level.hpp"

namespace plumbline::ptx::arithmetic {

Unary approximate(Function function, Format format, Variation::Approximate variation, Level level){
    PLUMBLINE_PTX_AT_LEVEL(level, approximate(function, format, variation))}

Binary approximate_division(bool full, bool ftz, Variation::Approximate variation, Level level){
    PLUMBLINE_PTX_AT_LEVEL(level, approximate_division(full, ftz, variation))}

Unary64
    approximate_f64(Function function, bool ftz, Variation::Approximate variation, Level level) {
  PLUMBLINE_PTX_AT_LEVEL(level, approximate_f64(function, ftz, variation))
}

}  // namespace plumbline::ptx::arithmetic
