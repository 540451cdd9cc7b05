// SPDX-License-Identifier: Apache-2.0
// CUjit_option: what cuModuleLoadDataEx, cuLibraryLoadData and cuLinkCreate are asked for.
#ifndef PLUMBLINE_GPU_PTX_CUDA_DRIVER_JIT_OPTIONS_HPP
#define PLUMBLINE_GPU_PTX_CUDA_DRIVER_JIT_OPTIONS_HPP

#include <cstddef>
#include <string>

#include "ptx/cuda/process.hpp"

namespace plumbline::ptx::cuda_driver {

/// Where a program wants to read what a compiler says. What else it asks for says how to optimise,
/// which nothing here does.
class JitOptions {
 public:
  /// The two arrays as CUDA has them: a value lies in the pointer itself. Throws Failure for an
  /// option that is none, and Refused for one that the device lacks.
  JitOptions(unsigned count, const int* options, void** values);

  /// Fills the program's buffers, if there are any: the error log, and an empty one of information.
  void tell(const std::string& error) const;

 private:
  void** value_of(int option) const;
  void fill(int buffer, int size, const std::string& text) const;

  unsigned count_;
  const int* options_;
  void** values_;
};

/// A module of the image, of a context or, as a library's, of none; tells the options' buffers what
/// is wrong with it. Throws what Modules::load_image does, and Failure within a capture.
cuda::Module& load_image(cuda::Process& process, const void* image, const cuda::Context* context,
                         const JitOptions& options);

}  // namespace plumbline::ptx::cuda_driver

#endif
