// SPDX-License-Identifier: Apache-2.0
// The instructions' implementations: compiled once for each set of CPU instructions, in a namespace
// of its own. The results are the same bits.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_SELECT_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_INSTRUCTIONS_SELECT_HPP

#include "ptx/execute/form.hpp"
#include "ptx/execute/operation.hpp"

namespace plumbline::ptx {

#define PLUMBLINE_PTX_SELECTORS    \
  Run select_integer(const Form&); \
  Run select_bits(const Form&);    \
  Run select_f32(const Form&);     \
  Run select_f64(const Form&);     \
  Run select_half(const Form&);    \
  Run select_compare(const Form&); \
  Run select_move(const Form&);    \
  Run select_convert(const Form&); \
  Run select_memory(const Form&);  \
  Run select_matrix(const Form&);  \
  Run select_copy(const Form&);    \
  Run select_wgmma(const Form&);

namespace plain {
PLUMBLINE_PTX_SELECTORS
}
namespace avx2 {
PLUMBLINE_PTX_SELECTORS
}
namespace avx512 {
PLUMBLINE_PTX_SELECTORS
}

/// The implementation for this CPU (arithmetic::best_level()); null for a form that there is not.
Run select(const Form& form);

}  // namespace plumbline::ptx

#endif
