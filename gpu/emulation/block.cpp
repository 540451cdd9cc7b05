// SPDX-License-Identifier: Apache-2.0
#include "emulation/block.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "emulation/sanitizers.hpp"

constinit thread_local dim3 threadIdx{};
constinit thread_local dim3 blockIdx{};
constinit thread_local dim3 blockDim{};
constinit thread_local dim3 gridDim{};

namespace plumbline::emulation {

namespace {

thread_local BlockRunner* t_current = nullptr;

// Room between two shared arrays, out of bounds for AddressSanitizer; and how many arrays fit.
constexpr std::size_t kGap = 64;
constexpr std::size_t kMaxArrays = 64;
// NaN as float, as double and as bf16; far out of any range as an integer.
constexpr std::uint32_t kUninitialised = 0x7fffffffu;

bool same_place(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

std::string text(const dim3& i) {
  return "(" + std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z) + ")";
}

}  // namespace

/// What the scheduler knows of a CUDA thread, in one line of the cache.
struct alignas(64) BlockRunner::Thread {
  std::uint64_t bits = 0;
  void* argument = nullptr;
  void (*complete)(void* const*) = nullptr;
  std::source_location where;
  Fiber* fiber = nullptr;  // null before the thread has begun
  dim3 index;
  unsigned source_lane = 0;
  State state = State::finished;
};

BlockRunner::BlockRunner(std::size_t threads)
    : capacity_(threads),
      stacks_(threads),
      fibers_(new Fiber[threads]),
      threads_(new Thread[threads]),
      copies_(new AsyncCopies[threads]),
      warps_(new Warp[(threads + kWarpSize - 1) / kWarpSize]) {
  for (std::size_t i = 0; i < threads; ++i)
    fibers_[i].adopt(stacks_.bottom(i), StackPool::usable_bytes(), i);
}

BlockRunner::~BlockRunner() {
  if (arena_) permit(arena_.get(), arena_bytes_);
}

BlockRunner& BlockRunner::current() {
  if (!t_current) throw Error("a device function was called outside of a kernel");
  return *t_current;
}

/// A fiber's run. A thread that returns without having waited leaves its stack as it found it, so
/// the next thread of the pass runs on it at once: kernels without barriers never switch.
void BlockRunner::entry(void* argument) {
  auto* block = static_cast<BlockRunner*>(argument);
  Fiber& fiber = *block->running_->fiber;
  acquire(&block->start_);
  do {
    try {
      block->grid_->body(block->grid_->arguments);
    } catch (...) {
      block->failure_ = std::current_exception();
    }
    block->running_->state = State::finished;
  } while (block->begin_next(fiber));
  release(&block->end_);
  block->give_back(fiber);
  fiber.finish(block->next_fiber());
}

void BlockRunner::begin(Thread& thread, Fiber& fiber) {
  thread.fiber = &fiber;
  running_ = &thread;
  threadIdx = thread.index;
}

/// The next thread of the pass that is ready, or null: all have had their turn, or one has failed.
BlockRunner::Thread* BlockRunner::next_ready() {
  if (failure_) return nullptr;
  for (; pass_.next < pass_.count; ++pass_.next) {
    Thread& thread = threads_[pass_.first + pass_.order[pass_.next]];
    if (thread.state == State::ready) return &thread;
  }
  return nullptr;
}

/// Makes the next thread the running one, on this fiber; false where there is none, or it waits on
/// a fiber of its own. To ThreadSanitizer every thread must be another fiber.
bool BlockRunner::begin_next([[maybe_unused]] Fiber& fiber) {
#ifndef PLUMBLINE_THREAD_SANITIZER
  Thread* const thread = next_ready();
  if (!thread || thread->fiber) return false;
  ++pass_.next;
  begin(*thread, fiber);
  return true;
#else
  return false;
#endif
}

/// Makes the next thread the running one and returns its fiber; without one, home.
Fiber& BlockRunner::next_fiber() {
  Thread* const thread = next_ready();
  if (!thread) return home_;
  ++pass_.next;
  if (thread->fiber) {
    begin(*thread, *thread->fiber);
  } else {
    begin(*thread, take_fiber());
    thread->fiber->start(&BlockRunner::entry, this);
  }
  return *thread->fiber;
}

Fiber& BlockRunner::take_fiber() {
  if (idle_.empty()) return fibers_[fibers_used_++];
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  return fiber;
}

void BlockRunner::give_back([[maybe_unused]] Fiber& fiber) {
#ifndef PLUMBLINE_THREAD_SANITIZER
  idle_.push_back(&fiber);
#endif
}

void BlockRunner::prepare(const Grid& grid) {
  const std::size_t needed = grid.shared_bytes + kMaxArrays * (kGap + 16) + kGap;
  if (needed > arena_bytes_) {
    if (arena_) permit(arena_.get(), arena_bytes_);
    arena_.reset(new char[needed]);
    arena_bytes_ = needed;
  }
  permit(arena_.get(), arena_bytes_);
  auto* words = reinterpret_cast<std::uint32_t*>(arena_.get());
  std::fill(words, words + needed / sizeof(std::uint32_t), kUninitialised);
  forbid(arena_.get(), arena_bytes_);  // until shared_array() hands it out

  blockDim = grid.block;
  gridDim = grid.grid;
  blockIdx = block_index_;
  const dim3& shape = grid.block;
  count_ = shape.x * shape.y * shape.z;
  if (shape.x != block_shape_.x || shape.y != block_shape_.y || shape.z != block_shape_.z) {
    for (unsigned i = 0; i < count_; ++i)
      threads_[i].index = {i % shape.x, i / shape.x % shape.y, i / (shape.x * shape.y)};
    block_shape_ = shape;
  }
  for (unsigned i = 0; i < count_; ++i) {
    threads_[i].state = State::ready;
    threads_[i].fiber = nullptr;
  }
  idle_.clear();
  fibers_used_ = 0;
  if (copied_)
    for (std::size_t i = 0; i < capacity_; ++i) copies_[i].clear();
  copied_ = false;
}

void BlockRunner::run(const Grid& grid, dim3 block_index, std::uint64_t order_seed) {
  grid_ = &grid;
  block_index_ = block_index;
  random_ = order_seed | 1;
  failure_ = nullptr;
  struct Current {
    explicit Current(BlockRunner* runner) { t_current = runner; }
    ~Current() { t_current = nullptr; }
  } current(this);
  prepare(grid);
  home_.be_home();
  release(&start_);
  const unsigned warps = (count_ + kWarpSize - 1) / kWarpSize;
  unsigned order[kWarpSize];
  do {
    shuffle(order, warps);
    for (unsigned w = 0; w < warps; ++w) run_warp(order[w]);
  } while (complete_phase());
  acquire(&end_);
}

/// A Fisher-Yates shuffle of 0 .. count-1 on a xorshift generator.
void BlockRunner::shuffle(unsigned* order, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    const auto j = static_cast<unsigned>(((random_ >> 32) * (i + 1)) >> 32);
    order[i] = order[j];
    order[j] = i;
  }
}

/// Runs a warp until all its threads wait at the block's barrier or have returned.
void BlockRunner::run_warp(unsigned warp) {
  pass_.first = warp * kWarpSize;
  pass_.count = std::min(kWarpSize, count_ - pass_.first);
  for (;;) {
    shuffle(pass_.order, pass_.count);
    pass_.next = 0;
    pass_.in_collective = 0;
    if (Fiber& first = next_fiber(); &first != &home_) home_.switch_to(first);
    if (failure_) std::rethrow_exception(failure_);
    if (pass_.in_collective == 0) return;
    complete_warp(warp, pass_.first, pass_.count);
  }
}

/// All threads of a warp have come to a collective: exchanges the values and lets them go on.
void BlockRunner::complete_warp(unsigned warp, unsigned first, unsigned count) {
  std::uint64_t bits[kWarpSize];
  const Thread& leader = threads_[first];
  for (unsigned lane = 0; lane < count; ++lane) {
    const Thread& thread = threads_[first + lane];
    if (thread.state != leader.state || !same_place(thread.where, leader.where))
      divergent("divergent warp collective", leader, thread);
    if (thread.source_lane >= count)
      throw Error(emulation::text(thread.where) + ": a shuffle reads lane " +
                  std::to_string(thread.source_lane) + " of a warp of " + std::to_string(count));
    bits[lane] = thread.bits;
  }
  if (leader.state == State::at_warp_barrier) {
    acquire(&warps_[warp].arrive);
    release(&warps_[warp].depart);
  }
  if (leader.state == State::at_collective) complete_collective(first, count);
  for (unsigned lane = 0; lane < count; ++lane) {
    Thread& thread = threads_[first + lane];
    thread.bits = bits[thread.source_lane];
    thread.state = State::ready;
  }
}

void BlockRunner::complete_collective(unsigned first, unsigned count) {
  const Thread& leader = threads_[first];
  if (count < kWarpSize)
    throw Error(emulation::text(leader.where) + ": a collective of all lanes in a warp of " +
                std::to_string(count));
  void* arguments[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    arguments[lane] = threads_[first + lane].argument;
  leader.complete(arguments);
}

/// True when the threads go on from a barrier, false when all have returned.
bool BlockRunner::complete_phase() {
  const Thread& leader = threads_[0];
  for (unsigned i = 1; i < count_; ++i) {
    const Thread& thread = threads_[i];
    if (thread.state != leader.state ||
        (thread.state == State::at_barrier && !same_place(thread.where, leader.where)))
      divergent("divergent barrier", leader, thread);
  }
  if (leader.state == State::finished) return false;
  acquire(&arrive_);
  release(&depart_);
  for (unsigned i = 0; i < count_; ++i) threads_[i].state = State::ready;
  return true;
}

std::string BlockRunner::describe(const Thread& thread) const {
  return "thread " + text(thread.index) +
         (thread.state == State::finished ? " has returned"
                                          : " waits at " + emulation::text(thread.where));
}

void BlockRunner::divergent(const char* what, const Thread& a, const Thread& b) const {
  const Thread& waiting = a.state == State::finished ? b : a;
  throw Error(emulation::text(waiting.where) + ": " + what + " in block " + text(block_index_) +
              ": " + describe(a) + ", " + describe(b));
}

void BlockRunner::wait(State state, std::source_location where) {
  Thread& thread = *running_;
  thread.state = state;
  thread.where = where;
  if (state != State::at_barrier) ++pass_.in_collective;
  thread.fiber->switch_to(next_fiber());
}

void BlockRunner::block_barrier(std::source_location where) {
  release(&arrive_);
  wait(State::at_barrier, where);
  acquire(&depart_);
}

void BlockRunner::warp_barrier(std::source_location where) {
  Warp& warp = warps_[(running_ - threads_.get()) / kWarpSize];
  running_->source_lane = 0;
  release(&warp.arrive);
  wait(State::at_warp_barrier, where);
  acquire(&warp.depart);
}

std::uint64_t BlockRunner::warp_exchange(std::uint64_t bits, unsigned lane,
                                         std::source_location where) {
  Thread& thread = *running_;
  thread.bits = bits;
  thread.source_lane = lane;
  wait(State::at_exchange, where);
  return thread.bits;
}

void BlockRunner::warp_collective(void* argument, void (*complete)(void* const*),
                                  std::source_location where) {
  Thread& thread = *running_;
  thread.source_lane = 0;
  thread.argument = argument;
  thread.complete = complete;
  wait(State::at_collective, where);
}

void BlockRunner::async_copy_issue(const AsyncCopy& copy) {
  copied_ = true;
  copies_[running_ - threads_.get()].issue(copy);
}

void BlockRunner::async_copy_commit() {
  copied_ = true;
  copies_[running_ - threads_.get()].commit();
}

bool BlockRunner::async_copy_next(int pending, AsyncCopy& copy) {
  return copies_[running_ - threads_.get()].next(static_cast<unsigned>(pending), copy);
}

void* BlockRunner::shared_array(std::size_t& used, std::size_t& offset, std::size_t bytes,
                                std::source_location where) {
  const std::size_t rounded = (bytes + 15) / 16 * 16;  // as SharedMemory places arrays under nvcc
  used += rounded;
  if (used > grid_->shared_bytes)
    throw Error(emulation::text(where) + ": the kernel's shared arrays need " +
                std::to_string(used) + " bytes, the launch gave " +
                std::to_string(grid_->shared_bytes));
  offset = offset == 0 ? kGap : offset;
  void* array = arena_.get() + offset;
  offset += rounded + kGap;
  if (offset > arena_bytes_) throw Error(emulation::text(where) + ": too many shared arrays");
  permit(array, bytes);
  return array;
}

void block_barrier(std::source_location where) { BlockRunner::current().block_barrier(where); }

void warp_barrier(std::source_location where) { BlockRunner::current().warp_barrier(where); }

std::uint64_t warp_exchange(std::uint64_t bits, unsigned lane, std::source_location where) {
  return BlockRunner::current().warp_exchange(bits, lane, where);
}

void warp_collective(void* argument, void (*complete)(void* const*), std::source_location where) {
  BlockRunner::current().warp_collective(argument, complete, where);
}

void async_copy_issue(const AsyncCopy& copy) { BlockRunner::current().async_copy_issue(copy); }

void async_copy_commit() { BlockRunner::current().async_copy_commit(); }

bool async_copy_next(int pending, AsyncCopy& copy) {
  return BlockRunner::current().async_copy_next(pending, copy);
}

void* shared_array(std::size_t& used, std::size_t& offset, std::size_t bytes,
                   std::source_location where) {
  return BlockRunner::current().shared_array(used, offset, bytes, where);
}

}  // namespace plumbline::emulation
