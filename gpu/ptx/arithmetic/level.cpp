// SPDX-License-Identifier: Apache-2.0
#include "ptx/arithmetic/level.hpp"

#include <cstdlib>
#include <string_view>

namespace plumbline::ptx::arithmetic {

Level best_level() {
#ifdef __x86_64__
  static const Level best = [] {
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
    const char* name = std::getenv("PLUMBLINE_PTX_ISA");
    const std::string_view wanted = name ? name : "avx512";
    if (avx512 && wanted == "avx512") return Level::avx512;
    return avx2 && wanted != "plain" ? Level::avx2 : Level::plain;
  }();
  return best;
#else
  return Level::plain;
#endif
}

}  // namespace plumbline::ptx::arithmetic
