// SPDX-License-Identifier: Apache-2.0
// Ranks that have a GPU each. Host code, as it names no type of CUDA or NCCL.
#pragma once

#include <memory>

#include "support/communicator.hpp"

namespace plumbline::gpu {

/// Device memory by NCCL, host memory by `host`, which also brings the ranks together and must
/// outlive it. To be made by all ranks at once, each on its own GPU.
/// @throws std::runtime_error with what NCCL says, on the rank that it says it to: the others may
/// wait for that one.
std::unique_ptr<Communicator> nccl_communicator(Communicator& host);

}  // namespace plumbline::gpu
