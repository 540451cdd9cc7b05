// SPDX-License-Identifier: Apache-2.0
// What every function of CUDA's driver does beside its own work.
#ifndef PLUMBLINE_GPU_PTX_CUDA_DRIVER_DRIVER_HPP
#define PLUMBLINE_GPU_PTX_CUDA_DRIVER_DRIVER_HPP

#include "ptx/cuda/process.hpp"

namespace plumbline::ptx::cuda_driver {

/// The driver's error for what the runtime has an error of its own for.
cuda::Error driver_error(cuda::Error error);

/// What a function needs before its body runs. Each needs what stands before it, too.
enum class Needs { init, no_fault, context };

template <class Body>
cuda::Error run(Needs needs, const Body& body) {
  using cuda::Error, cuda::expect;
  return driver_error(cuda::attempted([&](cuda::Process& process) {
    expect(process.initialised, Error::initialization_error);
    if (needs >= Needs::no_fault) expect(process.sticky() == Error::success, process.sticky());
    if (needs >= Needs::context) process.current();
    body(process);
  }));
}

/// The body of most functions.
template <class Body>
cuda::Error run(const Body& body) {
  return run(Needs::context, body);
}

}  // namespace plumbline::ptx::cuda_driver

#endif
