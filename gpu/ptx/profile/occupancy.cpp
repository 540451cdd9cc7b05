// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ptx/profile.hpp"

namespace plumbline::ptx {
namespace {

constexpr std::uint32_t warp = 32, register_piece = 256, quarters = 4, most_registers = 255;

std::size_t up(std::size_t value, std::size_t piece) { return (value + piece - 1) / piece * piece; }

}  // namespace

std::string Occupancy::limits() const {
  std::string all;
  const auto add = [&](std::uint32_t limit, const char* name) {
    if (limit == blocks) all += (all.empty() ? "" : ", ") + std::string(name);
  };
  add(by_registers, "registers");
  add(by_shared, "shared memory");
  add(by_warps, "warps");
  add(by_blocks, "blocks");
  return all;
}

Occupancy occupancy_of(const Properties& device, std::uint32_t threads, std::uint32_t registers,
                       std::size_t shared_bytes) {
  Occupancy o;
  o.registers = registers;
  o.warps_per_multiprocessor = device.threads_per_multiprocessor / warp;
  o.warps_per_block = std::max(1u, (threads + warp - 1) / warp);
  o.by_blocks = device.blocks_per_multiprocessor;
  o.by_warps = o.warps_per_multiprocessor / o.warps_per_block;

  const std::size_t shared_piece = device.compute_major >= 8 ? 128 : 256;
  o.shared_bytes = up(shared_bytes + device.shared_reserved_per_block, shared_piece);
  o.by_shared = o.shared_bytes
                    ? static_cast<std::uint32_t>(device.shared_per_multiprocessor / o.shared_bytes)
                    : o.by_blocks;

  const std::uint32_t of_warp = static_cast<std::uint32_t>(up(registers * warp, register_piece));
  o.by_registers =
      of_warp ? device.registers_per_block / quarters / of_warp * quarters / o.warps_per_block
              : o.by_blocks;
  o.blocks = std::min({o.by_registers, o.by_shared, o.by_warps, o.by_blocks});
  return o;
}

std::uint32_t registers_of(const KernelInfo& info, const Properties& device) {
  std::uint32_t most = most_registers;
  if (info.max_registers) most = std::min(most, info.max_registers);
  if (info.max_threads) {
    const std::uint64_t warps =
        (std::uint64_t{info.max_threads} + warp - 1) / warp * std::max(1u, info.min_blocks);
    const std::uint64_t of_quarter = (warps + quarters - 1) / quarters;
    const std::uint64_t of_warp =
        device.registers_per_block / quarters / of_quarter / register_piece * register_piece;
    if (of_warp) most = std::min(most, static_cast<std::uint32_t>(of_warp / warp));
  }
  return std::min(info.registers, most);
}

}  // namespace plumbline::ptx
