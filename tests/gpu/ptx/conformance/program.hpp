// SPDX-License-Identifier: Apache-2.0
// Programs of several instructions: the threads of some blocks, each with a result.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_PROGRAM_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_PROGRAM_HPP

#include "tests/gpu/ptx/conformance/row.hpp"

namespace plumbline::ptx::conformance {

/// The body finds its thread in %t, its number in the grid in %g, %lane and %warp, the addresses of
/// further buffers in %b1-3; it leaves its result in %r0, which is 0xdead before. %p0-7, %h0-7,
/// %r0-31, %l0-15, %f0-7 and %w0-7 (f64) are free.
struct Program {
  std::string body;
  std::string module = {};  ///< text before the kernel
  unsigned blocks = 1, threads = 128;
  std::vector<Buffer> more = {};
  std::vector<Map> maps = {};  ///< %m0, %m1, ...: their generic addresses
  Target target = Target::sm_80;
  std::string version = "8.0";
};

/// What thread `thread` of block `block` leaves.
using Expected = std::function<std::uint32_t(unsigned block, unsigned thread)>;

/// The result of threads that leave before they store it.
inline constexpr std::uint32_t untouched = 0x5a5a5a5a;

Experiment& add_program(Family& family, const std::string& form, const Program& program,
                        const Expected& expected);

}  // namespace plumbline::ptx::conformance

#endif
