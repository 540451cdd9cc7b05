// SPDX-License-Identifier: Apache-2.0
#include "ptx/cudart/errors.hpp"

#include <algorithm>
#include <iterator>

namespace plumbline::ptx::cudart {
namespace {

struct Row {
  Error error;
  const char *name, *words;
};

constexpr Row rows[] = {
    {Error::success, "cudaSuccess", "no error"},
    {Error::invalid_value, "cudaErrorInvalidValue", "invalid argument"},
    {Error::memory_allocation, "cudaErrorMemoryAllocation", "out of memory"},
    {Error::initialization_error, "cudaErrorInitializationError", "initialization error"},
    {Error::invalid_configuration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {Error::invalid_symbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {Error::invalid_memcpy_direction, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {Error::missing_configuration, "cudaErrorMissingConfiguration",
     "__global__ function call is not configured"},
    {Error::invalid_device_function, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {Error::invalid_device, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {Error::no_kernel_image_for_device, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {Error::invalid_ptx, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {Error::invalid_resource_handle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {Error::symbol_not_found, "cudaErrorSymbolNotFound", "named symbol not found"},
    {Error::illegal_address, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {Error::launch_out_of_resources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {Error::launch_timeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {Error::host_memory_already_registered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {Error::host_memory_not_registered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {Error::illegal_instruction, "cudaErrorIllegalInstruction",
     "an illegal instruction was encountered"},
    {Error::misaligned_address, "cudaErrorMisalignedAddress", "misaligned address"},
    {Error::launch_failure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {Error::cooperative_launch_too_large, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {Error::not_supported, "cudaErrorNotSupported", "operation not supported"},
    {Error::unknown, "cudaErrorUnknown", "unknown error"}};

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
    case Fault::Kind::timeout:
      return Error::launch_timeout;
    case Fault::Kind::bad_instruction:
      return Error::illegal_instruction;
    case Fault::Kind::uninitialised_global:
    case Fault::Kind::uninitialised_shared:
    case Fault::Kind::race:
    case Fault::Kind::copy_in_flight:
    case Fault::Kind::registers_in_flight:
    case Fault::Kind::barrier:
    case Fault::Kind::deadlock:
    case Fault::Kind::divergent:
    case Fault::Kind::absent_lane:
    case Fault::Kind::trap:
      return Error::launch_failure;
  }
  return Error::unknown;
}

}  // namespace plumbline::ptx::cudart
