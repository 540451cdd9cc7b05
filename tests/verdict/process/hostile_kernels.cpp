// SPDX-License-Identifier: Apache-2.0
// Kernels that attack what watches them: the judge, its descriptors, the handlers of signals and
// the guards. fp32 without bias. Loading installs a handler for SIGSEGV, as some runtimes do.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "verdict/process/protocol.hpp"

namespace {

using namespace plumbline::kernel_process;
using Problem = const plumbline_problem*;
using Outputs = const plumbline_outputs*;

volatile float sink;

std::size_t o_count(Problem p) {
  return static_cast<std::size_t>(p->batch) * p->heads * p->queries * p->head_dim;
}

int zeros(Problem p, Outputs out) {
  std::fill_n(static_cast<float*>(out->o), o_count(p), 0.0f);
  std::fill_n(out->lse, o_count(p) / p->head_dim, 0.0f);
  return 0;
}

// Handlers.

sigjmp_buf before_the_fault;
void jump_back(int) { siglongjmp(before_the_fault, 1); }

void map_the_page(int, siginfo_t* info, void*) {
  const std::uintptr_t page =
      reinterpret_cast<std::uintptr_t>(info->si_addr) & ~std::uintptr_t{4095};
  mmap(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

struct sigaction action_of(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_NODEFER;
  return action;
}

int reads_and_jumps_back(Problem p, Outputs out, char*, std::size_t) {
  const auto mine = action_of(jump_back);
  struct sigaction before {};
  sigaction(SIGSEGV, nullptr, &before);
  sigaction(SIGSEGV, &mine, nullptr);
  if (sigsetjmp(before_the_fault, 1) == 0) {
    sink = static_cast<const float*>(p->k)[o_count(p) + 16];
  }
  sigaction(SIGSEGV, &before, nullptr);
  return zeros(p, out);
}

int writes_and_maps_the_page(Problem p, Outputs out, char*, std::size_t) {
  struct sigaction mine {};
  mine.sa_sigaction = map_the_page;
  mine.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &mine, nullptr);
  static_cast<volatile float*>(out->o)[o_count(p) + 16] = 1;
  return zeros(p, out);
}

int only_installs_a_handler(Problem p, Outputs out, char*, std::size_t) {
  signal(SIGSEGV, jump_back);
  signal(SIGBUS, jump_back);
  return zeros(p, out);
}

/// Of the array: the page after its last one.
char* guard_after(void* array, std::size_t bytes) {
  const auto last = reinterpret_cast<std::uintptr_t>(array) + bytes - 1;
  return reinterpret_cast<char*>((last | 4095) + 1);
}

int opens_a_guard_to_write(Problem p, Outputs out, char*, std::size_t) {
  char* guard = guard_after(out->o, o_count(p) * sizeof(float));
  mprotect(guard, 4096, PROT_READ | PROT_WRITE);
  guard[5] = 1;
  mprotect(guard, 4096, PROT_NONE);
  return zeros(p, out);
}

int opens_a_guard_to_read(Problem p, Outputs out, char*, std::size_t) {
  char* guard = guard_after(out->lse, o_count(p) / p->head_dim * sizeof(float));
  mprotect(guard, 4096, PROT_READ);
  sink = static_cast<float>(*static_cast<volatile char*>(guard));
  return zeros(p, out);
}

// Processes.

/// The judge, which the test has told, since its number is hidden here; else the parent.
pid_t judge() {
  const char* number = std::getenv("PLUMBLINE_TEST_JUDGE");
  return number != nullptr ? std::atoi(number) : getppid();
}

int kills_the_judge(Problem p, Outputs out, char*, std::size_t) {
  kill(judge(), SIGKILL);
  return zeros(p, out);
}

int kills_itself(Problem, Outputs, char*, std::size_t) { return kill(getpid(), SIGKILL); }

/// By a program that has what rights an administrator's programs are given.
int looks_into_the_judge(Problem, Outputs, char* message, std::size_t size) {
  const std::string command = "exec 2>/dev/null </proc/" + std::to_string(judge()) + "/mem";
  const bool opened = std::system(command.c_str()) == 0;
  std::snprintf(message, size, "%s", opened ? "the judge's memory is open" : "refused");
  return 100;
}

int leaves_a_daemon(Problem p, Outputs out, char*, std::size_t) {
  const char* path = std::getenv("PLUMBLINE_TEST_DAEMON");
  int ready[2];
  if (path == nullptr || pipe(ready) != 0) return 100;
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    signal(SIGHUP, SIG_IGN);
    const int lock = open(path, O_RDWR | O_CREAT, 0600);
    (void)!flock(lock, LOCK_EX | LOCK_NB);  // the daemon of an earlier call may have it
    if (write(ready[1], "x", 1) != 1) _exit(1);
    while (true) pause();
  }
  wait(nullptr);
  char byte;
  if (read(ready[0], &byte, 1) != 1) return 101;
  return zeros(p, out);
}

int eats_memory(Problem, Outputs, char*, std::size_t) {
  constexpr std::size_t piece = std::size_t{16} << 20;
  while (true) {
    void* memory = mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 100;
    std::memset(memory, 1, piece);
  }
}

// The protocol. The first question of a process has number 1.

Reply forged(Answer answer) {
  Reply reply{};
  reply.number = 1;
  reply.answer = answer;
  return reply;
}

int sent(const Reply& reply) {
  return send(host_socket, &reply, sizeof reply, 0) == sizeof reply ? 0 : 100;
}

int speaks_nonsense(Problem p, Outputs out, char*, std::size_t) {
  if (write(host_socket, "nonsense", 8) != 8) return 100;
  return zeros(p, out);
}

int forges_an_index(Problem, Outputs, char*, std::size_t) {
  Reply reply = forged(answer_opened_guard);
  reply.array = 1000;
  return sent(reply);
}

int forges_damage_on_a_device(Problem, Outputs, char*, std::size_t) {
  Reply reply = forged(answer_wrote_outside);
  reply.array = 1000;
  return sent(reply);
}

int forges_a_lack(Problem, Outputs, char*, std::size_t) {
  Reply reply = forged(answer_machine_lacks);
  std::strcpy(reply.text, "all 200 cases pass");
  return sent(reply);
}

int forges_an_introduction(Problem, Outputs, char*, std::size_t) {
  return sent(forged(answer_library));
}

int answers_without_reading(Problem, Outputs, char*, std::size_t) {
  for (Reply reply = forged(answer_status);; ++reply.number) sent(reply);
}

int closes_the_socket(Problem, Outputs, char*, std::size_t) {
  close(host_socket);
  while (true) pause();
}

int closes_all_descriptors(Problem, Outputs, char*, std::size_t) {
  for (int descriptor = host_socket; descriptor < 1024; ++descriptor) close(descriptor);
  return 0;
}
/// By mistake: the arrays lie in memory that had these numbers.
int writes_to_descriptors(Problem p, Outputs out, char*, std::size_t) {
  for (const int descriptor : {host_inputs, host_outputs}) {
    if (write(descriptor, "nonsense", 8) == 8) return 1;
  }
  return zeros(p, out);
}

int supports(Problem p, int32_t) {
  constexpr std::int32_t not_computed =
      PLUMBLINE_HAS_ROPE | PLUMBLINE_HAS_SOFTCAP | PLUMBLINE_HAS_SINKS | PLUMBLINE_HAS_MASK |
      PLUMBLINE_HAS_VALUE_DIM | PLUMBLINE_HAS_LSE_GRADIENT | PLUMBLINE_HAS_DROPOUT |
      PLUMBLINE_HAS_STRIDES | PLUMBLINE_HAS_PACKED_SEQUENCES;
  return p->format == PLUMBLINE_FP32 && p->bias == PLUMBLINE_NOPE &&
         (plumbline_features(p) & not_computed) == 0;
}
int supports_speaks_nonsense(Problem p, int32_t pass) {
  if (write(host_socket, "nonsense", 8) != 8) return 0;
  return supports(p, pass);
}

using Pass = int (*)(Problem, Outputs, char*, std::size_t);
constexpr plumbline_kernel entry(const char* name, Pass forward,
                                 int (*asked)(Problem, int32_t) = supports) {
  plumbline_kernel kernel{};
  kernel.name = name;
  plumbline_contract& contract = kernel.contracts[PLUMBLINE_FP32];
  contract.unit_roundoff = 0x1p-24;
  contract.exp_error = 0x1p-20;
  contract.splits = 1;
  kernel.deterministic = 1;
  kernel.supports = asked;
  kernel.forward = forward;
  return kernel;
}

#define KERNEL(name) entry(#name, name)
constexpr plumbline_kernel kernels[] = {
    KERNEL(reads_and_jumps_back),
    KERNEL(writes_and_maps_the_page),
    KERNEL(only_installs_a_handler),
    KERNEL(opens_a_guard_to_write),
    KERNEL(opens_a_guard_to_read),
    KERNEL(kills_the_judge),
    KERNEL(kills_itself),
    KERNEL(looks_into_the_judge),
    KERNEL(leaves_a_daemon),
    KERNEL(eats_memory),
    KERNEL(speaks_nonsense),
    KERNEL(forges_an_index),
    KERNEL(forges_damage_on_a_device),
    KERNEL(forges_a_lack),
    KERNEL(forges_an_introduction),
    KERNEL(answers_without_reading),
    KERNEL(closes_the_socket),
    KERNEL(closes_all_descriptors),
    KERNEL(writes_to_descriptors),
    entry("supports_speaks_nonsense", only_installs_a_handler, supports_speaks_nonsense)};
constexpr plumbline_library library{PLUMBLINE_ABI_VERSION, "hostile kernels", "CPU",
                                    sizeof kernels / sizeof kernels[0], kernels};

}  // namespace

extern "C" const plumbline_library* plumbline_kernel_library() {
  const char* how = std::getenv("PLUMBLINE_TEST_LOADING");
  if (how != nullptr && std::string(how) == "nonsense") {
    if (write(host_socket, "nonsense", 8) != 8) _exit(5);
  }
  if (how != nullptr && std::string(how) == "many") {
    Reply reply = forged(answer_library);
    reply.number = 0;
    reply.status = 1 << 30;
    sent(reply);
  }
  signal(SIGSEGV, jump_back);
  static plumbline_library fewer = library;
  fewer.kernel_count = 1;
  return how != nullptr && std::string(how) == "fewer" ? &fewer : &library;
}
