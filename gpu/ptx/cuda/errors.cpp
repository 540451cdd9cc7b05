// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/errors.hpp"

#include <algorithm>
#include <iterator>

namespace plumbline::ptx::cuda {
namespace {

/// The words are the driver's, too.
struct Row {
  Error error;
  const char *name, *driver_name, *words;
};

constexpr Row rows[] = {
    {Error::success, "cudaSuccess", "CUDA_SUCCESS", "no error"},
    {Error::invalid_value, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {Error::memory_allocation, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY",
     "out of memory"},
    {Error::initialization_error, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED",
     "initialization error"},
    {Error::invalid_configuration, "cudaErrorInvalidConfiguration", nullptr,
     "invalid configuration argument"},
    {Error::invalid_symbol, "cudaErrorInvalidSymbol", nullptr, "invalid device symbol"},
    {Error::invalid_memcpy_direction, "cudaErrorInvalidMemcpyDirection", nullptr,
     "invalid copy direction for memcpy"},
    {Error::missing_configuration, "cudaErrorMissingConfiguration", nullptr,
     "__global__ function call is not configured"},
    {Error::invalid_device_function, "cudaErrorInvalidDeviceFunction", nullptr,
     "invalid device function"},
    {Error::invalid_device, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE",
     "invalid device ordinal"},
    {Error::no_kernel_image_for_device, "cudaErrorNoKernelImageForDevice",
     "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {Error::invalid_ptx, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX",
     "a PTX JIT compilation failed"},
    {Error::invalid_resource_handle, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE",
     "invalid resource handle"},
    {Error::symbol_not_found, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND",
     "named symbol not found"},
    {Error::illegal_address, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {Error::launch_out_of_resources, "cudaErrorLaunchOutOfResources",
     "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {Error::launch_timeout, "cudaErrorLaunchTimeout", "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the launch timed out and was terminated"},
    {Error::host_memory_already_registered, "cudaErrorHostMemoryAlreadyRegistered",
     "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {Error::host_memory_not_registered, "cudaErrorHostMemoryNotRegistered",
     "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {Error::illegal_instruction, "cudaErrorIllegalInstruction", "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {Error::misaligned_address, "cudaErrorMisalignedAddress", "CUDA_ERROR_MISALIGNED_ADDRESS",
     "misaligned address"},
    {Error::assertion, "cudaErrorAssert", "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {Error::launch_failure, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED",
     "unspecified launch failure"},
    {Error::cooperative_launch_too_large, "cudaErrorCooperativeLaunchTooLarge",
     "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
    {Error::invalid_cluster_size, "cudaErrorInvalidClusterSize", "CUDA_ERROR_INVALID_CLUSTER_SIZE",
     "a kernel launch error has occurred due to cluster misconfiguration"},
    {Error::not_supported, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED",
     "operation not supported"},
    {Error::invalid_image, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {Error::invalid_context, "cudaErrorDeviceUninitialized", "CUDA_ERROR_INVALID_CONTEXT",
     "invalid device context"},
    {Error::unsupported_limit, "cudaErrorUnsupportedLimit", "CUDA_ERROR_UNSUPPORTED_LIMIT",
     "limit is not supported on this architecture"},
    {Error::file_not_found, "cudaErrorFileNotFound", "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {Error::primary_context_active, "cudaErrorSetOnActiveProcess",
     "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "cannot set while device is active in this process"},
    {Error::not_permitted, "cudaErrorNotPermitted", "CUDA_ERROR_NOT_PERMITTED",
     "operation not permitted"},
    {Error::capture_unsupported, "cudaErrorStreamCaptureUnsupported",
     "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {Error::capture_invalidated, "cudaErrorStreamCaptureInvalidated",
     "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {Error::capture_merge, "cudaErrorStreamCaptureMerge", "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {Error::capture_unmatched, "cudaErrorStreamCaptureUnmatched",
     "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
    {Error::capture_unjoined, "cudaErrorStreamCaptureUnjoined",
     "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {Error::capture_isolation, "cudaErrorStreamCaptureIsolation",
     "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {Error::capture_implicit, "cudaErrorStreamCaptureImplicit",
     "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {Error::capture_wrong_thread, "cudaErrorStreamCaptureWrongThread",
     "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {Error::unknown, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", "unknown error"}};

const Row* row_of(Error error) {
  const Row* row = std::find_if(std::begin(rows), std::end(rows),
                                [&](const Row& r) { return r.error == error; });
  return row == std::end(rows) ? nullptr : row;
}

constexpr const char* no_such_error = "unrecognized error code";

}  // namespace

const char* name_of(Error error) {
  const Row* row = row_of(error);
  return row ? row->name : no_such_error;
}

const char* driver_name_of(Error error) {
  const Row* row = row_of(error);
  return row ? row->driver_name : nullptr;
}

const char* words_of(Error error) {
  const Row* row = row_of(error);
  return row ? row->words : no_such_error;
}

Error error_of(Refused::Reason reason) {
  switch (reason) {
    case Refused::Reason::invalid_value:
      return Error::invalid_value;
    case Refused::Reason::invalid_configuration:
      return Error::invalid_configuration;
    case Refused::Reason::invalid_cluster:
      return Error::invalid_cluster_size;
    case Refused::Reason::out_of_resources:
      return Error::launch_out_of_resources;
    case Refused::Reason::out_of_memory:
      return Error::memory_allocation;
    case Refused::Reason::no_such_name:
      return Error::symbol_not_found;
    case Refused::Reason::not_supported:
      return Error::not_supported;
  }
  return Error::unknown;
}

Error error_of(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::out_of_bounds:
    case Fault::Kind::freed_memory:
    case Fault::Kind::read_only:
      return Error::illegal_address;
    case Fault::Kind::misaligned:
      return Error::misaligned_address;
    case Fault::Kind::assertion:
      return Error::assertion;
    case Fault::Kind::timeout:
      return Error::launch_timeout;
    case Fault::Kind::bad_instruction:
      return Error::illegal_instruction;
    case Fault::Kind::uninitialised_global:
    case Fault::Kind::uninitialised_shared:
    case Fault::Kind::race:
    case Fault::Kind::copy_in_flight:
    case Fault::Kind::registers_in_flight:
    case Fault::Kind::proxy_fence:
    case Fault::Kind::barrier:
    case Fault::Kind::deadlock:
    case Fault::Kind::divergent:
    case Fault::Kind::absent_lane:
    case Fault::Kind::trap:
      return Error::launch_failure;
  }
  return Error::unknown;
}

}  // namespace plumbline::ptx::cuda
