// SPDX-License-Identifier: Apache-2.0
// The arrays of a call in device memory, for kernels that take CUDA pointers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "verdict/process/host/cuda_driver.hpp"

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

/// One piece of device memory with the arrays of a call in it, each between margins: of outputs
/// canaries, of inputs NaN, so that what is read beyond an input does not pass for a number.
/// @throws CudaError from each function.
class DeviceArrays {
 public:
  /// Enough for the rows of a tile beyond an array's end.
  static constexpr std::size_t margin = std::size_t{1} << 15;
  /// As cudaMalloc has it.
  static constexpr std::size_t alignment = 256;

  DeviceArrays() = default;

  /// Copies the inputs there; outputs are NaN. Returns the arrays' addresses.
  std::vector<void*> upload(std::span<const HostArray> arrays);
  /// Waits for the device, and copies all of it back. @returns the first byte that a kernel must
  /// not have changed: outside an array before inside an input, for who wrote far beyond an output
  /// changed an input on the way.
  std::optional<Damage> download();
  /// The outputs as download() found them.
  void copy_outputs(std::span<const HostArray> arrays) const;

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
