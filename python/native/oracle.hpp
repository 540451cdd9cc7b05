// SPDX-License-Identifier: Apache-2.0
// The oracle for Python: a method's results on arrays of doubles.
#pragma once

#include <nanobind/nanobind.h>

namespace plumbline::python {

/// Adds `attention`, `widened` and `alibi_slopes` to the module.
void bind_oracle(nanobind::module_& module);

}  // namespace plumbline::python
