// SPDX-License-Identifier: Apache-2.0
// Operations that the executor itself performs, and their flags.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_CONTROL_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_CONTROL_HPP

#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

// Operation::flags of Flow::barrier: a is the number, b the count of threads, c the predicate.
inline constexpr std::uint8_t barrier_aligned = 1;
inline constexpr std::uint8_t barrier_arrive = 2;
inline constexpr std::uint8_t barrier_counted = 4;
inline constexpr std::uint8_t barrier_popc = 8;
inline constexpr std::uint8_t barrier_and = 16;
inline constexpr std::uint8_t barrier_or = 32;
// Of Flow::cluster: barrier_aligned, barrier_arrive (without it: wait) and
inline constexpr std::uint8_t cluster_relaxed = 4;  ///< no release

/// A count that grows with every reading: %clock, %globaltimer and their kin. immediate: the bits'
/// first.
Outcome read_clock_32(Warp& warp, const Operation& operation);
Outcome read_clock_64(Warp& warp, const Operation& operation);
Outcome trap(Warp& warp, const Operation& operation);

}  // namespace plumbline::ptx

#endif
