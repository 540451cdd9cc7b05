// SPDX-License-Identifier: Apache-2.0
// Where the arrays of a call are shown to a kernel that takes host pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "verdict/process/protocol.hpp"

namespace plumbline::kernel_process {

/// Memory beside an array that a kernel has made accessible and touched.
struct OpenedGuard {
  std::size_t array;    ///< the nearest
  std::int64_t offset;  ///< from its start: of the first byte that is not 0, or of the page
  bool written;
};

/// The addresses that arrays are shown at, and nothing else is: windows, of which a call has one.
/// What goes wrong ends the process.
class Windows {
 public:
  Windows();
  char* base() const { return base_; }
  /// @returns where the array starts.
  void* show(int window, const ArrayPlace& place) const;
  /// Who makes a guard accessible before using it causes no fault, but the page is there
  /// afterwards.
  std::optional<OpenedGuard> opened_guard(int window, std::span<const ArrayPlace> places) const;
  /// Nothing can be touched after it: not by a thread that the kernel left behind either.
  void hide(int window) const;

 private:
  char* at(int window) const { return base_ + static_cast<std::uint64_t>(window) * bytes_; }

  int inputs_, outputs_;  ///< descriptors of the segments
  char* base_;
  std::uint64_t bytes_;
};

}  // namespace plumbline::kernel_process
