// SPDX-License-Identifier: Apache-2.0
#include "inference/device_memory.hpp"

#include "core/device_buffer.cuh"

namespace plumbline::gpu {

std::size_t device_memory_used() { return DeviceMemory::used; }

}  // namespace plumbline::gpu
