// SPDX-License-Identifier: Apache-2.0
// Types and shapes of the matrix instructions.
#ifndef PLUMBLINE_GPU_PTX_TRANSLATE_ELEMENTS_HPP
#define PLUMBLINE_GPU_PTX_TRANSLATE_ELEMENTS_HPP

#include <string_view>

#include "ptx/arithmetic/product.hpp"
#include "ptx/read/types.hpp"

namespace plumbline::ptx {

/// False for a type that matrices do not have.
bool element_of(Type type, arithmetic::Element& element);
/// "m16n8k16"; false for what is no shape.
bool shape_of(std::string_view word, int& m, int& n, int& k);

}  // namespace plumbline::ptx

#endif
