// SPDX-License-Identifier: Apache-2.0
// The memory that the judge shares with a kernel's process, and the layout of a call's arrays in
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "verdict/process/protocol.hpp"

namespace plumbline::kernel_process {

/// A file descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return number_; }

 private:
  int number_;
};

/// Anonymous memory of a fixed size, which takes up no more than was touched of it.
class Segment {
 public:
  enum class Kind { inputs, outputs };
  /// Inputs are sealed: no other mapping of them can be made writable.
  /// @throws MachineLacks.
  Segment(std::uint64_t bytes, Kind kind);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  int descriptor() const { return descriptor_.get(); }
  std::uint64_t size() const { return bytes_; }
  std::span<std::byte> at(std::uint64_t offset, std::uint64_t bytes) const {
    return {memory_ + offset, bytes};
  }

 private:
  Descriptor descriptor_;
  std::uint64_t bytes_;
  std::byte* memory_;
};

/// Where the arrays of a call lie, and how much of the segments they need.
struct CallLayout {
  std::vector<ArrayPlace> places;  ///< inputs, then outputs, in the order of the call
  std::vector<std::string> names;
  std::uint64_t input_bytes = 0, output_bytes = 0;
};

/// Every array on pages of its own, its end where they end but for the alignment.
CallLayout layout_of(const KernelCall& call);

/// Copies the inputs in, NaN around them; outputs are NaN between canaries.
void lay_out(const KernelCall& call, const CallLayout& layout, const Segment& inputs,
             const Segment& outputs);

/// Copies the outputs out, or says what the kernel changed around them.
CallEnd collect(const KernelCall& call, const CallLayout& layout, const Segment& outputs);

}  // namespace plumbline::kernel_process
