// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/cluster.hpp"

#include "ptx/execute/control.hpp"
#include "ptx/execute/faults.hpp"
#include "ptx/execute/mbarrier.hpp"
#include "ptx/execute/order.hpp"
#include "ptx/read/place.hpp"

namespace plumbline::ptx {

Cluster::Cluster(LaunchState& state) : launch(state) {
  const Extent& size = state.cluster;
  for (std::uint32_t rank = 0; rank < size.x * size.y * size.z; ++rank) {
    blocks.push_back(std::make_unique<Runner>(state));
    blocks.back()->block.cluster = this;
    blocks.back()->block.rank = rank;
  }
}

void Cluster::begin(std::uint64_t number) {
  const Extent &size = launch.cluster, &grid = launch.launch.grid;
  const std::uint64_t x = grid.x / size.x, y = grid.y / size.y;  // clusters of each axis
  const auto first_x = static_cast<std::uint32_t>(number % x * size.x),
             first_y = static_cast<std::uint32_t>(number / x % y * size.y),
             first_z = static_cast<std::uint32_t>(number / x / y * size.z);
  if (launch.out_of_time()) {  // short blocks do not look
    Fault::Where where;
    where.kernel = launch.kernel->entry->function->name;
    where.block = {first_x, first_y, first_z};
    throw Fault(Fault::Kind::timeout, where, launch.not_ended());
  }
  transfers.clear();
  phase = 0;
  arriving = {};
  for (std::uint32_t rank = 0; rank < blocks.size(); ++rank)
    blocks[rank]->begin({first_x + rank % size.x, first_y + rank / size.x % size.y,
                         first_z + rank / size.x / size.y});
}

Runner::Progress Cluster::go_on() {
  auto progress = Runner::Progress::done;
  const Order order(blocks.size(), launch.options.variation.order_seed);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Runner& one = *blocks[order[i]];
    if (!one.block.left && one.go_on() == Runner::Progress::waits)
      progress = Runner::Progress::waits;
  }
  return progress;
}

void Cluster::finish() {
  constexpr unsigned rounds = 4096;  ///< in which nothing happens, before it is a deadlock
  std::uint64_t seen = events;
  unsigned idle = 0, left = 0;
  while (go_on() == Runner::Progress::waits) {
    unsigned now = 0;
    for (const auto& one : blocks) now += one->block.left;
    if (events != seen || now != left) idle = 0;
    seen = events;
    left = now;
    if (++idle > rounds) endless();
  }
}

void Cluster::endless() {
  for (const auto& one : blocks)
    if (!one->block.left) one->endless();
  for (const auto& one : blocks)
    if (!one->block.left) one->deadlock();
  throw std::logic_error("a cluster without progress");
}

Counts Cluster::take_counts() {
  Counts all;
  for (const auto& one : blocks) {
    all.warp_instructions += one->counts.warp_instructions;
    all.thread_instructions += one->counts.thread_instructions;
    one->counts = {};
  }
  return all;
}

void Cluster::take_tallies(std::vector<Tally>& all) {
  for (const auto& one : blocks) {
    all.resize(one->tallies.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] += one->tallies[i];
      one->tallies[i] = {};
    }
  }
}

void Cluster::take(std::size_t bytes) {
  constexpr std::size_t most = std::size_t{2} << 30;
  taken_ += bytes;
  if (taken_ > most)
    throw Refused(Refused::Reason::out_of_resources,
                  readable(std::string(launch.kernel->entry->function->name)) +
                      ": its registers and local memory take more than 2 GiB in one cluster");
}

void Cluster::new_epoch() {
  ++events;
  for (const auto& one : blocks) one->new_epoch();
}

void Cluster::arrive(WarpState& warp, const Operation& o, std::uint32_t mask) {
  if (const std::uint32_t twice = mask & (warp.cluster_arrived | warp.cluster_passed))
    fault(warp, o, static_cast<std::uint32_t>(__builtin_ctz(twice)), Fault::Kind::barrier,
          "it arrives at the barrier of its cluster again, without barrier.cluster.wait");
  const bool relaxed = o.flags & cluster_relaxed;
  for (auto& [at, barrier] : warp.block->mbarriers->all)
    if (barrier.warp == warp.index && barrier.visible_from == ~0u && (barrier.fenced || !relaxed))
      barrier.visible_from = phase + 1;
  const Known known = warp.block->runner->arrival(warp);
  arriving.add_order(known);
  if (!relaxed) arriving.add(known);
  warp.cluster_arrived |= mask;
  ++events;
  check_barrier();
}

bool Cluster::wait(WarpState& warp, const Operation& o, std::uint32_t mask) {
  if (const std::uint32_t none = mask & ~(warp.cluster_arrived | warp.cluster_passed))
    fault(warp, o, static_cast<std::uint32_t>(__builtin_ctz(none)), Fault::Kind::barrier,
          "it waits at the barrier of its cluster without having arrived (barrier.cluster.arrive)");
  if (mask & ~warp.cluster_passed) return false;
  warp.cluster_passed &= ~mask;
  return true;
}

void Cluster::check_barrier() {
  bool any = false;
  for (const auto& one : blocks)
    for (const auto& warp : one->warps) {
      if (!warp->done && (warp->cluster_arrived & warp->live) != warp->live) return;
      any |= warp->cluster_arrived != 0;
    }
  if (!any) return;
  ++phase;
  new_epoch();
  for (const auto& one : blocks)
    for (const auto& warp : one->warps) {
      warp->cluster_passed |= warp->cluster_arrived;
      warp->cluster_arrived = 0;
      warp->known.add(arriving);
      if (warp->frames.empty()) continue;
      for (Fragment& fragment : warp->frames.back().fragments)
        if (fragment.state == Fragment::State::blocked && fragment.barrier == cluster_barrier) {
          fragment.state = Fragment::State::ready;
          warp->cluster_passed &= ~fragment.mask;
        }
    }
  arriving = {};
}

std::string Cluster::missing() const {
  std::string text;
  for (const auto& one : blocks)
    for (const auto& warp : one->warps)
      if (!warp->done && (warp->cluster_arrived & warp->live) != warp->live)
        text += (text.empty() ? "warp " : ", warp ") + std::to_string(warp->index) + " of block " +
                std::to_string(one->block.rank);
  return text;
}

}  // namespace plumbline::ptx
