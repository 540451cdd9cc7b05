// SPDX-License-Identifier: Apache-2.0
// A fatal signal in the kernel's process is told to the judge before the process dies of it.
#pragma once

#include <cstdint>

namespace plumbline::kernel_process {

/// Handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, on a stack of their own, since the
/// kernel may have used up its own.
/// @param number the request that is answered when the signal comes.
void install_fault_handlers(std::uint64_t number);

/// From here on, until the next request, a fault is one after the call's return.
void note_return();

}  // namespace plumbline::kernel_process
