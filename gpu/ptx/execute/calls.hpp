// SPDX-License-Identifier: Apache-2.0
// Operations that call the functions of arithmetic/, which compute all 32 lanes.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_CALLS_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_CALLS_HPP

#include "ptx/arithmetic/approximate.hpp"
#include "ptx/arithmetic/convert.hpp"
#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

/// `extra` points to it.
struct Conversion {
  arithmetic::Conversion how;
  arithmetic::Convert function = nullptr;
};
Outcome convert_to_32(Warp& warp, const Operation& operation);
Outcome convert_to_64(Warp& warp, const Operation& operation);

/// cvt.pack.sat: of a and b, clamped to `immediate` & 255 bits (256: signed), b lowest, and above
/// them the low bits of c unless it is ~0u.
Outcome pack_saturated(Warp& warp, const Operation& operation);

/// `extra` is the function.
Outcome call_unary(Warp& warp, const Operation& operation);
Outcome call_unary_64(Warp& warp, const Operation& operation);
Outcome call_binary(Warp& warp, const Operation& operation);

}  // namespace plumbline::ptx

#endif
