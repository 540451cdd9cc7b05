// SPDX-License-Identifier: Apache-2.0
// The few functions of the CUDA driver that a kernel's arrays need. The driver is opened when the
// program runs: nothing of CUDA is there when it is built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace plumbline::kernel_process {

/// What the driver says: "cuMemAlloc_v2: out of memory".
struct CudaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// As CUdeviceptr and CUresult (cuda.h).
using DeviceAddress = unsigned long long;
using CudaResult = int;

/// Device 0's primary context, the one that the CUDA runtime uses, too. All functions are for the
/// thread that made it.
/// @throws CudaError from each of them.
class CudaDriver {
 public:
  /// Opens libcuda.so.1 and makes the context.
  CudaDriver();
  /// The same of a library that is open.
  explicit CudaDriver(void* driver);

  /// Whatever context the kernel left current. Errors of earlier calls and launches may show here
  /// and in every other function, and stay.
  void make_current() const;
  DeviceAddress allocate(std::size_t bytes) const;  ///< at a multiple of 256 at least
  void free(DeviceAddress address) const;
  /// The copy has arrived when it returns, for work in every stream.
  void to_device(DeviceAddress to, const void* from, std::size_t bytes) const;
  void to_host(void* to, DeviceAddress from, std::size_t bytes) const;
  /// Until the device has done all that the process asked of it.
  void synchronize() const;

 private:
  void check(CudaResult result, const char* function) const;

  CudaResult (*init_)(unsigned);
  CudaResult (*device_get_)(int*, int);
  CudaResult (*retain_)(void**, int);
  CudaResult (*set_current_)(void*);
  CudaResult (*allocate_)(DeviceAddress*, std::size_t);
  CudaResult (*free_)(DeviceAddress);
  CudaResult (*to_device_)(DeviceAddress, const void*, std::size_t);
  CudaResult (*to_host_)(void*, DeviceAddress, std::size_t);
  CudaResult (*synchronize_)();
  CudaResult (*error_string_)(CudaResult, const char**);
  void* context_ = nullptr;
};

}  // namespace plumbline::kernel_process
