// SPDX-License-Identifier: Apache-2.0
// plumbline._native: the oracle, the judge and the software device, for the package around it.
#include <nanobind/nanobind.h>

#include "python/native/check.hpp"
#include "python/native/device.hpp"
#include "python/native/oracle.hpp"
#include "support/error.hpp"

NB_MODULE(_native, module) {
  // Triton never frees the globals of a script that has kernels, nor a device among them.
  nanobind::set_leak_warnings(false);
  nanobind::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const plumbline::BadInput& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    }
  });
  plumbline::python::bind_oracle(module);
  plumbline::python::bind_check(module);
  plumbline::python::bind_device(module);
}
