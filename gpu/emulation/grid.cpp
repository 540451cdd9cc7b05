// SPDX-License-Identifier: Apache-2.0
// Spreads the blocks of a launch over operating-system threads.
#include "emulation/grid.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "emulation/block.hpp"
#include "threads/worker_pool.hpp"

namespace plumbline::emulation {

namespace {

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? std::strtoull(value, nullptr, 10) : otherwise;
}

std::atomic<std::uint64_t>& seed() {
  static std::atomic<std::uint64_t> value{environment("PLUMBLINE_THREAD_ORDER_SEED", 1)};
  return value;
}

std::atomic<unsigned>& workers() {
  static std::atomic<unsigned> value{static_cast<unsigned>(
      environment("PLUMBLINE_EMULATION_WORKERS", std::thread::hardware_concurrency()))};
  return value;
}

std::atomic<std::size_t> most_shared_memory{163 * 1024};

std::atomic<void (*)(const void*)> listener{nullptr};

/// Idle runners. Their stacks outlive the launch.
class RunnerPool {
 public:
  std::unique_ptr<BlockRunner> take(std::size_t threads) {
    const std::lock_guard lock(mutex_);
    for (auto& runner : idle_) {
      if (runner->capacity() < threads) continue;
      std::swap(runner, idle_.back());
      auto taken = std::move(idle_.back());
      idle_.pop_back();
      return taken;
    }
    return std::make_unique<BlockRunner>(threads);
  }

  void give_back(std::unique_ptr<BlockRunner> runner) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(runner));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockRunner>> idle_;
};

RunnerPool& runners() {
  static RunnerPool instance;
  return instance;
}

WorkerPool& helpers() {
  static WorkerPool instance;
  return instance;
}

/// What the workers of one launch share.
struct Progress {
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::uint64_t failed_block = 0;
  std::exception_ptr failure;
};

std::uint64_t mix(std::uint64_t x) {  // splitmix64: neighbouring blocks get unrelated orders
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

void work(const Grid& grid, std::uint64_t blocks, std::uint64_t order_seed, Progress& progress) {
  std::unique_ptr<BlockRunner> runner;
  while (!progress.failed) {
    const std::uint64_t block = progress.next++;
    if (block >= blocks) break;
    const dim3 index{static_cast<unsigned>(block % grid.grid.x),
                     static_cast<unsigned>(block / grid.grid.x % grid.grid.y),
                     static_cast<unsigned>(block / grid.grid.x / grid.grid.y)};
    try {
      if (!runner) runner = runners().take(std::size_t{grid.block.x} * grid.block.y * grid.block.z);
      runner->run(grid, index, mix(order_seed ^ mix(block)));
    } catch (...) {
      // Blocks are begun in order, so the first failing block is always among those that ran.
      const std::lock_guard lock(progress.mutex);
      if (!progress.failure || block < progress.failed_block) {
        progress.failed_block = block;
        progress.failure = std::current_exception();
      }
      progress.failed = true;
      return;  // and the runner is thrown away
    }
  }
  if (runner) runners().give_back(std::move(runner));
}

void check_limits(const Grid& grid) {
  const auto refuse = [&](const std::string& why) { throw Error(text(grid.where) + ": " + why); };
  const dim3 &g = grid.grid, &b = grid.block;
  if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0)
    refuse("a launch of no threads");
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) refuse("the grid is too large");
  if (b.x > 1024 || b.y > 1024 || b.z > 64 || std::uint64_t{b.x} * b.y * b.z > 1024)
    refuse("more than 1024 threads in a block");
  if (grid.shared_bytes > most_shared_memory)
    refuse(std::to_string(grid.shared_bytes) +
           " bytes of shared memory; the device gives a block " +
           std::to_string(most_shared_memory));
}

}  // namespace

void run(const Grid& grid) {
  check_limits(grid);
  if (const auto tell = listener.load()) tell(grid.kernel);
  const std::uint64_t blocks = std::uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  const std::uint64_t order_seed = seed();
  Progress progress;
  const auto threads =
      static_cast<unsigned>(std::min<std::uint64_t>(std::max(1u, workers().load()), blocks));
  helpers().run(threads - 1, [&] { work(grid, blocks, order_seed, progress); });
  if (progress.failure) std::rethrow_exception(progress.failure);
}

void set_thread_order_seed(std::uint64_t value) { seed() = value; }

std::uint64_t thread_order_seed() { return seed(); }

void set_workers(unsigned value) { workers() = value; }

void set_shared_memory_of_block(std::size_t bytes) { most_shared_memory = bytes; }

std::size_t shared_memory_of_block() { return most_shared_memory; }

void listen_to_launches(void (*told)(const void*)) { listener = told; }

}  // namespace plumbline::emulation
