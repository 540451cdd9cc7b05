// SPDX-License-Identifier: Apache-2.0
// The property-based check for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace plumbline::python {

/// Adds `check`, `case_arrays` and `methods` to the module.
void bind_check(nanobind::module_& module);

}  // namespace plumbline::python
