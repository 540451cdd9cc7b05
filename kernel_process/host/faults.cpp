// SPDX-License-Identifier: Apache-2.0
#include "kernel_process/host/faults.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "kernel_process/protocol.hpp"

namespace plumbline::kernel_process {
namespace {

// A signal handler may neither allocate nor lock.
Reply fault;
std::atomic<bool> call_returned = false;

void on_signal(int signal, siginfo_t* info, void* context) {
  fault.answer = answer_fault;
  fault.signal = signal;
  fault.code = info->si_code;
  fault.access = access_unknown;
  fault.returned = call_returned;
  fault.other_thread = gettid() != getpid();
  // Sent by a process (abort, kill): no address.
  fault.address = info->si_code > 0 ? reinterpret_cast<std::uint64_t>(info->si_addr) : 0;
#ifdef __x86_64__
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  fault.stack_pointer = static_cast<std::uint64_t>(registers[REG_RSP]);
  constexpr int page_fault = 14, writes = 2;
  if (registers[REG_TRAPNO] == page_fault) {
    fault.access = registers[REG_ERR] & writes ? access_write : access_read;
  }
#else
  (void)context;
#endif
  send(host_socket, &fault, sizeof fault, MSG_NOSIGNAL);
  // Now the end that it would have been without a handler (SA_RESETHAND).
  raise(signal);
}

}  // namespace

void note_return() { call_returned = true; }

void install_fault_handlers(std::uint64_t number) {
  fault.number = number;
  call_returned = false;
  static char stack[65536];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace plumbline::kernel_process
