// SPDX-License-Identifier: Apache-2.0
// A grid: its clusters, which are single blocks in most kernels, over the threads of the CPU, or in
// an order where they see one another.
#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "ptx/execute/cluster.hpp"
#include "ptx/execute/order.hpp"
#include "ptx/profile.hpp"
#include "threads/worker_pool.hpp"

namespace plumbline::ptx {
namespace {

void add(Counts& all, const Counts& some) {
  all.warp_instructions += some.warp_instructions;
  all.thread_instructions += some.thread_instructions;
}

/// Runs clusters until there are none. The failure of the lowest one is kept, so that it does not
/// depend on how many threads there are.
void work(LaunchState& launch) {
  if (launch.next.load() >= launch.last.load()) return;  // all have begun before this thread did
  Cluster cluster(launch);
  for (;;) {
    const std::uint64_t number = launch.next.fetch_add(1);
    if (number >= launch.last.load()) break;
    try {
      cluster.begin(number);
      cluster.finish();
    } catch (...) {
      const std::scoped_lock lock(launch.mutex);
      if (number < launch.last.load()) {
        launch.last = number;
        launch.failure = std::current_exception();
      }
      break;
    }
  }
  const std::scoped_lock lock(launch.mutex);
  add(launch.counts, cluster.take_counts());
  cluster.take_tallies(launch.tallies);
}

/// Never destroyed: programs launch kernels while they end.
WorkerPool& helpers() {
  static WorkerPool& pool = *new WorkerPool;
  return pool;
}

/// As many as the device has room for, whatever registers they need.
std::size_t clusters_at_once(const LaunchState& launch) {
  const Properties& properties = launch.options.properties;
  const Extent &block = launch.launch.block, &size = launch.cluster;
  const Occupancy occupancy =
      occupancy_of(properties, block.x * block.y * block.z, 0, launch.shared_bytes);
  const std::size_t blocks = std::size_t{occupancy.blocks} * properties.multiprocessors;
  return std::max<std::size_t>(blocks / (size.x * size.y * size.z), 1);
}

/// Runs clusters in the order of their numbers on one thread. Where one waits for another's writes,
/// the next ones begin, as many as a device has room for; those that wait take turns.
void work_in_order(LaunchState& launch) {
  const std::size_t room = clusters_at_once(launch);
  const Order order(launch.clusters, launch.options.variation.order_seed);
  // Turns of all clusters that wait together, and of each at least, before it is a deadlock.
  constexpr std::size_t most_turns = 4096, least_turns = 64;
  std::vector<std::unique_ptr<Cluster>> waiting;
  std::vector<std::unique_ptr<Cluster>> spare;
  const auto finish = [&](std::unique_ptr<Cluster> cluster) {
    add(launch.counts, cluster->take_counts());
    cluster->take_tallies(launch.tallies);
    spare.push_back(std::move(cluster));
  };
  std::uint64_t next = 0;
  unsigned idle = 0;
  while (next < launch.clusters || !waiting.empty()) {
    bool changed = false;
    for (std::size_t i = 0; i < waiting.size();) {
      const std::uint64_t events = waiting[i]->events;
      const Runner::Progress progress = waiting[i]->go_on();
      changed |= progress == Runner::Progress::done || waiting[i]->events != events;
      if (progress == Runner::Progress::done) {
        finish(std::move(waiting[i]));
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    const bool begins = next < launch.clusters && waiting.size() < room;
    // More at once where many wait: each of these has had a turn.
    for (std::size_t n = waiting.size() / 8 + 1;
         n > 0 && next < launch.clusters && waiting.size() < room; --n) {
      if (spare.empty()) spare.push_back(std::make_unique<Cluster>(launch));
      std::unique_ptr<Cluster> cluster = std::move(spare.back());
      spare.pop_back();
      cluster->begin(order[next++]);
      if (cluster->go_on() == Runner::Progress::done)
        finish(std::move(cluster));
      else
        waiting.push_back(std::move(cluster));
    }
    if (begins || changed) {
      idle = 0;
    } else if (++idle > std::max(most_turns / waiting.size(), least_turns)) {
      waiting.front()->endless();
    }
  }
}

}  // namespace

std::string LaunchState::not_ended() const {
  return "the kernel has not ended after " + std::to_string(options.time_limit_ms) + " ms";
}

Counts run_grid(LaunchState& launch) {
  if (launch.kernel->ordered) {
    work_in_order(launch);
    return launch.counts;
  }
  launch.last = launch.clusters;
  const unsigned hardware = std::max(1u, std::thread::hardware_concurrency());
  const std::uint64_t wanted = launch.options.threads ? launch.options.threads : hardware;
  const auto threads = static_cast<unsigned>(std::min(wanted, launch.clusters));
  helpers().run(threads - 1, [&] { work(launch); });
  if (launch.failure) std::rethrow_exception(launch.failure);
  return launch.counts;
}

}  // namespace plumbline::ptx
