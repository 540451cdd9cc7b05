// SPDX-License-Identifier: Apache-2.0
#include "reference/blocked/kernels.hpp"

#include <vector>

extern "C" {
const plumbline::reference::blocked::Kernels* plumbline_blocked_kernels_baseline();
#ifdef PLUMBLINE_BLOCKED_X86_64
const plumbline::reference::blocked::Kernels* plumbline_blocked_kernels_v3();
const plumbline::reference::blocked::Kernels* plumbline_blocked_kernels_v4();
#endif
}

namespace plumbline::reference::blocked {

std::span<const Kernels* const> available_kernels() {
  static const std::vector<const Kernels*> available = [] {
    std::vector<const Kernels*> found{plumbline_blocked_kernels_baseline()};
#ifdef PLUMBLINE_BLOCKED_X86_64
    if (__builtin_cpu_supports("x86-64-v3")) found.push_back(plumbline_blocked_kernels_v3());
    if (__builtin_cpu_supports("x86-64-v4")) found.push_back(plumbline_blocked_kernels_v4());
#endif
    return found;
  }();
  return available;
}

namespace {
const Kernels*& in_use() {
  static const Kernels* chosen = available_kernels().back();
  return chosen;
}
}  // namespace

const Kernels& kernels() { return *in_use(); }

void use_kernels(const Kernels& others) { in_use() = &others; }

}  // namespace plumbline::reference::blocked
