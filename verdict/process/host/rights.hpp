// SPDX-License-Identifier: Apache-2.0
// What the kernel's process may do less than the one that started it.
#pragma once

namespace plumbline::kernel_process {

/// No program that it starts has more rights than it has itself, and it has no capability, nor can
/// it get one: not to look into processes, not to end those of others. An administrator's process
/// keeps one, to read and write files of others (CAP_DAC_OVERRIDE): in a container the library and
/// the folders for its caches are often another user's.
void give_up_rights();

}  // namespace plumbline::kernel_process
