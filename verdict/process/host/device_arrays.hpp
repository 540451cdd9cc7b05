// SPDX-License-Identifier: Apache-2.0
// The arrays of a call in device memory, for kernels that take CUDA pointers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "verdict/process/host/cuda_driver.hpp"
#include "verdict/process/host/software_device.hpp"

namespace plumbline::kernel_process {

/// An array of a call, in host memory.
struct HostArray {
  std::span<std::byte> bytes;
  bool is_output;
};

/// A byte that the kernel must not change, and did.
struct Damage {
  std::size_t array;      ///< of the call's
  std::ptrdiff_t offset;  ///< from the array's start
  bool of_input;          ///< in an input, not outside an array
};

/// The arrays of a call on a device.
/// @throws CudaError from each function.
class DeviceArrays {
 public:
  using Trouble = SoftwareDevice::Trouble;

  virtual ~DeviceArrays() = default;

  /// Copies the inputs there; outputs are NaN. Returns the arrays' addresses, each a multiple of
  /// 256, as cudaMalloc has it.
  virtual std::vector<void*> upload(std::span<const HostArray> arrays) = 0;
  /// Waits for the device. @returns the first byte that a kernel must not have changed, and did.
  virtual std::optional<Damage> download() = 0;
  /// The outputs as download() found them.
  virtual void copy_outputs(std::span<const HostArray> arrays) const = 0;
  /// What the device itself has noticed since the last time.
  virtual Trouble trouble() const { return {}; }
  /// Finds the array at or near the trouble's address.
  virtual void locate(Trouble&) const {}
};

/// Of a GPU: one piece of its memory with the arrays of a call in it, each between margins: of
/// outputs canaries, of inputs NaN, so that what is read beyond an input does not pass for a
/// number.
class GpuArrays : public DeviceArrays {
 public:
  /// Enough for the rows of a tile beyond an array's end.
  static constexpr std::size_t margin = std::size_t{1} << 15;
  static constexpr std::size_t alignment = 256;

  std::vector<void*> upload(std::span<const HostArray> arrays) override;
  /// Copies all of it back. What is outside an array comes before what is inside an input, for who
  /// wrote far beyond an output changed an input on the way.
  std::optional<Damage> download() override;
  void copy_outputs(std::span<const HostArray> arrays) const override;

 private:
  struct Place {
    std::size_t margin_begin, begin, end, margin_end;
    bool is_output;
  };
  void reserve(std::size_t bytes);
  std::optional<std::size_t> first_changed(std::size_t from, std::size_t to) const;

  CudaDriver driver_;
  DeviceAddress memory_ = 0;
  std::size_t size_ = 0;
  std::vector<Place> places_;
  std::vector<std::byte> sent_, received_;
};

}  // namespace plumbline::kernel_process
