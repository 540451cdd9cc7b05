// SPDX-License-Identifier: Apache-2.0
// What `plumbline profile` wants of each process: files in the folder that PLUMBLINE_PROFILE names.
#ifndef PLUMBLINE_GPU_PTX_CUDA_PROFILES_HPP
#define PLUMBLINE_GPU_PTX_CUDA_PROFILES_HPP

#include "ptx/profile.hpp"

namespace plumbline::ptx::cuda {

/// Whether launches are to be profiled.
bool profiles();

/// Adds a launch to the profile of its kernel, and writes it anew: the process may end at any time.
/// A file has the `record` of one kernel.
void keep_profile(const Profile& launch);

}  // namespace plumbline::ptx::cuda

#endif
