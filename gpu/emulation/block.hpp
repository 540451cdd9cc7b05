// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_EMULATION_BLOCK_HPP
#define PLUMBLINE_GPU_EMULATION_BLOCK_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "emulation/async_copies.hpp"
#include "emulation/fiber.hpp"
#include "emulation/grid.hpp"

namespace plumbline::emulation {

/// Runs one block at a time on the calling thread; its stacks and its shared memory are kept.
/// After an exception it must be thrown away: fibers were left in the middle of a kernel.
class BlockRunner {
 public:
  explicit BlockRunner(std::size_t threads);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  std::size_t capacity() const { return capacity_; }
  /// `order_seed` seeds the order in which threads run.
  void run(const Grid& grid, dim3 block_index, std::uint64_t order_seed);

  /// Called from inside a kernel.
  void block_barrier(std::source_location where);
  void warp_barrier(std::source_location where);
  std::uint64_t warp_exchange(std::uint64_t bits, unsigned lane, std::source_location where);
  void warp_collective(void* argument, void (*complete)(void* const*), std::source_location where);
  void async_copy_issue(const AsyncCopy& copy);
  void async_copy_commit();
  bool async_copy_next(int pending, AsyncCopy& copy);
  void* shared_array(std::size_t& used, std::size_t& offset, std::size_t bytes,
                     std::source_location where);
  static BlockRunner& current();

 private:
  enum class State : unsigned char {
    ready,
    at_barrier,
    at_warp_barrier,
    at_exchange,
    at_collective,
    finished
  };
  struct Thread;
  struct Warp {
    char arrive, depart;  // addresses only: the two tags of the warp's barrier
  };
  /// One pass over the threads of a warp, each up to where it waits next.
  struct Pass {
    unsigned order[kWarpSize];
    unsigned first, count, next;
    unsigned in_collective;  // threads that have come to a collective
  };

  void prepare(const Grid& grid);
  void run_warp(unsigned warp);
  void begin(Thread& thread, Fiber& fiber);
  Thread* next_ready();
  bool begin_next(Fiber& fiber);
  Fiber& next_fiber();
  Fiber& take_fiber();
  void give_back(Fiber& fiber);
  void wait(State state, std::source_location where);
  bool complete_phase();
  void complete_warp(unsigned warp, unsigned first, unsigned count);
  void complete_collective(unsigned first, unsigned count);
  [[noreturn]] void divergent(const char* what, const Thread& a, const Thread& b) const;
  std::string describe(const Thread& thread) const;
  void shuffle(unsigned* order, unsigned count);
  static void entry(void* runner);

  std::size_t capacity_;
  StackPool stacks_;
  Fiber home_;
  std::unique_ptr<Fiber[]> fibers_;
  std::unique_ptr<Thread[]> threads_;
  std::unique_ptr<AsyncCopies[]> copies_;
  std::vector<Fiber*> idle_;     // of those that this block has begun to use
  std::size_t fibers_used_ = 0;  // the others were not
  bool copied_ = false;          // this block has issued copies or closed groups
  unsigned count_ = 0;
  Thread* running_ = nullptr;
  Pass pass_{};
  const Grid* grid_ = nullptr;
  dim3 block_index_, block_shape_{0, 0, 0};
  std::uint64_t random_ = 0;
  std::unique_ptr<char[]> arena_;
  std::size_t arena_bytes_ = 0;
  std::exception_ptr failure_;
  // Addresses only: what ThreadSanitizer knows the block's start, end and barrier by. The barrier
  // needs two tags; with one, the switches would order the threads and no race would be seen.
  char start_ = 0, end_ = 0, arrive_ = 0, depart_ = 0;
  std::unique_ptr<Warp[]> warps_;
};

}  // namespace plumbline::emulation

#endif
