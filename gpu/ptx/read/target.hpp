// SPDX-License-Identifier: Apache-2.0
// What PTX is for, by its .target, and what of it has which instructions.
#ifndef PLUMBLINE_GPU_PTX_READ_TARGET_HPP
#define PLUMBLINE_GPU_PTX_READ_TARGET_HPP

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace plumbline::ptx {

/// sm_80, sm_90a, sm_100f: as the .target line of PTX says it.
struct Target {
  int number = 0;     ///< 90
  char suffix = ' ';  ///< 'a' of one architecture, 'f' of one family, or ' '

  std::string name() const;  ///< "sm_90a"
  /// PTX runs on its own architecture and on later ones; with 'a' on its own alone, with 'f' on
  /// those with the same major number.
  bool runs_on(int major, int minor) const;
};

/// The target of this name, "sm_90a".
std::optional<Target> target_named(std::string_view name);

/// The target that an instruction needs, where this one does not have it: "sm_90 or higher",
/// "sm_90a"; else empty. Targets below sm_75 are not told apart.
/// @param words the instruction's, behind the opcode; "count" where mbarrier.arrive has one
std::string lacking(const Target& target, std::string_view opcode,
                    std::span<const std::string_view> words);
/// The same of a special register, "%cluster_ctarank".
std::string lacking(const Target& target, std::string_view special_register);

}  // namespace plumbline::ptx

#endif
