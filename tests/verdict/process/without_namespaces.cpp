// SPDX-License-Identifier: Apache-2.0
// usage: without_namespaces PROGRAM ARGUMENT...
// Runs a program on a system that refuses it new namespaces, as many containers do.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  // clone() with flags for namespaces fails with EPERM. A process as such has clone3 or fork.
  constexpr unsigned namespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS;
  sock_filter filter[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                          {BPF_JMP | BPF_JEQ | BPF_K, 0, 2, SYS_clone},
                          {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, args)},
                          {BPF_JMP | BPF_JSET | BPF_K, 1, 0, namespaces},
                          {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
                          {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM}};
  const sock_fprog program{sizeof filter / sizeof filter[0], filter};
  // An administrator may keep the rights of programs as they are; others may not.
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
      std::perror("without_namespaces: PR_SET_SECCOMP");
      return 3;
    }
  }
  execvp(argv[1], argv + 1);
  std::perror(argv[1]);
  return 3;
}
