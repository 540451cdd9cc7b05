// SPDX-License-Identifier: Apache-2.0
// Where the arrays of a call are shown to a kernel that takes host pointers.
#pragma once

#include <cstdint>

#include "kernel_process/protocol.hpp"

namespace plumbline::kernel_process {

/// The addresses that arrays are shown at, and nothing else is: windows, of which a call has one.
/// What goes wrong ends the process.
class Windows {
 public:
  Windows();
  char* base() const { return base_; }
  /// @returns where the array starts.
  void* show(int window, const ArrayPlace& place) const;
  /// Nothing can be touched after it: not by a thread that the kernel left behind either.
  void hide(int window) const;

 private:
  char* at(int window) const { return base_ + static_cast<std::uint64_t>(window) * bytes_; }

  char* base_;
  std::uint64_t bytes_;
};

}  // namespace plumbline::kernel_process
