// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/device_info.hpp"

#include <climits>

namespace plumbline::ptx::cuda {
namespace {

/// Sizes that do not fit are as large as they can be said.
int clamped(std::size_t value) { return value > INT_MAX ? INT_MAX : static_cast<int>(value); }

}  // namespace

int value_of(DeviceAttribute attribute, const Properties& device) {
  switch (attribute) {
    case DeviceAttribute::max_threads_per_block:
    case DeviceAttribute::max_block_x:
    case DeviceAttribute::max_block_y:
      return clamped(device.threads_per_block);
    case DeviceAttribute::max_block_z:
      return 64;
    case DeviceAttribute::max_grid_x:
    case DeviceAttribute::max_pitch:
      return INT_MAX;
    case DeviceAttribute::max_grid_y:
    case DeviceAttribute::max_grid_z:
      return 65535;
    case DeviceAttribute::max_shared_per_block:
      return clamped(device.shared_per_block);
    case DeviceAttribute::total_constant_memory:
      return 65536;
    case DeviceAttribute::warp_size:
      return 32;
    case DeviceAttribute::max_registers_per_block:
    case DeviceAttribute::max_registers_per_multiprocessor:
      return clamped(device.registers_per_block);
    case DeviceAttribute::texture_alignment:
      return 512;
    case DeviceAttribute::multiprocessor_count:
      return clamped(device.multiprocessors);
    case DeviceAttribute::max_threads_per_multiprocessor:
      return clamped(device.threads_per_multiprocessor);
    case DeviceAttribute::compute_capability_major:
      return device.compute_major;
    case DeviceAttribute::compute_capability_minor:
      return device.compute_minor;
    case DeviceAttribute::max_shared_per_multiprocessor:
      return clamped(device.shared_per_multiprocessor);
    case DeviceAttribute::max_shared_per_block_optin:
      return clamped(device.shared_per_block_optin);
    case DeviceAttribute::max_blocks_per_multiprocessor:
      return clamped(device.blocks_per_multiprocessor);
    case DeviceAttribute::reserved_shared_per_block:
      return clamped(device.shared_reserved_per_block);
    case DeviceAttribute::supports_cluster_launch:
      return device.compute_major >= 9;
    case DeviceAttribute::clock_rate:  // kHz, and so on: those of an H100, for who divides by them
      return 1980000;
    case DeviceAttribute::memory_clock_rate:
      return 2619000;
    case DeviceAttribute::memory_bus_width:
      return 5120;
    case DeviceAttribute::l2_cache_size:
      return 50 << 20;
    case DeviceAttribute::can_map_host_memory:
    case DeviceAttribute::concurrent_kernels:
    case DeviceAttribute::unified_addressing:
    case DeviceAttribute::managed:
    case DeviceAttribute::concurrent_managed_access:
    case DeviceAttribute::can_use_host_pointer:
    case DeviceAttribute::supports_cooperative_launch:
    case DeviceAttribute::host_register_supported:
    case DeviceAttribute::host_register_read_only:
    case DeviceAttribute::memory_pools_supported:
      return 1;
    default:
      return 0;
  }
}

std::string name_of(const Properties& device) {
  return "Plumbline software device, compute capability " + std::to_string(device.compute_major) +
         "." + std::to_string(device.compute_minor);
}

}  // namespace plumbline::ptx::cuda
