// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/faults.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstddef>

#include "verdict/process/protocol.hpp"

namespace plumbline::kernel_process {
namespace {

// A signal handler may neither allocate nor lock.
Reply fault;
pid_t own = 0;
std::atomic<bool> call_returned = false;

void on_signal(int signal, siginfo_t* info, void* context) {
  if (getpid() != own) _exit(0);  // a child that the kernel forked
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
  constexpr int page_fault = 14, writes = 2, fetches = 16;
  if (registers[REG_TRAPNO] == page_fault) {
    fault.access = registers[REG_ERR] & fetches  ? access_run
                   : registers[REG_ERR] & writes ? access_write
                                                 : access_read;
  }
#else
  (void)context;
#endif
  send(host_socket, &fault, sizeof fault, MSG_NOSIGNAL);
  // Now the end that it would have been without a handler (SA_RESETHAND).
  raise(signal);
}

}  // namespace

void hold_fault_handlers() {
#if defined(__x86_64__)
  constexpr unsigned machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr unsigned machine = AUDIT_ARCH_AARCH64;
#else
  constexpr unsigned machine = 0;
#endif
  static_assert(machine == 0 || std::endian::native == std::endian::little);
  constexpr unsigned arguments = offsetof(seccomp_data, args);
  const auto load = [](unsigned offset) -> sock_filter {
    return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset};
  };
  const auto jump = [](unsigned value, unsigned char if_equal,
                       unsigned char if_not) -> sock_filter {
    return {BPF_JMP | BPF_JEQ | BPF_K, if_equal, if_not, value};
  };
  const auto answer = [](unsigned value) -> sock_filter { return {BPF_RET | BPF_K, 0, 0, value}; };
  // rt_sigaction(SIGSEGV or SIGBUS, not null, ...) returns 0 and does nothing. Jumps count the
  // instructions that they leave out.
  sock_filter filter[] = {load(offsetof(seccomp_data, arch)),
                          jump(machine, 0, 9),
                          load(offsetof(seccomp_data, nr)),
                          jump(SYS_rt_sigaction, 0, 7),
                          load(arguments),
                          jump(SIGSEGV, 1, 0),
                          jump(SIGBUS, 0, 4),
                          load(arguments + 8),
                          jump(0, 0, 3),
                          load(arguments + 12),
                          jump(0, 0, 1),
                          answer(SECCOMP_RET_ALLOW),
                          answer(SECCOMP_RET_ERRNO)};
  const sock_fprog program{sizeof filter / sizeof filter[0], filter};
  // Not slower than without: the filter is no wall against what speculates.
  syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}

void note_return() { call_returned = true; }

void install_fault_handlers(std::uint64_t number) {
  fault.number = number;
  own = getpid();
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
