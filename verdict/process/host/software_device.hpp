// SPDX-License-Identifier: Apache-2.0
// The CUDA device in software (gpu/ptx), for --device software: libraries that stand in for CUDA's
// runtime because they are opened before the kernel's, which finds its runtime loaded then.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernel_abi/plumbline_kernel.h"
#include "verdict/process/host/cuda_driver.hpp"
#include "verdict/process/protocol.hpp"

namespace plumbline::kernel_process {

class SoftwareDevice {
 public:
  /// Opens libcudart.so.13 and libcudart.so.12 of the folder.
  /// @throws MachineLacks when they are not there.
  explicit SoftwareDevice(const std::filesystem::path& folder);

  /// To be called when the kernels' library is loaded: from here on the device is the one behind
  /// the runtime that it uses.
  /// @throws BadInput when it uses neither, or has no PTX that the device runs.
  void expect_used_by(const plumbline_library& library, const std::filesystem::path& path);

  CudaDriver driver() const { return CudaDriver(runtime_); }
  std::string name() const;  ///< "software device, compute capability 9.0"
  /// What hardware leaves open, done in several ways: their names, for reports.
  std::vector<std::string> variations() const;
  /// One of them, for the calls from now on.
  void vary(int number) const;
  /// Device memory with these bytes, which a kernel cannot change. CudaDriver::free frees it.
  /// @throws CudaError
  DeviceAddress input(const void* from, std::size_t bytes) const;

  struct Trouble {
    DeviceTrouble kind = DeviceTrouble::none;
    std::string text;           ///< on one line
    DeviceAddress address = 0;  ///< of a fault; 0: of none
    /// The array at or near the address, and where in it, where there is one.
    std::optional<std::size_t> array{};
    std::ptrdiff_t offset = 0;
  };
  /// Since the last time; a fault stays. Of arrays it knows nothing.
  Trouble trouble() const;
  /// Calls `hear` with every trouble from now on, as soon as it is there, in the thread that has
  /// it, one at a time.
  void listen(void (*hear)(const Trouble&)) const;
  /// Seconds that a launch may take from now on, unless the environment says how many.
  void limit_time(double seconds) const;

 private:
  std::vector<void*> runtimes_;
  void* runtime_ = nullptr;  ///< of the library's CUDA version
};

}  // namespace plumbline::kernel_process
