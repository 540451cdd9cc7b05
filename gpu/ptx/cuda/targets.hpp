// SPDX-License-Identifier: Apache-2.0
// Which PTX of a fat binary a device runs.
#ifndef PLUMBLINE_GPU_PTX_CUDA_TARGETS_HPP
#define PLUMBLINE_GPU_PTX_CUDA_TARGETS_HPP

#include <optional>
#include <string>
#include <string_view>

#include "ptx/cuda/fat_binary.hpp"

namespace plumbline::ptx::cuda {

/// sm_80, sm_90a, sm_100f: as the .target line of PTX says it.
struct Target {
  int number = 0;     ///< 90
  char suffix = ' ';  ///< 'a' of one architecture, 'f' of one family, or ' '

  std::string name() const;  ///< "sm_90a"
  /// PTX runs on its own architecture and on later ones; with 'a' on its own alone, with 'f' on
  /// those with the same major number.
  bool runs_on(int major, int minor) const;
};

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
