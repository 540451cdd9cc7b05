// SPDX-License-Identifier: Apache-2.0
// The end of a kernel's process, told in the terms of its call.
#pragma once

#include <cstdint>

#include "verdict/process/child.hpp"

namespace plumbline::kernel_process {

/// What the process was at.
struct Occupation {
  enum class What { loading, supports, pass } what;
  std::uint64_t base = 0;  ///< of its first window
  std::uint64_t window_bytes = 0;
  int window = 0;                      ///< of a pass: where its arrays are shown
  const CallLayout* layout = nullptr;  ///< of a pass
  double seconds = 0;                  ///< the limit that it had
};

/// "the kernel crashed (SIGSEGV): it wrote 4 bytes beyond the end of o, which has 512 bytes".
CallEnd words_of(const ProcessEnd& end, const Occupation& at);

}  // namespace plumbline::kernel_process
