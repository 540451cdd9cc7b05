// SPDX-License-Identifier: Apache-2.0
#include "emulation/fiber.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "emulation/sanitizers.hpp"

namespace plumbline::emulation {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {

constexpr std::size_t kGuardBytes = 4096;
// Instrumented code has much larger frames, and a report is written from the kernel's own stack.
#if defined(__SANITIZE_ADDRESS__) || defined(PLUMBLINE_THREAD_SANITIZER)
constexpr std::size_t kStackBytes = 512 * 1024;
#else
constexpr std::size_t kStackBytes = 128 * 1024;
#endif

}  // namespace

StackPool::StackPool(std::size_t count) : bytes_(count * kStackBytes) {
  void* mapping = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<char*>(mapping);
  for (std::size_t i = 0; i < count; ++i)
    mprotect(mapping_ + i * kStackBytes, kGuardBytes, PROT_NONE);
}

StackPool::~StackPool() {
  permit(mapping_, bytes_);
  munmap(mapping_, bytes_);
}

std::size_t StackPool::usable_bytes() { return kStackBytes - kGuardBytes; }

char* StackPool::bottom(std::size_t index) const {
  return mapping_ + index * kStackBytes + kGuardBytes;
}

Fiber::~Fiber() {
#ifdef PLUMBLINE_THREAD_SANITIZER
  if (owns_thread_) __tsan_destroy_fiber(thread_);
#endif
}

void Fiber::be_home() {
#ifdef PLUMBLINE_THREAD_SANITIZER
  thread_ = __tsan_get_current_fiber();
#endif
}

void Fiber::adopt(char* stack_bottom, std::size_t bytes, std::size_t index) {
  // Stacks lie a power of two apart; without this offset all their tops would compete for the same
  // few cache lines, and every switch would miss.
  const std::size_t colour = (index * 192) % 16384 / 64 * 64;
  stack_ = stack_bottom;
  stack_bytes_ = bytes - colour;
#ifdef PLUMBLINE_THREAD_SANITIZER
  thread_ = __tsan_create_fiber(0);
  owns_thread_ = true;
#endif
}

void Fiber::start(void (*entry)(void*), void* argument) {
  entry_ = entry;
  argument_ = argument;
  bottom_ = stack_;
  bytes_ = stack_bytes_;
  permit(stack_, stack_bytes_);
  context_ = make_fcontext(stack_ + stack_bytes_, stack_bytes_, &Fiber::trampoline);
}

void Fiber::finish(Fiber& to) {
  leave_for(to, nullptr);
  jump_fcontext(to.context_, this);
  std::abort();  // a finished fiber is started afresh, never resumed
}

void Fiber::trampoline(transfer_t transfer) {
  const Fiber& self = *arrived(transfer, nullptr).target_;
  self.entry_(self.argument_);
  std::abort();
}

}  // namespace plumbline::emulation
