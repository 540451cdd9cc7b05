// SPDX-License-Identifier: Apache-2.0
// Calls what was compiled for a level.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_AT_LEVEL_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_AT_LEVEL_HPP

#include "ptx/arithmetic/level.hpp"

/// Returns plain::call, avx2::call or avx512::call. Where the CPU is no x86-64 there is one level.
#ifdef __x86_64__
#define PLUMBLINE_PTX_AT_LEVEL(level, call) \
  switch (level) {                          \
    case Level::avx512:                     \
      return avx512::call;                  \
    case Level::avx2:                       \
      return avx2::call;                    \
    default:                                \
      return plain::call;                   \
  }
#else
#define PLUMBLINE_PTX_AT_LEVEL(level, call) \
  static_cast<void>(level);                 \
  return plain::call;
#endif

#endif
