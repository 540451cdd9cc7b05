// SPDX-License-Identifier: Apache-2.0
// What a program asks about the device, and its errors.
#include <climits>
#include <optional>

#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cudart;

namespace {

/// Sizes that do not fit are as large as they can be said.
int clamped(std::size_t value) { return value > INT_MAX ? INT_MAX : static_cast<int>(value); }

/// 0: the device has no such thing, or nothing is known of it.
int value_of(DeviceAttribute attribute, const Properties& device) {
  const Multiprocessor one = multiprocessor_of(device);
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
      return clamped(one.threads);
    case DeviceAttribute::compute_capability_major:
      return device.compute_major;
    case DeviceAttribute::compute_capability_minor:
      return device.compute_minor;
    case DeviceAttribute::max_shared_per_multiprocessor:
      return clamped(one.shared_bytes);
    case DeviceAttribute::max_shared_per_block_optin:
      return clamped(device.shared_per_block_optin);
    case DeviceAttribute::max_blocks_per_multiprocessor:
      return clamped(one.blocks);
    case DeviceAttribute::reserved_shared_per_block:
      return clamped(one.reserved_per_block);
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

}  // namespace

PLUMBLINE_CUDART Error cudaDeviceGetAttribute(int* value, DeviceAttribute attribute, int device) {
  return run([&](Runtime& runtime) {
    expect(value != nullptr && attribute > DeviceAttribute{} && attribute < DeviceAttribute::end);
    expect(device == 0, Error::invalid_device);
    *value = value_of(attribute, runtime.properties());
  });
}

PLUMBLINE_CUDART Error cudaGetDeviceCount(int* count) {
  return run([&](Runtime&) {
    expect(count != nullptr);
    *count = 1;
  });
}

PLUMBLINE_CUDART Error cudaGetDevice(int* device) {
  return run([&](Runtime&) {
    expect(device != nullptr);
    *device = 0;
  });
}

PLUMBLINE_CUDART Error cudaSetDevice(int device) {
  return run([&](Runtime&) { expect(device == 0, Error::invalid_device); });
}

PLUMBLINE_CUDART Error cudaDriverGetVersion(int* version) {
  return run([&](Runtime&) {
    expect(version != nullptr);
    *version = 13000;
  });
}

PLUMBLINE_CUDART Error cudaGetLastError() {
  const Error error = last_error();
  last_error() = Error::success;
  // After a fault there is no other.
  const Error sticky = Runtime::get().sticky();
  return sticky == Error::success ? error : sticky;
}

PLUMBLINE_CUDART Error cudaPeekAtLastError() {
  const Error sticky = Runtime::get().sticky();
  return sticky == Error::success ? last_error() : sticky;
}

PLUMBLINE_CUDART const char* cudaGetErrorName(Error error) { return name_of(error); }

PLUMBLINE_CUDART const char* cudaGetErrorString(Error error) { return words_of(error); }
