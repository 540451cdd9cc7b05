// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/instructions/select.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

namespace plumbline::ptx {
namespace {

using Selector = Run (*)(const Form&);

#define PLUMBLINE_PTX_TABLE(isa)                                                               \
  {                                                                                            \
    isa::select_integer, isa::select_bits, isa::select_f32, isa::select_f64, isa::select_half, \
        isa::select_compare, isa::select_move, isa::select_convert, isa::select_memory,        \
        isa::select_matrix, isa::select_copy                                                   \
  }

const std::array<Selector, 11>& selectors() {
  static const std::array<Selector, 11> plain = PLUMBLINE_PTX_TABLE(plain),
                                        avx2 = PLUMBLINE_PTX_TABLE(avx2),
                                        avx512 = PLUMBLINE_PTX_TABLE(avx512);
  switch (selected_isa()) {
    case Isa::plain:
      return plain;
    case Isa::avx2:
      return avx2;
    default:
      return avx512;
  }
}

}  // namespace

Isa selected_isa() {
  static const Isa isa = [] {
    __builtin_cpu_init();
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool has_avx512 =
        has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd");
    const char* name = std::getenv("PLUMBLINE_PTX_ISA");
    const std::string_view wanted = name ? name : "avx512";
    if (has_avx512 && wanted == "avx512") return Isa::avx512;
    return has_avx2 && wanted != "plain" ? Isa::avx2 : Isa::plain;
  }();
  return isa;
}

Run select(const Form& form) {
  static const std::array<Selector, 11>& table = selectors();
  for (const Selector selector : table)
    if (const Run run = selector(form)) return run;
  return nullptr;
}

}  // namespace plumbline::ptx
