// SPDX-License-Identifier: Apache-2.0
// The device's options as a user, or the judge, gives them to a program that knows nothing of them:
// in the environment.
#ifndef PLUMBLINE_GPU_PTX_CUDA_OPTIONS_HPP
#define PLUMBLINE_GPU_PTX_CUDA_OPTIONS_HPP

#include <functional>
#include <string>

#include "ptx/device.hpp"

namespace plumbline::ptx::cuda {

/// Of PLUMBLINE_DEVICE_..., each left at its default where it is not set or empty:
///   COMPUTE      compute capability: 7.5, 8.0, 8.6, 8.9, 9.0, 10.0 or 12.0, with the limits of
///                the GPUs that have it
///   MEMORY       bytes of global memory
///   THREADS      of the CPU
///   CHECK        0: only the bounds of memory are checked
///   UNINITIALISED  stop or ones: what a read of memory gets that nothing has written
///   TIME_LIMIT   seconds of one launch
///   APPROXIMATE  nearest, down, up or either
///   SUMS         nearest, ampere or hopper
///   ORDER        a seed for the order of blocks, warps and atomics
/// Throws Refused (invalid_value) with a sentence that names the variable.
/// `value_of` gives the text of a variable, or null.
Options options_from(const std::function<const char*(const char*)>& value_of);

/// One of the devices that a verdict is asked of.
struct NamedVariation {
  std::string name;  ///< what it does, for a report
  Variation variation;
};

/// What hardware may do, at its corners; the first is the device without options.
std::vector<NamedVariation> named_variations();

/// These; or the one device that the variables describe, where one of APPROXIMATE, SUMS, FUSE and
/// ORDER is set.
std::vector<NamedVariation> variations_from(
    const std::function<const char*(const char*)>& value_of);

}  // namespace plumbline::ptx::cuda

#endif
