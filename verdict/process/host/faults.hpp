// SPDX-License-Identifier: Apache-2.0
// A fatal signal in the kernel's process is told to the judge before the process dies of it.
#pragma once

#include <cstdint>

namespace plumbline::kernel_process {

/// Handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, on a stack of their own, since the
/// kernel may have used up its own.
/// @param number the request that is answered when the signal comes.
void install_fault_handlers(std::uint64_t number);

/// From here on the handlers for SIGSEGV and SIGBUS stay: who installs others in this process is
/// told that they are, and they are not, so that no library hides what touches a guard. Needs
/// PR_SET_NO_NEW_PRIVS. Without effect where the system has no filters of system calls.
void hold_fault_handlers();

/// From here on, until the next request, a fault is one after the call's return.
void note_return();

}  // namespace plumbline::kernel_process
