// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/supervisor.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "verdict/process/protocol.hpp"

namespace plumbline::kernel_process {
namespace {

/// Of the process that was started: the worker, or the first process of its namespaces.
volatile pid_t child = 0;
volatile sig_atomic_t told_to_end = 0;
sigset_t mask_before;

void end_child(int) {
  told_to_end = 1;
  if (child > 0) kill(child, SIGKILL);
}

bool write_text(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return written;
}

/// Who made the socket.
pid_t judge() {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(host_socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

/// How many processes the system has killed for want of memory; -1 where it does not say.
long killed_for_memory() {
  std::FILE* file = std::fopen("/proc/vmstat", "re");
  if (file == nullptr) return -1;
  char name[64];
  long value = 0, count = -1;
  while (count < 0 && std::fscanf(file, "%63s %ld", name, &value) == 2) {
    if (std::string(name) == "oom_kill") count = value;
  }
  std::fclose(file);
  return count;
}

/// Waits until the process has ended, and takes leave of any other on the way.
Ending await(pid_t process) {
  Ending result{};
  rusage used{};
  while (true) {
    const pid_t ended = wait4(-1, &result.status, 0, &used);
    if (ended == process) break;
    if (ended < 0 && errno != EINTR) break;
  }
  result.kibibytes = used.ru_maxrss;
  return result;
}

bool tell(int pipe, const Ending& end) { return write(pipe, &end, sizeof end) == sizeof end; }
bool hear(int pipe, Ending& end) { return read(pipe, &end, sizeof end) == sizeof end; }

/// The worker's: the judge sees it when they are closed.
void close_descriptors() {
  for (const int descriptor : {host_socket, host_inputs, host_outputs}) close(descriptor);
}

/// As fork(), into a namespace of processes of its own and one of mounts, for its /proc. Who may
/// not make them as it is may in a namespace of users.
pid_t fork_into_namespaces() {
  // Numbers of users and groups stay as they are. Known before the clone, after which they are not.
  const auto same = [](id_t id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
  const std::string user = same(geteuid()), group = same(getegid());
  for (const unsigned long own_users : {0UL, static_cast<unsigned long>(CLONE_NEWUSER)}) {
    const auto process = static_cast<pid_t>(
        syscall(SYS_clone, own_users | CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0));
    if (process < 0) continue;
    if (process > 0) return process;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (own_users &&
        !(write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", user) &&
          write_text("/proc/self/gid_map", group))) {
      _exit(1);
    }
    if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
      _exit(1);
    }
    return 0;
  }
  return -1;
}

/// The first process of the namespaces: with it all others in them end. Returns in the worker.
/// @param pipe gets two messages: that the worker was started, and how it ended.
void start_the_worker(int pipe) {
  prctl(PR_SET_DUMPABLE, 0);  // out of the worker's reach
  const pid_t worker = fork();
  if (worker == 0) return;
  if (worker < 0) _exit(1);
  close(host_ending);
  close_descriptors();
  tell(pipe, {});
  tell(pipe, await(worker));
  _exit(0);
}

void be_the_worker() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  close(host_ending);
  prctl(PR_SET_DUMPABLE, 1);
  // Where memory runs out, rather than the judge. Half of all memory on top of its own.
  write_text("/proc/self/oom_score_adj", "500");
  sigprocmask(SIG_SETMASK, &mask_before, nullptr);
}

/// Ends what has lost its parents, which are this process's children now, and theirs.
void end_the_rest() {
  while (true) {
    std::FILE* children = std::fopen("/proc/thread-self/children", "re");
    if (children == nullptr) return;
    int process = 0;
    while (std::fscanf(children, "%d", &process) == 1) kill(process, SIGKILL);
    std::fclose(children);
    if (waitpid(-1, nullptr, 0) < 0) return;
  }
}

}  // namespace

bool become_the_worker() {
  // The judge's end is this process's.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != judge()) _exit(1);  // it was gone before it could be that
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const long killed_before = killed_for_memory();
  signal(SIGCHLD, SIG_DFL);  // whatever the judge's parent has chosen
  sigset_t terminate;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  sigprocmask(SIG_BLOCK, &terminate, &mask_before);
  struct sigaction action {};
  action.sa_handler = end_child;
  action.sa_flags = SA_RESTART;
  for (const bool apart : {true, false}) {
    if (!apart) prctl(PR_SET_DUMPABLE, 0);
    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC) != 0) _exit(1);
    const pid_t process = apart ? fork_into_namespaces() : fork();
    if (process == 0) {
      close(pipe[0]);
      if (apart) start_the_worker(pipe[1]);
      close(pipe[1]);
      be_the_worker();
      return apart;
    }
    close(pipe[1]);
    if (process < 0) {
      close(pipe[0]);
      continue;
    }
    child = process;
    sigaction(SIGTERM, &action, nullptr);
    sigprocmask(SIG_UNBLOCK, &terminate, nullptr);
    Ending end{};
    const bool started = !apart || hear(pipe[0], end);
    if (started) close_descriptors();
    end = await(process);
    child = 0;
    if (told_to_end || started) {
      end_the_rest();
      if (told_to_end) _exit(0);
      if (apart) hear(pipe[0], end);
      end.killed_for_memory = killed_before >= 0 && killed_for_memory() > killed_before;
      tell(host_ending, end);
      _exit(0);
    }
    sigprocmask(SIG_BLOCK, &terminate, nullptr);
    close(pipe[0]);
  }
  _exit(1);
}

}  // namespace plumbline::kernel_process
