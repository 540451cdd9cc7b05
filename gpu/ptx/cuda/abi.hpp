// SPDX-License-Identifier: Apache-2.0
// The types of CUDA's runtime interface as a compiled program passes them, written down here
// because nothing of CUDA is there when this is built. Where the toolkit is,
// tests/gpu/ptx/cuda/abi.cpp compares them with its headers.
#ifndef PLUMBLINE_GPU_PTX_CUDA_ABI_HPP
#define PLUMBLINE_GPU_PTX_CUDA_ABI_HPP

#include <cstddef>
#include <cstdint>

/// A function that programs find in the library.
#define PLUMBLINE_CUDA extern "C" __attribute__((visibility("default")))

namespace plumbline::ptx::cuda {

/// cudaError_t and CUresult, whose numbers are the same but for those that are only the runtime's;
/// those of them that this device gives.
enum class Error : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization_error = 3,
  invalid_configuration = 9,
  invalid_symbol = 13,
  invalid_memcpy_direction = 21,
  missing_configuration = 52,
  invalid_device_function = 98,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_kernel_image_for_device = 209,
  unsupported_limit = 215,
  invalid_ptx = 218,
  file_not_found = 301,
  invalid_resource_handle = 400,
  symbol_not_found = 500,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  illegal_instruction = 715,
  misaligned_address = 716,
  assertion = 710,
  launch_failure = 719,
  primary_context_active = 708,
  cooperative_launch_too_large = 720,
  not_permitted = 800,
  not_supported = 801,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_merge = 902,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_isolation = 905,
  capture_implicit = 906,
  capture_wrong_thread = 908,
  invalid_cluster_size = 912,
  unknown = 999
};

/// dim3
struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// cudaMemcpyKind
enum class CopyKind : int {
  host_to_host = 0,
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  by_address = 4
};

/// cudaMemoryType
enum class MemoryType : int { unregistered = 0, host = 1, device = 2, managed = 3 };

/// cudaPointerAttributes of CUDA 12. That of CUDA 13 has eight longs of zeros after it.
struct PointerAttributes {
  MemoryType type;
  int device;
  void* device_pointer;
  void* host_pointer;
};

/// cudaFuncAttributes
struct FunctionAttributes {
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int threads_per_block, registers, ptx_version, binary_version, cache_mode_ca;
  int dynamic_shared_bytes, shared_carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth;
  int cluster_scheduling, cluster_non_portable;
  int reserved[16];
};

/// CUfunction_attribute. cudaFuncAttribute has those that can be set.
enum class FunctionAttribute : int {
  max_threads = 0,
  shared_bytes = 1,
  constant_bytes = 2,
  local_bytes = 3,
  registers = 4,
  ptx_version = 5,
  binary_version = 6,
  cache_mode_ca = 7,
  max_dynamic_shared = 8,
  preferred_carveout = 9,
  cluster_must_be_set = 10,
  cluster_width = 11,
  cluster_height = 12,
  cluster_depth = 13,
  non_portable_cluster = 14,
  cluster_scheduling_policy = 15
};

/// cudaLaunchAttribute: 8 bytes of a number and 64 of a value.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    Dim3 cluster;  ///< of attribute_cluster
    int flag;      ///< of attribute_cooperative
  };
};
enum LaunchAttributeId : int {
  attribute_cooperative = 2,
  attribute_cluster = 4,
  attribute_programmatic_event = 7,
  attribute_launch_completion_event = 12
};

/// cudaGraphNodeType; those of them that a capture makes.
enum class NodeType : int { kernel = 0, copy = 1, set = 2, host = 3, empty = 5 };

/// cudaStreamCaptureMode
enum class CaptureMode : int { global = 0, thread_local_ = 1, relaxed = 2 };

/// cudaStreamCaptureStatus
enum class CaptureStatus : int { none = 0, active = 1, invalidated = 2 };

/// Pointers to what the caller knows nothing of.
struct Stream;
struct Event;
struct Function;
struct Module;
struct Graph;
struct GraphExec;
struct Node;
struct Pool;

/// cudaLaunchConfig_t
struct LaunchConfiguration {
  Dim3 grid, block;
  std::size_t dynamic_shared;
  Stream* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// cudaDeviceAttr; what this runtime knows of, of the numbers from 1 to 147. The others are 0.
enum class DeviceAttribute : int {
  max_threads_per_block = 1,
  max_block_x = 2,
  max_block_y = 3,
  max_block_z = 4,
  max_grid_x = 5,
  max_grid_y = 6,
  max_grid_z = 7,
  max_shared_per_block = 8,
  total_constant_memory = 9,
  warp_size = 10,
  max_pitch = 11,
  max_registers_per_block = 12,
  clock_rate = 13,
  texture_alignment = 14,
  multiprocessor_count = 16,
  integrated = 18,
  can_map_host_memory = 19,
  concurrent_kernels = 31,
  memory_clock_rate = 36,
  memory_bus_width = 37,
  l2_cache_size = 38,
  max_threads_per_multiprocessor = 39,
  unified_addressing = 41,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  max_shared_per_multiprocessor = 81,
  max_registers_per_multiprocessor = 82,
  managed = 83,
  concurrent_managed_access = 89,
  can_use_host_pointer = 91,
  supports_cooperative_launch = 95,
  max_shared_per_block_optin = 97,
  host_register_supported = 99,
  max_blocks_per_multiprocessor = 106,
  reserved_shared_per_block = 111,
  host_register_read_only = 113,
  memory_pools_supported = 115,
  supports_cluster_launch = 120,
  end = 148
};

}  // namespace plumbline::ptx::cuda

#endif
