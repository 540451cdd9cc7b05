// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/last_words.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "support/leftovers.hpp"

namespace plumbline::verdict {
namespace {

// A signal handler may neither allocate nor lock: a buffer that is filled beforehand.
char words[2048];
volatile sig_atomic_t word_count = 0;

void say(const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(STDERR_FILENO, text, size);
    if (written <= 0) return;
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}

void say_last_words(const char* how) {
  say("plumbline: the kernel ", 22);
  say(how, std::strlen(how));
  say(words, static_cast<std::size_t>(word_count));
  Leftover::remove_all();
}

void on_signal(int signal) {
  if (word_count > 0) {
    say_last_words(signal == SIGABRT ? "aborted" : "crashed");
    _exit(1);
  }
  // Not the kernel's doing: as if there were no handler.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  raise(signal);
}

void on_exit() {
  if (word_count == 0) return;
  say_last_words("ended the program");
  _exit(1);
}

}  // namespace

void install_last_words() {
  std::atexit(on_exit);
  // A stack of its own: the kernel may have used up the program's.
  static char stack[65536];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(signal, &action, nullptr);
  }
}

KernelRuns::KernelRuns(const std::string& text) {
  const std::size_t size = std::min(text.size(), sizeof words);
  std::memcpy(words, text.data(), size);
  word_count = static_cast<sig_atomic_t>(size);
}

KernelRuns::~KernelRuns() { word_count = 0; }

}  // namespace plumbline::verdict
