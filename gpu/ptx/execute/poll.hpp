// SPDX-License-Identifier: Apache-2.0
// Loops that wait for another thread: after some reads that saw nothing new, others run.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_POLL_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_POLL_HPP

#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

/// `seen`: a sum of what the operation read. `tells`: it may tell of what other warps have done.
Outcome polled(Warp& warp, const Operation& operation, std::uint64_t seen, bool tells = true);

}  // namespace plumbline::ptx

#endif
