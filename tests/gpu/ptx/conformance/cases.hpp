// SPDX-License-Identifier: Apache-2.0
// The operands and lanes that a row is tried with.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_CASES_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_CASES_HPP

#include "tests/gpu/ptx/conformance/row.hpp"

namespace plumbline::ptx::conformance {

/// What a thread does: nothing, the instruction, or leaving before it.
enum State : std::uint8_t { idle, active, leaves };

constexpr Bits marker = 0xa5c3a5c3a5c3a5c3;  ///< in results that nobody writes
constexpr unsigned block = 128;              ///< threads of a block

struct Cases {
  std::vector<std::uint8_t> states;
  std::vector<std::vector<Bits>> a;  ///< by operand and thread
};

/// The products of the operands' edges, or some of them, and random values; the same for the same
/// row.
Cases drawn(const Row& row);

/// The 32 threads from `first` on; results hold what nobody writes.
Warp warp_of(const Row& row, const Cases& cases, std::size_t first);

}  // namespace plumbline::ptx::conformance

#endif
