// SPDX-License-Identifier: Apache-2.0
// Threads that a kernel left running when it returned.
#pragma once

namespace plumbline::kernel_process {

/// Gives every other thread that is at work the time to touch what is hidden from it now, and to
/// end the process by that: until it sleeps, or has had 2 ms of a processor. Threads that spin for
/// the next work are held up by no more; those that sleep, as a rule, by nothing.
void await_other_threads();

}  // namespace plumbline::kernel_process
