// SPDX-License-Identifier: Apache-2.0
// The one function that the library of an instruction set exports; CMake gives its name.
#include "reference/blocked/simd/functions.hpp"

extern "C" const plumbline::reference::blocked::Kernels* PLUMBLINE_BLOCKED_TABLE() {
  using namespace plumbline::reference::blocked;
  static const Kernels table = {PLUMBLINE_BLOCKED_INSTRUCTION_SET,
                                simd::forward,
                                simd::backward,
                                simd::add_table,
                                simd::accumulate_table,
                                simd::add_prefix,
                                simd::accumulate_prefix,
                                simd::add_fire,
                                simd::accumulate_fire,
                                simd::multiply,
                                simd::row_products,
                                simd::all_finite,
                                simd::exponential,
                                simd::log_kernel};
  return &table;
}
