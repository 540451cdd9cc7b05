// SPDX-License-Identifier: Apache-2.0
// The query rows of a case, worked on by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "verdict/cases/spec.hpp"

namespace plumbline::verdict {

/// Calls work(n) once for every n < count, from `threads` threads in no fixed order. An exception
/// from work is rethrown.
template <class Work>
void for_each_index(std::size_t count, int threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto run = [&] {
    try {
      for (std::size_t n; (n = next++) < count;) work(n);
    } catch (...) {
      const std::scoped_lock lock(error_mutex);
      error = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> helpers;
    const int useful = static_cast<int>(std::min<std::size_t>(threads, count));
    for (int n = 1; n < useful; ++n) helpers.emplace_back(run);
    run();
  }
  if (error) std::rethrow_exception(error);
}

/// Rows whose sums are taken together, so that the bits are the same whatever the threads.
inline constexpr int rows_at_a_time = 16;

/// Calls work(row index, batch, head, query) once for every query row; the row index counts [batch,
/// heads, queries] row-major.
template <class Work>
void for_each_row(const cases::Spec& spec, int threads, const Work& work) {
  const std::size_t rows = static_cast<std::size_t>(spec.batch) * spec.heads * spec.queries;
  for_each_index(rows, threads, [&](std::size_t n) {
    work(n, static_cast<int>(n / spec.queries / spec.heads),
         static_cast<int>(n / spec.queries % spec.heads), static_cast<int>(n % spec.queries));
  });
}

}  // namespace plumbline::verdict
