// SPDX-License-Identifier: Apache-2.0
// A grid: its blocks over the threads of the CPU, or in an order where they see one another.
#include <algorithm>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "ptx/execute/state.hpp"

namespace plumbline::ptx {
namespace {

/// Runs blocks until there are none. The failure of the lowest block is kept, so that it does not
/// depend on how many threads there are.
void work(LaunchState& launch) {
  Runner runner(launch);
  for (;;) {
    const std::uint64_t number = launch.next.fetch_add(1);
    if (number >= launch.last.load()) break;
    try {
      runner.begin(number);
      while (runner.go_on() == Runner::Progress::spins) {
      }
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
  launch.counts.warp_instructions += runner.counts.warp_instructions;
  launch.counts.thread_instructions += runner.counts.thread_instructions;
}

/// Runs blocks in the order of their numbers on one thread. Where one waits for another's writes,
/// the next ones begin; those that wait take turns.
void work_in_order(LaunchState& launch) {
  constexpr unsigned rounds = 4096;  ///< of all blocks that spin, before it is a deadlock
  std::vector<std::unique_ptr<Runner>> waiting;
  std::vector<std::unique_ptr<Runner>> spare;
  const auto finish = [&](std::unique_ptr<Runner> runner) {
    launch.counts.warp_instructions += runner->counts.warp_instructions;
    launch.counts.thread_instructions += runner->counts.thread_instructions;
    runner->counts = {};
    spare.push_back(std::move(runner));
  };
  std::uint64_t next = 0;
  unsigned idle = 0;
  while (next < launch.blocks || !waiting.empty()) {
    bool ended = false;
    for (std::size_t i = 0; i < waiting.size();) {
      if (waiting[i]->go_on() == Runner::Progress::done) {
        finish(std::move(waiting[i]));
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
        ended = true;
      } else {
        ++i;
      }
    }
    if (next < launch.blocks) {
      if (spare.empty()) spare.push_back(std::make_unique<Runner>(launch));
      std::unique_ptr<Runner> runner = std::move(spare.back());
      spare.pop_back();
      runner->begin(launch.number_of(next++));
      if (runner->go_on() == Runner::Progress::done)
        finish(std::move(runner));
      else
        waiting.push_back(std::move(runner));
    } else if (ended) {
      idle = 0;
    } else if (++idle > rounds) {
      waiting.front()->endless();
    }
  }
}

}  // namespace

/// The block that comes i-th: i itself, or by a step that meets all of them.
std::uint64_t LaunchState::number_of(std::uint64_t i) const {
  const std::uint64_t seed = options.variation.order_seed;
  if (seed == 0 || blocks < 2) return i;
  std::uint64_t step = (seed * 0x9e3779b97f4a7c15u >> 20) % blocks;
  while (std::gcd(step, blocks) != 1) step = (step + 1) % blocks;
  return (i * step + seed) % blocks;
}

Counts run_grid(LaunchState& launch) {
  if (launch.kernel->ordered) {
    work_in_order(launch);
    return launch.counts;
  }
  launch.last = launch.blocks;
  const unsigned hardware = std::max(1u, std::thread::hardware_concurrency());
  const std::uint64_t wanted = launch.options.threads ? launch.options.threads : hardware;
  const auto threads = static_cast<unsigned>(std::min(wanted, launch.blocks));
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back([&] { work(launch); });
  work(launch);
  for (std::thread& one : others) one.join();
  if (launch.failure) std::rethrow_exception(launch.failure);
  return launch.counts;
}

}  // namespace plumbline::ptx
