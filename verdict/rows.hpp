// SPDX-License-Identifier: Apache-2.0
// The query rows of a case, worked on by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "cases/spec.hpp"

namespace plumbline::verdict {

/// Calls work(row index, batch, head, query) once for every row, from `threads` threads in no fixed
/// order; the row index counts [batch, heads, queries] row-major. An exception from work is
/// rethrown.
template <class Work>
void for_each_row(const cases::Spec& spec, int threads, const Work& work) {
  const std::size_t rows = static_cast<std::size_t>(spec.batch) * spec.heads * spec.queries;
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto run = [&] {
    try {
      for (std::size_t n; (n = next++) < rows;) {
        work(n, static_cast<int>(n / spec.queries / spec.heads),
             static_cast<int>(n / spec.queries % spec.heads), static_cast<int>(n % spec.queries));
      }
    } catch (...) {
      const std::scoped_lock lock(error_mutex);
      error = std::current_exception();
      next = rows;
    }
  };
  {
    std::vector<std::jthread> helpers;
    const int useful = static_cast<int>(std::min<std::size_t>(threads, rows));
    for (int n = 1; n < useful; ++n) helpers.emplace_back(run);
    run();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace plumbline::verdict
