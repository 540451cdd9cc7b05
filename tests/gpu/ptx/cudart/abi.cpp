// SPDX-License-Identifier: Apache-2.0
// The types and numbers that the runtime writes down by itself are those of CUDA's own headers.
// Built where the toolkit is, and checked by the compiler.
#include "ptx/cuda/abi.hpp"

#include <cuda_runtime_api.h>

#define PLUMBLINE_CUDART_VERSION (CUDART_VERSION / 1000)
#include "ptx/cudart/device_properties.hpp"

using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::DeviceProperties;

#define SAME_PLACE(ours, our_member, theirs, their_member)                      \
  static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member) && \
                sizeof(ours::our_member) == sizeof(theirs::their_member))
#define SAME_NUMBER(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))

static_assert(sizeof(DeviceProperties) == sizeof(cudaDeviceProp));
SAME_PLACE(DeviceProperties, name, cudaDeviceProp, name);
SAME_PLACE(DeviceProperties, total_global_memory, cudaDeviceProp, totalGlobalMem);
SAME_PLACE(DeviceProperties, shared_per_block, cudaDeviceProp, sharedMemPerBlock);
SAME_PLACE(DeviceProperties, registers_per_block, cudaDeviceProp, regsPerBlock);
SAME_PLACE(DeviceProperties, warp_size, cudaDeviceProp, warpSize);
SAME_PLACE(DeviceProperties, memory_pitch, cudaDeviceProp, memPitch);
SAME_PLACE(DeviceProperties, max_threads_per_block, cudaDeviceProp, maxThreadsPerBlock);
SAME_PLACE(DeviceProperties, max_block, cudaDeviceProp, maxThreadsDim);
SAME_PLACE(DeviceProperties, max_grid, cudaDeviceProp, maxGridSize);
SAME_PLACE(DeviceProperties, total_constant_memory, cudaDeviceProp, totalConstMem);
SAME_PLACE(DeviceProperties, major, cudaDeviceProp, major);
SAME_PLACE(DeviceProperties, minor, cudaDeviceProp, minor);
SAME_PLACE(DeviceProperties, texture_alignment, cudaDeviceProp, textureAlignment);
SAME_PLACE(DeviceProperties, multiprocessors, cudaDeviceProp, multiProcessorCount);
SAME_PLACE(DeviceProperties, can_map_host_memory, cudaDeviceProp, canMapHostMemory);
SAME_PLACE(DeviceProperties, concurrent_kernels, cudaDeviceProp, concurrentKernels);
SAME_PLACE(DeviceProperties, unified_addressing, cudaDeviceProp, unifiedAddressing);
SAME_PLACE(DeviceProperties, memory_bus_width, cudaDeviceProp, memoryBusWidth);
SAME_PLACE(DeviceProperties, l2_cache_size, cudaDeviceProp, l2CacheSize);
SAME_PLACE(DeviceProperties, max_threads_per_multiprocessor, cudaDeviceProp,
           maxThreadsPerMultiProcessor);
SAME_PLACE(DeviceProperties, shared_per_multiprocessor, cudaDeviceProp, sharedMemPerMultiprocessor);
SAME_PLACE(DeviceProperties, registers_per_multiprocessor, cudaDeviceProp, regsPerMultiprocessor);
SAME_PLACE(DeviceProperties, managed_memory, cudaDeviceProp, managedMemory);
SAME_PLACE(DeviceProperties, concurrent_managed_access, cudaDeviceProp, concurrentManagedAccess);
SAME_PLACE(DeviceProperties, can_use_host_pointer, cudaDeviceProp,
           canUseHostPointerForRegisteredMem);
SAME_PLACE(DeviceProperties, cooperative_launch, cudaDeviceProp, cooperativeLaunch);
SAME_PLACE(DeviceProperties, shared_per_block_optin, cudaDeviceProp, sharedMemPerBlockOptin);
SAME_PLACE(DeviceProperties, max_blocks_per_multiprocessor, cudaDeviceProp,
           maxBlocksPerMultiProcessor);
SAME_PLACE(DeviceProperties, reserved_shared_per_block, cudaDeviceProp, reservedSharedMemPerBlock);
SAME_PLACE(DeviceProperties, host_register_supported, cudaDeviceProp, hostRegisterSupported);
SAME_PLACE(DeviceProperties, host_register_read_only, cudaDeviceProp,
           hostRegisterReadOnlySupported);
SAME_PLACE(DeviceProperties, memory_pools_supported, cudaDeviceProp, memoryPoolsSupported);
SAME_PLACE(DeviceProperties, cluster_launch, cudaDeviceProp, clusterLaunch);

static_assert(sizeof(FunctionAttributes) == sizeof(cudaFuncAttributes));
SAME_PLACE(FunctionAttributes, shared_bytes, cudaFuncAttributes, sharedSizeBytes);
SAME_PLACE(FunctionAttributes, local_bytes, cudaFuncAttributes, localSizeBytes);
SAME_PLACE(FunctionAttributes, threads_per_block, cudaFuncAttributes, maxThreadsPerBlock);
SAME_PLACE(FunctionAttributes, registers, cudaFuncAttributes, numRegs);
SAME_PLACE(FunctionAttributes, ptx_version, cudaFuncAttributes, ptxVersion);
SAME_PLACE(FunctionAttributes, binary_version, cudaFuncAttributes, binaryVersion);
SAME_PLACE(FunctionAttributes, dynamic_shared_bytes, cudaFuncAttributes, maxDynamicSharedSizeBytes);
SAME_PLACE(FunctionAttributes, shared_carveout, cudaFuncAttributes, preferredShmemCarveout);

static_assert(sizeof(PointerAttributes) + (CUDART_VERSION >= 13000 ? 8 * sizeof(long) : 0) ==
              sizeof(cudaPointerAttributes));
SAME_PLACE(PointerAttributes, type, cudaPointerAttributes, type);
SAME_PLACE(PointerAttributes, device, cudaPointerAttributes, device);
SAME_PLACE(PointerAttributes, device_pointer, cudaPointerAttributes, devicePointer);
SAME_PLACE(PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);

static_assert(sizeof(LaunchConfiguration) == sizeof(cudaLaunchConfig_t));
SAME_PLACE(LaunchConfiguration, block, cudaLaunchConfig_t, blockDim);
SAME_PLACE(LaunchConfiguration, dynamic_shared, cudaLaunchConfig_t, dynamicSmemBytes);
SAME_PLACE(LaunchConfiguration, stream, cudaLaunchConfig_t, stream);
SAME_PLACE(LaunchConfiguration, attributes, cudaLaunchConfig_t, attrs);
SAME_PLACE(LaunchConfiguration, attribute_count, cudaLaunchConfig_t, numAttrs);
static_assert(sizeof(LaunchAttribute) == sizeof(cudaLaunchAttribute));
static_assert(offsetof(LaunchAttribute, cluster) == offsetof(cudaLaunchAttribute, val.clusterDim));
static_assert(offsetof(LaunchAttribute, flag) == offsetof(cudaLaunchAttribute, val.cooperative));
SAME_NUMBER(attribute_cooperative, cudaLaunchAttributeCooperative);
SAME_NUMBER(attribute_cluster, cudaLaunchAttributeClusterDimension);
SAME_NUMBER(attribute_programmatic_event, cudaLaunchAttributeProgrammaticEvent);
SAME_NUMBER(attribute_launch_completion_event, cudaLaunchAttributeLaunchCompletionEvent);

SAME_NUMBER(Error::invalid_value, cudaErrorInvalidValue);
SAME_NUMBER(Error::memory_allocation, cudaErrorMemoryAllocation);
SAME_NUMBER(Error::initialization_error, cudaErrorInitializationError);
SAME_NUMBER(Error::invalid_configuration, cudaErrorInvalidConfiguration);
SAME_NUMBER(Error::invalid_symbol, cudaErrorInvalidSymbol);
SAME_NUMBER(Error::invalid_memcpy_direction, cudaErrorInvalidMemcpyDirection);
SAME_NUMBER(Error::missing_configuration, cudaErrorMissingConfiguration);
SAME_NUMBER(Error::invalid_device_function, cudaErrorInvalidDeviceFunction);
SAME_NUMBER(Error::invalid_device, cudaErrorInvalidDevice);
SAME_NUMBER(Error::no_kernel_image_for_device, cudaErrorNoKernelImageForDevice);
SAME_NUMBER(Error::invalid_ptx, cudaErrorInvalidPtx);
SAME_NUMBER(Error::invalid_resource_handle, cudaErrorInvalidResourceHandle);
SAME_NUMBER(Error::symbol_not_found, cudaErrorSymbolNotFound);
SAME_NUMBER(Error::illegal_address, cudaErrorIllegalAddress);
SAME_NUMBER(Error::launch_out_of_resources, cudaErrorLaunchOutOfResources);
SAME_NUMBER(Error::launch_timeout, cudaErrorLaunchTimeout);
SAME_NUMBER(Error::host_memory_already_registered, cudaErrorHostMemoryAlreadyRegistered);
SAME_NUMBER(Error::host_memory_not_registered, cudaErrorHostMemoryNotRegistered);
SAME_NUMBER(Error::illegal_instruction, cudaErrorIllegalInstruction);
SAME_NUMBER(Error::misaligned_address, cudaErrorMisalignedAddress);
SAME_NUMBER(Error::launch_failure, cudaErrorLaunchFailure);
SAME_NUMBER(Error::assertion, cudaErrorAssert);
SAME_NUMBER(Error::cooperative_launch_too_large, cudaErrorCooperativeLaunchTooLarge);
SAME_NUMBER(Error::not_supported, cudaErrorNotSupported);
SAME_NUMBER(Error::unknown, cudaErrorUnknown);

SAME_NUMBER(CopyKind::host_to_device, cudaMemcpyHostToDevice);
SAME_NUMBER(CopyKind::device_to_host, cudaMemcpyDeviceToHost);
SAME_NUMBER(CopyKind::device_to_device, cudaMemcpyDeviceToDevice);
SAME_NUMBER(CopyKind::by_address, cudaMemcpyDefault);
SAME_NUMBER(MemoryType::host, cudaMemoryTypeHost);
SAME_NUMBER(MemoryType::device, cudaMemoryTypeDevice);
SAME_NUMBER(MemoryType::managed, cudaMemoryTypeManaged);
SAME_NUMBER(FunctionAttribute::max_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize);
SAME_NUMBER(FunctionAttribute::preferred_carveout, cudaFuncAttributePreferredSharedMemoryCarveout);
SAME_NUMBER(FunctionAttribute::non_portable_cluster,
            cudaFuncAttributeNonPortableClusterSizeAllowed);

SAME_NUMBER(DeviceAttribute::max_threads_per_block, cudaDevAttrMaxThreadsPerBlock);
SAME_NUMBER(DeviceAttribute::max_grid_z, cudaDevAttrMaxGridDimZ);
SAME_NUMBER(DeviceAttribute::max_shared_per_block, cudaDevAttrMaxSharedMemoryPerBlock);
SAME_NUMBER(DeviceAttribute::warp_size, cudaDevAttrWarpSize);
SAME_NUMBER(DeviceAttribute::max_registers_per_block, cudaDevAttrMaxRegistersPerBlock);
SAME_NUMBER(DeviceAttribute::multiprocessor_count, cudaDevAttrMultiProcessorCount);
SAME_NUMBER(DeviceAttribute::max_threads_per_multiprocessor,
            cudaDevAttrMaxThreadsPerMultiProcessor);
SAME_NUMBER(DeviceAttribute::compute_capability_major, cudaDevAttrComputeCapabilityMajor);
SAME_NUMBER(DeviceAttribute::compute_capability_minor, cudaDevAttrComputeCapabilityMinor);
SAME_NUMBER(DeviceAttribute::max_shared_per_multiprocessor,
            cudaDevAttrMaxSharedMemoryPerMultiprocessor);
SAME_NUMBER(DeviceAttribute::supports_cooperative_launch, cudaDevAttrCooperativeLaunch);
SAME_NUMBER(DeviceAttribute::max_shared_per_block_optin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
SAME_NUMBER(DeviceAttribute::max_blocks_per_multiprocessor, cudaDevAttrMaxBlocksPerMultiprocessor);
SAME_NUMBER(DeviceAttribute::reserved_shared_per_block, cudaDevAttrReservedSharedMemoryPerBlock);
SAME_NUMBER(DeviceAttribute::memory_pools_supported, cudaDevAttrMemoryPoolsSupported);
SAME_NUMBER(DeviceAttribute::supports_cluster_launch, cudaDevAttrClusterLaunch);

SAME_NUMBER(Error::invalid_image, cudaErrorInvalidKernelImage);
SAME_NUMBER(Error::invalid_context, cudaErrorDeviceUninitialized);
SAME_NUMBER(Error::unsupported_limit, cudaErrorUnsupportedLimit);
SAME_NUMBER(Error::file_not_found, cudaErrorFileNotFound);
SAME_NUMBER(Error::primary_context_active, cudaErrorSetOnActiveProcess);
SAME_NUMBER(Error::not_permitted, cudaErrorNotPermitted);
SAME_NUMBER(Error::capture_unsupported, cudaErrorStreamCaptureUnsupported);
SAME_NUMBER(Error::capture_invalidated, cudaErrorStreamCaptureInvalidated);
SAME_NUMBER(Error::capture_merge, cudaErrorStreamCaptureMerge);
SAME_NUMBER(Error::capture_unmatched, cudaErrorStreamCaptureUnmatched);
SAME_NUMBER(Error::capture_unjoined, cudaErrorStreamCaptureUnjoined);
SAME_NUMBER(Error::capture_isolation, cudaErrorStreamCaptureIsolation);
SAME_NUMBER(Error::capture_implicit, cudaErrorStreamCaptureImplicit);
SAME_NUMBER(Error::capture_wrong_thread, cudaErrorStreamCaptureWrongThread);
SAME_NUMBER(Error::invalid_cluster_size, cudaErrorInvalidClusterSize);
SAME_NUMBER(NodeType::kernel, cudaGraphNodeTypeKernel);
SAME_NUMBER(NodeType::copy, cudaGraphNodeTypeMemcpy);
SAME_NUMBER(NodeType::set, cudaGraphNodeTypeMemset);
SAME_NUMBER(NodeType::host, cudaGraphNodeTypeHost);
SAME_NUMBER(NodeType::empty, cudaGraphNodeTypeEmpty);
SAME_NUMBER(CaptureMode::thread_local_, cudaStreamCaptureModeThreadLocal);
SAME_NUMBER(CaptureMode::relaxed, cudaStreamCaptureModeRelaxed);
SAME_NUMBER(CaptureStatus::invalidated, cudaStreamCaptureStatusInvalidated);
