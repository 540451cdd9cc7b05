// SPDX-License-Identifier: Apache-2.0
// Work for several threads whose result does not depend on their number.
#pragma once

#include <functional>
#include <memory>

#include "reference/blocked/kernels.hpp"

namespace plumbline::reference::blocked {

/// Calls work(unit, thread) once for every unit in [0, units), on at most `threads` threads (0: as
/// many as the machine has), in any order. Units must not write to the same place; whatever they
/// share is added up afterwards, in the order of the units.
/// Throws again what a unit has thrown, after all threads have ended.
void for_each_unit(int units, int threads, const std::function<void(int unit, int thread)>& work);

/// How many threads for_each_unit starts.
int thread_count(int units, int threads);

/// The memory behind a Scratch.
class ScratchMemory {
 public:
  explicit ScratchMemory(int head_dim);
  const Scratch& get() const { return scratch_; }

 private:
  struct Free {
    void operator()(double* p) const;
  };
  std::unique_ptr<double[], Free> memory_;
  Scratch scratch_;
};

}  // namespace plumbline::reference::blocked
