// SPDX-License-Identifier: Apache-2.0
// What every function of CUDA's runtime does beside its own work.
#ifndef PLUMBLINE_GPU_PTX_CUDART_RUNTIME_HPP
#define PLUMBLINE_GPU_PTX_CUDART_RUNTIME_HPP

#include "ptx/cuda/process.hpp"

namespace plumbline::ptx::cudart {

/// The last error of this thread.
cuda::Error& last_error();

/// The runtime works in the context that this thread has made current by the driver, else in the
/// primary one, which it makes current.
void make_current(cuda::Process& process);

/// An error is returned and kept as this thread's last.
cuda::Error kept(cuda::Error error);

/// The body of every function.
template <class Body>
cuda::Error run(const Body& body) {
  return kept(cuda::guarded([&](cuda::Process& process) {
    make_current(process);
    body(process);
  }));
}

/// Calls a function of the driver in the runtime's context.
template <class... Parameters, class... Arguments>
cuda::Error through(cuda::Error (*function)(Parameters...), Arguments... arguments) {
  return run([&](cuda::Process&) {
    const cuda::Error error = function(arguments...);
    cuda::expect(error == cuda::Error::success, error);
  });
}

}  // namespace plumbline::ptx::cudart

#endif
