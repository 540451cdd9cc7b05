// SPDX-License-Identifier: Apache-2.0
// Operations in which the lanes of a warp see one another: shfl, vote, match, redux, elect,
// bar.warp.sync. Each waits until all lanes of its member mask that have not left are there.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_EXCHANGE_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_EXCHANGE_HPP

#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

/// Operation::flags: who is missing is an absent lane.
inline constexpr std::uint8_t waits_for_lanes = 0x80;

enum class Vote : std::uint8_t { all, any, uni, ballot };
enum class Shuffle : std::uint8_t { up, down, bfly, idx };
enum class Reduce : std::uint8_t { add, min, max, bitwise_and, bitwise_or, bitwise_xor };

// The member mask is `target` in all of them. A second result, p, is in list[0], or ~0u.
Outcome warp_barrier(Warp& warp, const Operation& operation);
/// d = a of lane b, clamped by c; immediate: the Shuffle.
Outcome shuffle(Warp& warp, const Operation& operation);
/// d = of predicate a (turned by the high word of `immediate`); the low word is the Vote.
Outcome vote(Warp& warp, const Operation& operation);
Outcome match_any_32(Warp& warp, const Operation& operation);
Outcome match_any_64(Warp& warp, const Operation& operation);
Outcome match_all_32(Warp& warp, const Operation& operation);
Outcome match_all_64(Warp& warp, const Operation& operation);
/// immediate: the Reduce; 256 more where the type is signed.
Outcome reduce(Warp& warp, const Operation& operation);
/// d may be ~0u.
Outcome elect(Warp& warp, const Operation& operation);
Outcome active_mask(Warp& warp, const Operation& operation);

}  // namespace plumbline::ptx

#endif
