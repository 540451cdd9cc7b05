// SPDX-License-Identifier: Apache-2.0
// What differs between the runtimes of CUDA 12 and of CUDA 13: PLUMBLINE_CUDART_VERSION is one of
// the two.
#include <cstring>
#include <string>

#include "ptx/cuda/device_info.hpp"
#include "ptx/cudart/device_properties.hpp"
#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::DeviceProperties;
using plumbline::ptx::cudart::run;

extern "C" Error cuMemPrefetchAsync(Address, std::size_t, int, Stream*);

namespace {

void fill(DeviceProperties& to, const Properties& device) {
  const auto get = [&](DeviceAttribute attribute) { return value_of(attribute, device); };
  using enum DeviceAttribute;
  to = {};
  to.major = get(compute_capability_major);
  to.minor = get(compute_capability_minor);
  const std::string name = name_of(device);
  std::memcpy(to.name, name.c_str(), name.size());
  std::memcpy(to.uuid, uuid, sizeof uuid);
  to.total_global_memory = device.global_bytes;
  to.shared_per_block = static_cast<std::size_t>(get(max_shared_per_block));
  to.registers_per_block = get(max_registers_per_block);
  to.warp_size = get(warp_size);
  to.memory_pitch = static_cast<std::size_t>(get(max_pitch));
  to.max_threads_per_block = get(max_threads_per_block);
  to.max_block[0] = get(max_block_x);
  to.max_block[1] = get(max_block_y);
  to.max_block[2] = get(max_block_z);
  to.max_grid[0] = get(max_grid_x);
  to.max_grid[1] = get(max_grid_y);
  to.max_grid[2] = get(max_grid_z);
  to.total_constant_memory = static_cast<std::size_t>(get(total_constant_memory));
  to.texture_alignment = static_cast<std::size_t>(get(texture_alignment));
  to.multiprocessors = get(multiprocessor_count);
  to.can_map_host_memory = get(can_map_host_memory);
  to.concurrent_kernels = get(concurrent_kernels);
  to.unified_addressing = get(unified_addressing);
  to.memory_bus_width = get(memory_bus_width);
  to.l2_cache_size = get(l2_cache_size);
  to.max_threads_per_multiprocessor = get(max_threads_per_multiprocessor);
  to.shared_per_multiprocessor = static_cast<std::size_t>(get(max_shared_per_multiprocessor));
  to.registers_per_multiprocessor = get(max_registers_per_multiprocessor);
  to.managed_memory = get(managed);
  to.concurrent_managed_access = get(concurrent_managed_access);
  to.can_use_host_pointer = get(can_use_host_pointer);
  to.cooperative_launch = get(supports_cooperative_launch);
  to.shared_per_block_optin = static_cast<std::size_t>(get(max_shared_per_block_optin));
  to.max_blocks_per_multiprocessor = get(max_blocks_per_multiprocessor);
  to.reserved_shared_per_block = static_cast<std::size_t>(get(reserved_shared_per_block));
  to.host_register_supported = get(host_register_supported);
  to.host_register_read_only = get(host_register_read_only);
  to.memory_pools_supported = get(memory_pools_supported);
#if PLUMBLINE_CUDART_VERSION == 12
  to.clock_rate = get(clock_rate);
  to.memory_clock_rate = get(memory_clock_rate);
#endif
  to.cluster_launch = get(supports_cluster_launch);
}

Error properties(DeviceProperties* into, int device) {
  return run([&](Process& process) {
    expect(into != nullptr);
    expect(device == 0, Error::invalid_device);
    fill(*into, process.properties());
  });
}

/// CUDA 13 has zeros after it.
#if PLUMBLINE_CUDART_VERSION == 13
struct AllPointerAttributes : PointerAttributes {
  long reserved[8];
};
#else
using AllPointerAttributes = PointerAttributes;
#endif

}  // namespace

#if PLUMBLINE_CUDART_VERSION == 13
PLUMBLINE_CUDA Error cudaGetDeviceProperties(DeviceProperties* into, int device) {
  return properties(into, device);
}
#else
PLUMBLINE_CUDA Error cudaGetDeviceProperties_v2(DeviceProperties* into, int device) {
  return properties(into, device);
}
#endif

PLUMBLINE_CUDA Error cudaPointerGetAttributes(AllPointerAttributes* into, const void* pointer) {
  return run([&](Process& process) {
    expect(into != nullptr);
    auto* address = const_cast<void*>(pointer);
    const auto* found = process.allocation_with(reinterpret_cast<Address>(pointer));
    *into = {};
    into->device = found ? 0 : -2;
    if (found) into->type = found->second.type;
    if (found) into->device_pointer = address;
    if (!found || into->type != MemoryType::device) into->host_pointer = address;
  });
}

PLUMBLINE_CUDA Error cudaRuntimeGetVersion(int* version) {
  return run([&](Process&) {
    expect(version != nullptr);
    *version = PLUMBLINE_CUDART_VERSION == 13 ? 13000 : 12080;
  });
}

#if PLUMBLINE_CUDART_VERSION == 13
PLUMBLINE_CUDA Error cudaMemPrefetchAsync(Address address, std::size_t bytes, std::uint64_t,
                                          unsigned, Stream* stream) {
#else
PLUMBLINE_CUDA Error cudaMemPrefetchAsync(Address address, std::size_t bytes, int, Stream* stream) {
#endif
  return run([&](Process&) {
    const Error error = cuMemPrefetchAsync(address, bytes, 0, stream);
    expect(error == Error::success, error);
  });
}
