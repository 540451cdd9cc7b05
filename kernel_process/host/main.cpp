// SPDX-License-Identifier: Apache-2.0
// plumbline-kernel-host: the process that a kernel library runs in. It loads the library and calls
// its kernels on arrays that the judge lays into shared memory; it knows no expected output.
// Started by the judge (kernel_process/child.cpp), of no use to a person.
#include <linux/capability.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "kernel_process/host/faults.hpp"
#include "kernel_process/host/opened_files.hpp"
#include "kernel_process/host/other_threads.hpp"
#include "kernel_process/load.hpp"
#include "kernel_process/protocol.hpp"
#include "support/error.hpp"

namespace plumbline::kernel_process {
namespace {

// Large, and answered from one thread.
Reply reply;
Request request;

void set_text(char (&into)[text_bytes], const char* text) {
  std::snprintf(into, sizeof into, "%s", text);
}

/// Ends the process when the judge is gone.
void send_reply(std::uint64_t number, Answer answer) {
  reply.number = number;
  reply.answer = answer;
  if (send(host_socket, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply) _exit(1);
}

/// The addresses that arrays are shown at, and nothing else is: windows, of which a call has one.
class Windows {
 public:
  Windows() {
    struct stat inputs {
    }, outputs{};
    if (fstat(host_inputs, &inputs) != 0 || fstat(host_outputs, &outputs) != 0) _exit(1);
    bytes_ = window_bytes(static_cast<std::uint64_t>(inputs.st_size),
                          static_cast<std::uint64_t>(outputs.st_size));
    void* address = mmap(nullptr, window_count * bytes_, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) _exit(1);
    base_ = static_cast<char*>(address);
  }
  char* base() const { return base_; }

  /// @returns where the array starts.
  void* show(int window, const ArrayPlace& place) const {
    void* pages = at(window) + place.page_offset;
    const int protection = place.is_output ? PROT_READ | PROT_WRITE : PROT_READ;
    const int descriptor = place.is_output ? host_outputs : host_inputs;
    if (mmap(pages, place.page_bytes, protection, MAP_SHARED | MAP_FIXED, descriptor,
             static_cast<off_t>(place.file_offset)) != pages) {
      std::perror("plumbline-kernel-host: mmap");
      _exit(1);
    }
    return static_cast<char*>(pages) + place.begin;
  }
  /// Nothing can be touched after it: not by a thread that the kernel left behind either.
  void hide(int window) const {
    void* address = at(window);
    if (mmap(address, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) != address) {
      std::perror("plumbline-kernel-host: mmap");
      _exit(1);
    }
  }

 private:
  char* at(int window) const { return base_ + static_cast<std::uint64_t>(window) * bytes_; }

  char* base_;
  std::uint64_t bytes_;
};

/// Runs what may throw, and makes the reply of its status.
template <class Function>
Answer answer_of(const Function& function) {
  reply.text[0] = '\0';
  reply.opened_size = 0;
  Answer kind = answer_status;
  install_fault_handlers(request.number);  // each time: a library may bring handlers of its own
  try {
    reply.status = function();
  } catch (const std::exception& error) {
    kind = answer_exception;
    set_text(reply.text, error.what());
  } catch (...) {
    kind = answer_exception;
  }
  return kind;
}

void answer_supports(const plumbline_kernel& kernel, const Windows& windows) {
  plumbline_problem& problem = request.problem;
  const auto unreadable = [&](const std::int32_t*& pointer, std::uint64_t offset) {
    if (pointer) pointer = reinterpret_cast<const std::int32_t*>(windows.base() + offset);
  };
  unreadable(problem.lengths, unreadable_lengths);
  unreadable(problem.documents, unreadable_documents);
  unreadable(problem.pages, unreadable_pages);
  send_reply(request.number, answer_of([&] { return kernel.supports(&problem, request.pass); }));
}

void answer_call(const plumbline_kernel& kernel, const Windows& windows) {
  Arguments arguments = arguments_of(request.problem);
  const ArrayPlace* end = request.arrays + std::min(request.array_count, most_arrays);
  for (const ArrayPlace* place = request.arrays; place < end; ++place) {
    bind(arguments, place->slot, windows.show(request.window, *place));
  }
  const Answer kind = answer_of([&] {
    note_opened_files(reply.opened, sizeof reply.opened, &reply.opened_size);
    char message[message_bytes] = "";
    int status = 0;
    try {
      status = perform(kernel, request.pass, arguments, message, sizeof message);
    } catch (...) {
      note_opened_files(nullptr, 0, nullptr);
      throw;
    }
    note_opened_files(nullptr, 0, nullptr);
    message[sizeof message - 1] = '\0';
    set_text(reply.text, message);
    return status;
  });
  // Whoever still writes is found before the judge reads: the outputs are what was there at the
  // return.
  note_return();
  windows.hide(request.window);
  await_other_threads();
  send_reply(request.number, kind);
}

/// Tells of the library, or why there is none, and ends then.
LoadedLibrary introduce(const char* path, const Windows& windows) {
  install_fault_handlers(0);
  try {
    const LoadedLibrary loaded = load_library(path);
    const plumbline_library& library = *loaded.library;
    reply.status = library.kernel_count;
    reply.base = reinterpret_cast<std::uint64_t>(windows.base());
    set_text(reply.text, library.name);
    set_text(reply.device, library.device);
    send_reply(0, answer_library);
    for (int n = 0; n < library.kernel_count; ++n) {
      const plumbline_kernel& kernel = library.kernels[n];
      set_text(reply.text, kernel.name);
      std::copy_n(kernel.contracts, PLUMBLINE_FORMAT_COUNT, reply.contracts);
      reply.has_pass[PLUMBLINE_FORWARD] = kernel.forward != nullptr;
      reply.has_pass[PLUMBLINE_BACKWARD] = kernel.backward != nullptr;
      reply.has_pass[PLUMBLINE_DECODE] = kernel.decode != nullptr;
      reply.deterministic = kernel.deterministic;
      send_reply(0, answer_kernel);
    }
    return loaded;
  } catch (const BadInput& error) {
    set_text(reply.text, error.what());
    send_reply(0, answer_bad_input);
  } catch (const MachineLacks& error) {
    set_text(reply.text, error.what());
    send_reply(0, answer_machine_lacks);
  } catch (const std::exception& error) {
    set_text(reply.text, error.what());
    send_reply(0, answer_exception);
  }
  _exit(0);
}

/// Takes from a process of the administrator the right to look into others, the judge among them.
void give_up_looking_into_processes() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3]{};
  if (syscall(SYS_capget, &header, sets) != 0) return;
  for (auto* bits : {&sets[0].effective, &sets[0].permitted, &sets[0].inheritable}) {
    *bits &= ~(1U << CAP_SYS_PTRACE);
  }
  syscall(SYS_capset, &header, sets);
}

/// Who made the socket.
pid_t judge() {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(host_socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

int serve(const char* path) {
  // The judge's end is this process's, and crashes are reported, not dumped.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != judge()) _exit(1);  // it was gone before it could be that
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  give_up_looking_into_processes();
  const Windows windows;
  const LoadedLibrary loaded = introduce(path, windows);
  while (recv(host_socket, &request, sizeof request, 0) == sizeof request) {
    const plumbline_kernel& kernel = loaded.library->kernels[request.kernel];
    if (request.question == ask_supports) {
      answer_supports(kernel, windows);
    } else {
      answer_call(kernel, windows);
    }
  }
  _exit(0);  // the judge is gone; the library's destructors have nothing to add
}

}  // namespace
}  // namespace plumbline::kernel_process

int main(int argc, char** argv) {
  struct stat socket {};
  if (argc != 2 || fstat(plumbline::kernel_process::host_socket, &socket) != 0 ||
      !S_ISSOCK(socket.st_mode)) {
    std::fputs("plumbline-kernel-host is started by plumbline verify --kernel\n", stderr);
    return 2;
  }
  return plumbline::kernel_process::serve(argv[1]);
}
