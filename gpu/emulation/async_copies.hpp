// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_EMULATION_ASYNC_COPIES_HPP
#define PLUMBLINE_GPU_EMULATION_ASYNC_COPIES_HPP

#include <cstddef>
#include <vector>

#include "emulation/grid.hpp"

namespace plumbline::emulation {

/// The copies of a thread that are under way, the oldest first; `groups` counts those closed.
class AsyncCopies {
 public:
  void clear() {
    copies_.clear();
    next_ = 0;
    groups_ = 0;
  }
  void issue(const AsyncCopy& copy) { copies_.push_back({copy, groups_}); }
  void commit() { ++groups_; }
  bool next(unsigned pending, AsyncCopy& copy) {
    if (next_ == copies_.size() || copies_[next_].group + pending >= groups_) {
      copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(next_));
      next_ = 0;
      return false;
    }
    copy = copies_[next_++].copy;
    return true;
  }

 private:
  struct Numbered {
    AsyncCopy copy;
    unsigned group;
  };
  std::vector<Numbered> copies_;
  std::size_t next_ = 0;
  unsigned groups_ = 0;
};

}  // namespace plumbline::emulation

#endif
