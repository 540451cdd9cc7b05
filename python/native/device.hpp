// SPDX-License-Identifier: Apache-2.0
// The CUDA device in software, for plumbline.device.
#pragma once

#include <nanobind/nanobind.h>

namespace plumbline::python {

/// Defines the class Device. What the device throws becomes Fault, Refused or BadPtx of
/// plumbline.device.
void bind_device(nanobind::module_& module);

}  // namespace plumbline::python
