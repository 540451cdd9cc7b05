// SPDX-License-Identifier: Apache-2.0
// What a function finds in its registers.
#include <bit>
#include <cstring>
#include <new>

#include "ptx/execute/cluster.hpp"
#include "ptx/execute/state.hpp"

namespace plumbline::ptx {

void Bytes::Free::operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }

void Bytes::resize(std::size_t size) {
  if (size > size_) {
    data_.reset();
    data_.reset(static_cast<std::byte*>(::operator new (size, std::align_val_t{64})));
  }
  size_ = size;
}

namespace {

std::uint32_t axis(const Extent& extent, std::uint8_t which) {
  return which == 0 ? extent.x : which == 1 ? extent.y : which == 2 ? extent.z : 0;
}

std::uint64_t value(const Runner& runner, const Warp& warp, const Program::SpecialSlot& slot,
                    std::uint32_t lane, std::uint32_t local_frame) {
  const Block& block = runner.block;
  const std::uint32_t threads = block.size.x * block.size.y * block.size.z;
  const std::uint32_t thread = 32 * warp.index + lane;
  const std::uint32_t cluster_axis = slot.axis > 2 ? 1 : axis(runner.launch.cluster, slot.axis);
  switch (slot.which) {
    case Special::tid:
      return slot.axis == 0   ? thread % block.size.x
             : slot.axis == 1 ? thread / block.size.x % block.size.y
             : slot.axis == 2 ? thread / block.size.x / block.size.y
                              : 0;
    case Special::ntid:
      return axis(block.size, slot.axis);
    case Special::ctaid:
      return axis(block.index, slot.axis);
    case Special::nctaid:
      return axis(block.grid, slot.axis);
    case Special::laneid:
      return lane;
    case Special::warpid:
      return warp.index;
    case Special::nwarpid:
      return (threads + 31) / 32;
    case Special::smid:
      return (block.index.x + std::uint64_t{block.grid.x} *
                                  (block.index.y + std::uint64_t{block.grid.y} * block.index.z)) %
             runner.launch.options.properties.multiprocessors;
    case Special::nsmid:
      return runner.launch.options.properties.multiprocessors;
    case Special::gridid:
      return 1;
    case Special::lanemask_eq:
      return 1u << lane;
    case Special::lanemask_le:
      return (2u << lane) - 1;
    case Special::lanemask_lt:
      return (1u << lane) - 1;
    case Special::lanemask_ge:
      return ~((1u << lane) - 1);
    case Special::lanemask_gt:
      return ~((2u << lane) - 1);
    case Special::clusterid:
      return axis(block.index, slot.axis) / cluster_axis;
    case Special::nclusterid:
      return axis(block.grid, slot.axis) / cluster_axis;
    case Special::cluster_ctaid:
      return axis(block.index, slot.axis) % cluster_axis;
    case Special::cluster_nctaid:
      return slot.axis > 2 ? 0 : cluster_axis;
    case Special::cluster_ctarank:
      return block.rank;
    case Special::cluster_nctarank:
      return block.cluster->blocks.size();
    case Special::is_explicit_cluster:
      return runner.launch.explicit_cluster ? ~0u : 0;
    case Special::dynamic_shared:
      return runner.launch.launch.dynamic_shared_bytes;
    case Special::total_shared:
      return block.shared.size;
    case Special::grid_workspace_low:
      return runner.launch.grid_workspace & 0xffffffff;
    case Special::grid_workspace_high:
      return runner.launch.grid_workspace >> 32;
    case Special::zero:
      return 0;
    case Special::frame:
      return local_frame + slot.add;
    case Special::parameters:
      return reinterpret_cast<std::uintptr_t>(block.parameters) + slot.add;
  }
  return 0;
}

}  // namespace

void prepare_registers(const Runner& runner, WarpState& warp, const Program& program,
                       std::byte* registers, std::uint32_t local_frame, bool constants) {
  const auto set = [&](std::uint32_t offset, std::uint32_t bytes, std::uint32_t lane,
                       std::uint64_t bits) {
    std::memcpy(registers + offset + lane * bytes, &bits, bytes);
  };
  if (constants) {
    std::memset(registers, 0xff, 4);  // the predicate that is always true
    for (const Program::Constant& constant : program.constants)
      for (std::uint32_t lane = 0; lane < 32; ++lane)
        set(constant.offset, constant.bytes, lane, constant.bits);
  }
  for (std::size_t i = 0; i + 1 < program.cleared.size(); i += 2)
    std::memset(registers + program.cleared[i], 0, program.cleared[i + 1]);
  for (const Program::SpecialSlot& slot : program.specials) {
    if (slot.which == Special::tid && !constants) continue;
    if (slot.bytes == 0) {  // a predicate
      set(slot.offset, 4, 0, value(runner, warp, slot, 0, local_frame));
      continue;
    }
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      set(slot.offset, slot.bytes, lane, value(runner, warp, slot, lane, local_frame));
  }
}

}  // namespace plumbline::ptx
