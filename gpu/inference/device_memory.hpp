// SPDX-License-Identifier: Apache-2.0
// How much memory of the device this process holds, as host code sees it.
#pragma once

#include <cstddef>

namespace plumbline::gpu {

/// Bytes of all device buffers that live now. Emulated, they are of the host.
std::size_t device_memory_used();

}  // namespace plumbline::gpu
