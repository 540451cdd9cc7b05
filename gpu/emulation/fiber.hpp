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

/// A flow of control: a CUDA thread's, or that of the operating system's thread that runs the block
/// ("home"). Fibers of a block hand over to each other directly; all stay on one thread of the
/// operating system while the block runs.
class Fiber {
 public:
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Makes this the calling thread's own flow, which has a stack already.
  void be_home();
  /// Gives the fiber its stack. `index` spreads the tops of the stacks over the cache's sets.
  void adopt(char* stack_bottom, std::size_t bytes, std::size_t index);
  /// Prepares a run of entry(argument), which begins when another fiber switches to this one;
  /// entry must end with finish().
  void start(void (*entry)(void*), void* argument);
  /// From inside of this fiber: `to` goes on where it was. Returns when one switches back.
  void switch_to(Fiber& to);
  /// The same for the last time; this fiber can be started afresh.
  [[noreturn]] void finish(Fiber& to);

 private:
  static void trampoline(boost::context::detail::transfer_t transfer);
  static Fiber& arrived(boost::context::detail::transfer_t transfer, void* fake_stack);
  void leave_for(Fiber& to, void** fake_stack);

  boost::context::detail::fcontext_t context_ = nullptr;
  Fiber* target_ = nullptr;  // of the switch under way
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  char* stack_ = nullptr;  // null for home
  std::size_t stack_bytes_ = 0;
  // For the sanitizers only: the stack as AddressSanitizer knows it, ThreadSanitizer's fiber.
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* thread_ = nullptr;
  bool owns_thread_ = false;
};

// Inline: after a switch the processor mispredicts the return of every function that is on the
// stack, so there should be few.

inline void Fiber::leave_for(Fiber& to, [[maybe_unused]] void** fake_stack) {
  target_ = &to;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(fake_stack, to.bottom_, to.bytes_);
#endif
#ifdef PLUMBLINE_THREAD_SANITIZER
  // Flag 1: the switch itself orders nothing. Only barriers do, or no race would ever be found.
  __tsan_switch_to_fiber(to.thread_, 1);
#endif
}

/// Keeps where the fiber that was left will go on; returns that fiber.
inline Fiber& Fiber::arrived(boost::context::detail::transfer_t transfer,
                             [[maybe_unused]] void* fake_stack) {
  auto& left = *static_cast<Fiber*>(transfer.data);
  left.context_ = transfer.fctx;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake_stack, &left.bottom_, &left.bytes_);
#endif
  return left;
}

inline void Fiber::switch_to(Fiber& to) {
  void* fake_stack = nullptr;
  leave_for(to, &fake_stack);
  arrived(boost::context::detail::jump_fcontext(to.context_, this), fake_stack);
}

}  // namespace plumbline::emulation

#endif
