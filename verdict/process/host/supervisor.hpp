// SPDX-License-Identifier: Apache-2.0
// The process that the judge started, and the one that the library runs in: its child, or its
// grandchild in namespaces of its own.
#pragma once

namespace plumbline::kernel_process {

/// Returns in another process, the worker. Where the system allows it, the worker sees no process
/// but its own descendants, so that it can send no other a signal; where it does not, it runs
/// without that. Whatever the worker starts ends with it, in its session or not, and the worker
/// ends with the judge. Its end is told to the judge, then the process that was started ends.
/// @returns whether the worker is in namespaces of its own.
bool become_the_worker();

}  // namespace plumbline::kernel_process
