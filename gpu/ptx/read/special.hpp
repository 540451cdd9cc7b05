// SPDX-License-Identifier: Apache-2.0
// The names of PTX's special registers.
#ifndef PLUMBLINE_GPU_PTX_READ_SPECIAL_HPP
#define PLUMBLINE_GPU_PTX_READ_SPECIAL_HPP

#include <string_view>

namespace plumbline::ptx {

/// Whether `name`, with its % and without .x, is one; whether it has .x, .y and .z.
bool is_special(std::string_view name);
bool is_special_vector(std::string_view name);

}  // namespace plumbline::ptx

#endif
