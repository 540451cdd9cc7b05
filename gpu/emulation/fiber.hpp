// SPDX-License-Identifier: Apache-2.0
// A stack that can be left and entered again. Built on jump_fcontext instead of
// boost::context::fiber, because the stack is kept from block to block: a switch costs tens of
// nanoseconds, a fresh stack a microsecond.
#ifndef PLUMBLINE_GPU_EMULATION_FIBER_HPP
#define PLUMBLINE_GPU_EMULATION_FIBER_HPP

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#include "emulation/sanitizers.hpp"

namespace plumbline::emulation {

/// The stacks of all threads of a block: one mapping, a guard page below each stack.
class StackPool {
 public:
  explicit StackPool(std::size_t count);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  static std::size_t usable_bytes();
  /// Lowest usable byte of stack `index`.
  char* bottom(std::size_t index) const;

 private:
  char* mapping_;
  std::size_t bytes_;
};

/// One CUDA thread's flow of control. `resume` is called by the scheduler, `suspend` and `finish`
/// from inside. All of it stays on one operating-system thread while a block runs.
class Fiber {
 public:
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Gives the fiber its stack. `index` spreads the tops of the stacks over the cache's sets.
  void adopt(char* stack_bottom, std::size_t bytes, std::size_t index);
  /// Prepares a run of entry(argument); entry must end with finish().
  void start(void (*entry)(void*), void* argument);
  void resume();
  void suspend();
  [[noreturn]] void finish();

 private:
  static void trampoline(boost::context::detail::transfer_t transfer);
  void arrived(void* fake_stack);

  boost::context::detail::fcontext_t context_ = nullptr;
  boost::context::detail::fcontext_t scheduler_ = nullptr;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  char* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  // For the sanitizers only.
  const void* scheduler_bottom_ = nullptr;
  std::size_t scheduler_bytes_ = 0;
  void* thread_ = nullptr;
  void* scheduler_thread_ = nullptr;
};

// Inline: after a switch the processor mispredicts the return of every function that is on the
// stack, so there should be few.

inline void Fiber::arrived([[maybe_unused]] void* fake_stack) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake_stack, &scheduler_bottom_, &scheduler_bytes_);
#endif
}

inline void Fiber::resume() {
#ifdef __SANITIZE_ADDRESS__
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, bottom_, bytes_);
#endif
#ifdef PLUMBLINE_THREAD_SANITIZER
  // Flag 1: the switch itself orders nothing. Only barriers do, or no race would ever be found.
  scheduler_thread_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(thread_, 1);
#endif
  context_ = boost::context::detail::jump_fcontext(context_, this).fctx;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

inline void Fiber::suspend() {
  void* fake_stack = nullptr;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&fake_stack, scheduler_bottom_, scheduler_bytes_);
#endif
#ifdef PLUMBLINE_THREAD_SANITIZER
  __tsan_switch_to_fiber(scheduler_thread_, 1);
#endif
  scheduler_ = boost::context::detail::jump_fcontext(scheduler_, nullptr).fctx;
  arrived(fake_stack);
}

}  // namespace plumbline::emulation

#endif
