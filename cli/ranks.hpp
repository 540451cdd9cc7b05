// SPDX-License-Identifier: Apache-2.0
// The ranks of a program that mpirun started.
#pragma once

#include <functional>

#include "support/ranks.hpp"

namespace plumbline::cli {

/// Runs the program. Started by mpirun, only rank 0 is heard; a rank that ends early has the others
/// know, so that all end with one message and one status. One that fails where they wait for it
/// ends them at once.
int run_as_rank(const std::function<int()>& program);

/// All that mpirun started, or this process alone. MPI and, on GPUs, NCCL begin with the first
/// call: no exec may follow.
/// @throws MachineLacks as MpiCommunicator and, on GPUs, nccl_communicator do.
Ranks& ranks();

/// How many of the machine's processors are this rank's: all, but for those of its other ranks.
int own_processors();

}  // namespace plumbline::cli
