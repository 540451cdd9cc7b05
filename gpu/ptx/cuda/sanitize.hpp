// SPDX-License-Identifier: Apache-2.0
// What `plumbline sanitize` wants to know of each process: lines of the file that
// PLUMBLINE_SANITIZE names.
#ifndef PLUMBLINE_GPU_PTX_CUDA_SANITIZE_HPP
#define PLUMBLINE_GPU_PTX_CUDA_SANITIZE_HPP

#include <string>

namespace plumbline::ptx::cuda {

/// A launch that ran to its end; when the process ends, `launches N kernels M` is written.
void count_launch(const std::string& kernel);

/// Writes `fault` at once: the process may not come to its end.
void tell_fault();

/// Writes `refused`: a launch that did not run, whatever the program makes of its error.
void tell_refused();

}  // namespace plumbline::ptx::cuda

#endif
