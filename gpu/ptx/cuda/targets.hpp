// SPDX-License-Identifier: Apache-2.0
// Which PTX of a fat binary a device runs.
#ifndef PLUMBLINE_GPU_PTX_CUDA_TARGETS_HPP
#define PLUMBLINE_GPU_PTX_CUDA_TARGETS_HPP

#include <optional>
#include <string>
#include <string_view>

#include "ptx/cuda/fat_binary.hpp"
#include "ptx/read/target.hpp"

namespace plumbline::ptx::cuda {

/// What the first .target outside of comments says.
std::optional<Target> target_of(std::string_view ptx);

struct ChosenPtx {
  Target target;
  std::string text;
};

/// The PTX with the highest target that the device runs, an 'a' before an 'f' before none.
/// Throws BadFatBinary with a sentence that says what to compile for where there is none.
ChosenPtx choose_ptx(const FatBinary& binary, int major, int minor);

}  // namespace plumbline::ptx::cuda

#endif
