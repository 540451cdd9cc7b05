// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_TESTS_BENCH_SOFTWARE_DEVICE_HPP
#define PLUMBLINE_TESTS_BENCH_SOFTWARE_DEVICE_HPP

#include <chrono>
#include <ctime>
#include <iosfwd>
#include <string>

namespace plumbline::bench {

/// `cpu`: of all threads together, which another program's work hardly changes.
struct Seconds {
  double wall = 0, cpu = 0;
};
template <class F>
Seconds seconds_of(F f) {
  const std::clock_t cpu = std::clock();
  const auto begin = std::chrono::steady_clock::now();
  f();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  return {wall.count(), static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
}

/// Two forward kernels with ALiBi, causal, N = 1024, 2 heads of 64: from PTX (mma_forward_bf16.ptx,
/// 3_fused_forward.ptx in `folder`) on the device with checks and without, and the same sources on
/// the emulation, in turn. Throws std::runtime_error where their results differ. `only`: those with
/// it in their names.
void measure_attention(const std::string& folder, const std::string& only, int repetitions,
                       std::ostream& out);

/// Nanoseconds of the CPU for a warp's instruction in a loop of 32 of it.
void measure_instructions(const std::string& only, int repetitions, std::ostream& out);

}  // namespace plumbline::bench

#endif
