// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/instructions/select.hpp"

#include <array>

#include "ptx/arithmetic/level.hpp"

namespace plumbline::ptx {
namespace {

using Selector = Run (*)(const Form&);

#define PLUMBLINE_PTX_TABLE(isa)                                                               \
  {                                                                                            \
    isa::select_integer, isa::select_bits, isa::select_f32, isa::select_f64, isa::select_half, \
        isa::select_compare, isa::select_move, isa::select_convert, isa::select_memory,        \
        isa::select_matrix, isa::select_copy, isa::select_wgmma                                \
  }

const std::array<Selector, 12>& selectors() {
  static const std::array<Selector, 12> plain = PLUMBLINE_PTX_TABLE(plain),
                                        avx2 = PLUMBLINE_PTX_TABLE(avx2),
                                        avx512 = PLUMBLINE_PTX_TABLE(avx512);
  switch (arithmetic::best_level()) {
    case arithmetic::Level::plain:
      return plain;
    case arithmetic::Level::avx2:
      return avx2;
    default:
      return avx512;
  }
}

}  // namespace

Run select(const Form& form) {
  static const std::array<Selector, 12>& table = selectors();
  for (const Selector selector : table)
    if (const Run run = selector(form)) return run;
  return nullptr;
}

}  // namespace plumbline::ptx
