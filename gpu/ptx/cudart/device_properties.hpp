// SPDX-License-Identifier: Apache-2.0
// cudaDeviceProp, whose layout is another in CUDA 12 than in CUDA 13: PLUMBLINE_CUDART_VERSION is
// one of the two.
#ifndef PLUMBLINE_GPU_PTX_CUDART_DEVICE_PROPERTIES_HPP
#define PLUMBLINE_GPU_PTX_CUDART_DEVICE_PROPERTIES_HPP

#include <cstddef>

#ifndef PLUMBLINE_CUDART_VERSION
#define PLUMBLINE_CUDART_VERSION 13
#endif

namespace plumbline::ptx::cudart {

struct DeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  std::size_t total_global_memory;
  std::size_t shared_per_block;
  int registers_per_block;
  int warp_size;
  std::size_t memory_pitch;
  int max_threads_per_block;
  int max_block[3];
  int max_grid[3];
#if PLUMBLINE_CUDART_VERSION == 12
  int clock_rate;
#endif
  std::size_t total_constant_memory;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
#if PLUMBLINE_CUDART_VERSION == 12
  int device_overlap;
#endif
  int multiprocessors;
#if PLUMBLINE_CUDART_VERSION == 12
  int kernel_timeout;
#endif
  int integrated;
  int can_map_host_memory;
#if PLUMBLINE_CUDART_VERSION == 12
  int compute_mode;
  int texture_limits[40];
#else
  int texture_limits[39];
#endif
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc;
  int pci_bus, pci_device, pci_domain;
  int tcc_driver;
  int asynchronous_engines;
  int unified_addressing;
#if PLUMBLINE_CUDART_VERSION == 12
  int memory_clock_rate;
#endif
  int memory_bus_width;
  int l2_cache_size;
  int persisting_l2_cache_size;
  int max_threads_per_multiprocessor;
  int stream_priorities;
  int global_l1_cache, local_l1_cache;
  std::size_t shared_per_multiprocessor;
  int registers_per_multiprocessor;
  int managed_memory;
  int multi_gpu_board, multi_gpu_group;
  int host_native_atomics;
#if PLUMBLINE_CUDART_VERSION == 12
  int single_to_double_ratio;
#endif
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption;
  int can_use_host_pointer;
  int cooperative_launch;
#if PLUMBLINE_CUDART_VERSION == 12
  int cooperative_multi_device;
#endif
  std::size_t shared_per_block_optin;
  int pageable_memory_by_host_tables;
  int direct_managed_access;
  int max_blocks_per_multiprocessor;
  int access_policy_window;
  std::size_t reserved_shared_per_block;
  int host_register_supported;
  int sparse_arrays;
  int host_register_read_only;
  int timeline_semaphores;
  int memory_pools_supported;
  int gpu_direct;
  unsigned gpu_direct_flush;
  int gpu_direct_ordering;
  unsigned memory_pool_handles;
  int deferred_mapping;
  int ipc_events;
  int cluster_launch;
  int unified_function_pointers;
  int others[63];  ///< nothing of this device
};

}  // namespace plumbline::ptx::cudart

#endif
