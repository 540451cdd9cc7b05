// SPDX-License-Identifier: Apache-2.0
#include "reference/blocked/threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace plumbline::reference::blocked {

int thread_count(int units, int threads) {
  if (threads == 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(threads, 1, std::max(units, 1));
}

void for_each_unit(int units, int threads, const std::function<void(int, int)>& work) {
  std::atomic<int> next = 0;
  std::exception_ptr thrown;
  std::mutex thrown_mutex;
  const auto run = [&](int thread) {
    try {
      for (int unit = next++; unit < units; unit = next++) work(unit, thread);
    } catch (...) {
      next = units;
      const std::lock_guard lock(thrown_mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (int t = 1; t < thread_count(units, threads); ++t) others.emplace_back(run, t);
    run(0);
  }
  if (thrown) std::rethrow_exception(thrown);
}

namespace {
constexpr std::size_t alignment = 64, in_a_line = alignment / sizeof(double);
std::size_t whole_lines(std::size_t numbers) {
  return (numbers + in_a_line - 1) / in_a_line * in_a_line;
}
}  // namespace

void ScratchMemory::Free::operator()(double* p) const { std::free(p); }

ScratchMemory::ScratchMemory(int head_dim) {
  const std::size_t tile = whole_lines(std::size_t{row_tile} * key_tile);
  const std::size_t rows = whole_lines(std::size_t{row_tile} * head_dim);
  const std::size_t keys = whole_lines(std::size_t{key_tile} * head_dim);
  const std::size_t numbers = 3 * tile + 2 * rows + 2 * keys;
  auto* memory = static_cast<double*>(std::aligned_alloc(alignment, numbers * sizeof(double)));
  if (!memory) throw std::bad_alloc();
  memory_.reset(memory);
  const auto take = [&](std::size_t count) { return std::exchange(memory, memory + count); };
  for (double*& each : scratch_.tile) each = take(tile);
  scratch_.q = take(rows);
  scratch_.grad_output = take(rows);
  scratch_.k = take(keys);
  scratch_.v = take(keys);
}

}  // namespace plumbline::reference::blocked
