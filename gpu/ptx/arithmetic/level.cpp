// SPDX-License-Identifier: Apache-2.0
#include "ptx/arithmetic/level.hpp"

namespace plumbline::ptx::arithmetic {

Level best_level() {
#ifdef __x86_64__
  static const Level best = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      return Level::avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Level::avx2
                                                                           : Level::plain;
  }();
  return best;
#else
  return Level::plain;
#endif
}

}  // namespace plumbline::ptx::arithmetic
