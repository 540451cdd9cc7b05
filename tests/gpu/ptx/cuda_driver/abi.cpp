// SPDX-License-Identifier: Apache-2.0
// The types and numbers that the driver's library writes down by itself, and the tests' own, are
// those of cuda.h. Built where the toolkit is, and checked by the compiler.
#include <cuda.h>

#include "tests/gpu/ptx/cuda_driver/driver_functions.hpp"

using namespace plumbline;

#define SAME_PLACE(ours, our_member, theirs, their_member)                      \
  static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member) && \
                sizeof(ours::our_member) == sizeof(theirs::their_member))
#define SAME_NUMBER(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))

static_assert(sizeof(test::Copy2) == sizeof(CUDA_MEMCPY2D));
SAME_PLACE(test::Copy2, from_pitch, CUDA_MEMCPY2D, srcPitch);
SAME_PLACE(test::Copy2, to_type, CUDA_MEMCPY2D, dstMemoryType);
SAME_PLACE(test::Copy2, height, CUDA_MEMCPY2D, Height);
static_assert(sizeof(test::Copy3) == sizeof(CUDA_MEMCPY3D));
SAME_PLACE(test::Copy3, from_height, CUDA_MEMCPY3D, srcHeight);
SAME_PLACE(test::Copy3, to_device, CUDA_MEMCPY3D, dstDevice);
SAME_PLACE(test::Copy3, depth, CUDA_MEMCPY3D, Depth);
static_assert(sizeof(test::DriverConfiguration) == sizeof(CUlaunchConfig));
SAME_PLACE(test::DriverConfiguration, shared, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(test::DriverConfiguration, stream, CUlaunchConfig, hStream);
SAME_PLACE(test::DriverConfiguration, attribute_count, CUlaunchConfig, numAttrs);
static_assert(sizeof(test::LaunchAttribute) == sizeof(CUlaunchAttribute));

using test::Error;
SAME_NUMBER(Error::invalid_value, CUDA_ERROR_INVALID_VALUE);
SAME_NUMBER(Error::memory_allocation, CUDA_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(Error::initialization_error, CUDA_ERROR_NOT_INITIALIZED);
SAME_NUMBER(Error::invalid_device, CUDA_ERROR_INVALID_DEVICE);
SAME_NUMBER(Error::invalid_image, CUDA_ERROR_INVALID_IMAGE);
SAME_NUMBER(Error::invalid_context, CUDA_ERROR_INVALID_CONTEXT);
SAME_NUMBER(Error::no_kernel_image_for_device, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME_NUMBER(Error::unsupported_limit, CUDA_ERROR_UNSUPPORTED_LIMIT);
SAME_NUMBER(Error::invalid_ptx, CUDA_ERROR_INVALID_PTX);
SAME_NUMBER(Error::file_not_found, CUDA_ERROR_FILE_NOT_FOUND);
SAME_NUMBER(Error::invalid_resource_handle, CUDA_ERROR_INVALID_HANDLE);
SAME_NUMBER(Error::symbol_not_found, CUDA_ERROR_NOT_FOUND);
SAME_NUMBER(Error::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME_NUMBER(Error::launch_failure, CUDA_ERROR_LAUNCH_FAILED);
SAME_NUMBER(Error::assertion, CUDA_ERROR_ASSERT);
SAME_NUMBER(Error::cooperative_launch_too_large, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME_NUMBER(Error::not_supported, CUDA_ERROR_NOT_SUPPORTED);
SAME_NUMBER(Error::capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME_NUMBER(Error::unknown, CUDA_ERROR_UNKNOWN);

using test::FunctionAttribute;
SAME_NUMBER(FunctionAttribute::max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_NUMBER(FunctionAttribute::registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_NUMBER(FunctionAttribute::cluster_must_be_set, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
SAME_NUMBER(FunctionAttribute::non_portable_cluster,
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
