// SPDX-License-Identifier: Apache-2.0
// What is known of an instruction's cost before it runs.
#ifndef PLUMBLINE_GPU_PTX_PROFILE_TRAITS_HPP
#define PLUMBLINE_GPU_PTX_PROFILE_TRAITS_HPP

#include <span>
#include <string_view>

#include "ptx/profile.hpp"

namespace plumbline::ptx {

struct Traits {
  Pipe pipe = Pipe::other;
  std::uint32_t thread_flops = 0;  ///< of a lane; a multiply-add is two
  std::uint32_t warp_flops = 0;    ///< of a product of matrices: a warp's part of it
  bool barrier = false;            ///< of the block
};

/// Of "fma" with the modifiers "rn", "f32". Those that the device lacks have traits, too.
Traits traits_of(std::string_view opcode, std::span<const std::string_view> modifiers);

}  // namespace plumbline::ptx

#endif
