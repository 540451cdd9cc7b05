// SPDX-License-Identifier: Apache-2.0
// The arrays of a call in the memory of the software device.
#pragma once

#include "verdict/process/host/device_arrays.hpp"
#include "verdict/process/host/software_device.hpp"

namespace plumbline::kernel_process {

/// Each array is an allocation of its own, of its exact size, and inputs cannot be written: the
/// device itself stops a kernel that leaves them. Outputs are NaN, and not initialised: who reads
/// them before writing them is stopped, too.
class SoftwareArrays : public DeviceArrays {
 public:
  /// @param device must stay.
  explicit SoftwareArrays(const SoftwareDevice& device)
      : device_(device), driver_(device.driver()) {}

  std::vector<void*> upload(std::span<const HostArray> arrays) override;
  std::optional<Damage> download() override;
  void copy_outputs(std::span<const HostArray> arrays) const override;
  Trouble trouble() const override;
  void locate(Trouble& trouble) const override;

 private:
  const SoftwareDevice& device_;
  CudaDriver driver_;
  struct Place {
    DeviceAddress address;
    std::size_t bytes;
  };
  std::vector<Place> places_;
};

}  // namespace plumbline::kernel_process
