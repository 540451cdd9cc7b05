// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <sstream>

#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/process/load.hpp"

namespace plumbline::kernel_process {
namespace {

constexpr double least_loading_seconds = 60;
/// What a process takes to end, as a rule less.
constexpr std::chrono::seconds ending_time{2};

using Clock = std::chrono::steady_clock;

/// A copy of the descriptor above all numbers that the child is to find its own under.
Descriptor out_of_the_way(int descriptor) {
  return Descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 2 * host_first_unused));
}

/// What the process says, which may be the kernel's words.
[[noreturn]] void throw_lacks(const std::string& words) {
  throw MachineLacks("the kernel's process says: " + words);
}

/// The sentence of an error that came as text, thrown again.
[[noreturn]] void throw_bad_input(const std::string& sentence) {
  const auto is = sentence.find(" is ");
  const auto expected = sentence.find("; expected ", is == sentence.npos ? 0 : is);
  if (is == sentence.npos || expected == sentence.npos) throw_lacks(sentence);
  throw BadInput(sentence.substr(0, is), sentence.substr(is + 4, expected - is - 4),
                 sentence.substr(expected + 11));
}

/// Whether there is something to read, or the other end is gone, before the deadline.
bool readable_before(int descriptor, Clock::time_point deadline) {
  while (true) {
    const double left = std::chrono::duration<double, std::milli>(deadline - Clock::now()).count();
    pollfd waiting{descriptor, POLLIN, 0};
    const int milliseconds = static_cast<int>(std::fmin(std::fmax(std::ceil(left), 0.0), 1e9));
    const int ready = poll(&waiting, 1, milliseconds);
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) return false;
    if (ready < 0 && errno != EINTR) return true;  // what is wrong shows in reading
  }
}

/// The call to posix_spawn with its lists, which must be freed.
class Spawn {
 public:
  Spawn() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  int run(pid_t* process, const char* host, const KernelFile& kernel, int socket, int inputs,
          int outputs, int ending) {
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, socket, host_socket);
    posix_spawn_file_actions_adddup2(&actions_, inputs, host_inputs);
    posix_spawn_file_actions_adddup2(&actions_, outputs, host_outputs);
    posix_spawn_file_actions_adddup2(&actions_, ending, host_ending);
    posix_spawn_file_actions_addclosefrom_np(&actions_, host_first_unused);
    // A group of its own: what a terminal sends to the judge's is not for it.
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
    const auto& software = kernel.software_device;
    char* const arguments[] = {
        const_cast<char*>("plumbline-kernel-host"), const_cast<char*>(kernel.library.c_str()),
        software.empty() ? nullptr : const_cast<char*>(software.c_str()), nullptr};
    return posix_spawn(process, host, &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

double loading_seconds(double seconds) { return std::fmax(seconds, least_loading_seconds); }

Child::Child(const std::filesystem::path& host, const KernelFile& kernel, double seconds,
             std::uint64_t input_bytes, std::uint64_t output_bytes)
    : software_(!kernel.software_device.empty()),
      inputs_(input_bytes, Segment::Kind::inputs),
      outputs_(output_bytes, Segment::Kind::outputs),
      seconds_(seconds) {
  start(host, kernel);
  try {
    introduce();
  } catch (...) {
    if (process_ > 0) reap(true);
    throw;
  }
}

Child::~Child() {
  if (process_ > 0) reap(true);
}

void Child::start(const std::filesystem::path& host, const KernelFile& kernel) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw MachineLacks(std::string("a socket to the kernel's process: ") + std::strerror(errno));
  }
  socket_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw MachineLacks(std::string("a pipe to the kernel's process: ") + std::strerror(errno));
  }
  ending_ = Descriptor(ends[0]);
  const Descriptor their_ending(ends[1]);
  const Descriptor socket = out_of_the_way(theirs.get()),
                   inputs = out_of_the_way(inputs_.descriptor()),
                   outputs = out_of_the_way(outputs_.descriptor()),
                   ending = out_of_the_way(their_ending.get());
  const int error = Spawn().run(&process_, host.c_str(), kernel, socket.get(), inputs.get(),
                                outputs.get(), ending.get());
  if (error != 0) {
    process_ = -1;
    throw MachineLacks(host.string() + ": " + std::strerror(error) +
                       "; it is built by the target plumbline_kernel_host");
  }
}

void Child::introduce() {
  const double seconds = loading_seconds(seconds_);
  const Reply& library = receive(0, seconds);
  if (library.answer == answer_bad_input) throw_bad_input(showable(library.text));
  if (library.answer == answer_machine_lacks || library.answer == answer_exception) {
    throw_lacks(showable(library.text));
  }
  if (library.answer != answer_library || !is_kernel_count(library.status)) end({.nonsense = true});
  introduction_.namespaces = library.namespaces != 0;
  introduction_.name = showable(library.text);
  introduction_.device = showable(library.device);
  std::istringstream variations(library.variations);
  for (std::string line; std::getline(variations, line);) {
    introduction_.variations.push_back(showable(line));
  }
  base_ = library.base;
  for (int n = library.status; n > 0; --n) {
    const Reply& kernel = receive(0, seconds);
    if (kernel.answer != answer_kernel || !is_kernel_name(kernel.text)) end({.nonsense = true});
    introduction_.kernels.push_back(kernel);
  }
}

const Reply& Child::ask(Request& request, double times) {
  request.number = ++number_;
  device_said_.reset();
  // A socket that is closed at the other end shows when the answer is awaited. One that is full is
  // that of a process that answers what it has not read.
  const ssize_t sent = send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno == EAGAIN) end({.nonsense = true});
  const Reply& reply = receive(number_, seconds_ * times);
  if (!fits(request)) end({.nonsense = true});
  return reply;
}

bool Child::fits(const Request& request) const {
  if (reply_.answer == answer_status || reply_.answer == answer_exception) return true;
  if (request.question != ask_call) return false;
  const Reply& kernel = introduction_.kernels.at(static_cast<std::size_t>(request.kernel));
  const bool of_device = kernel.memory == PLUMBLINE_CUDA_MEMORY;
  switch (reply_.answer) {
    case answer_device_error:
      return of_device;
    case answer_machine_lacks:
      return of_device || software_;
    case answer_device_check:
      return software_ && reply_.array >= -1 && reply_.array < request.array_count;
    case answer_wrote_outside:
    case answer_changed_input:
    case answer_opened_guard:
      return of_device == (reply_.answer != answer_opened_guard) && reply_.array >= 0 &&
             reply_.array < request.array_count;
    default:
      return false;
  }
}

const Reply& Child::receive(std::uint64_t number, double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds));
  while (true) {
    if (!readable_before(socket_.get(), deadline)) end({.hung = true});
    // A message that is longer than it can be has its true length.
    const ssize_t size = recv(socket_.get(), &reply_, sizeof reply_, MSG_TRUNC);
    if (size <= 0) end_of_what_is_gone();
    if (size != sizeof reply_) end({.nonsense = true});
    reply_.text[text_bytes - 1] = reply_.device[text_bytes - 1] = '\0';
    if (!software_ || reply_.answer != answer_device_says) break;
    if (reply_.number == number) keep_what_the_device_says();
    if (Clock::now() > deadline) end({.hung = true});
  }
  // The fault of a thread that an earlier call left behind has that call's number.
  if (reply_.answer == answer_fault) end({.fault = reply_});
  if (reply_.number != number) end({.nonsense = true});
  return reply_;
}

void Child::keep_what_the_device_says() {
  const bool keeps = device_said_ && is_fault(DeviceTrouble{device_said_->status});
  if (!keeps) device_said_ = reply_;
}

void Child::end(ProcessEnd how) {
  reap(true);
  how.device_said = device_said_;
  throw how;
}

void Child::end_of_what_is_gone() {
  // Who has closed the socket and goes on is none that answers.
  if (!readable_before(ending_.get(), Clock::now() + ending_time)) end({.nonsense = true});
  Ending ending;
  if (read(ending_.get(), &ending, sizeof ending) == sizeof ending) {
    end({.wait_status = ending.status,
         .killed_for_memory = ending.killed_for_memory != 0,
         .kibibytes = ending.kibibytes});
  }
  ProcessEnd gone;
  gone.wait_status = reap(false);
  gone.device_said = device_said_;
  throw gone;
}

int Child::reap(bool terminate) {
  int status = 0;
  // It ends the library's process and what that has started, then itself.
  if (terminate) kill(process_, SIGTERM);
  for (const auto deadline = Clock::now() + ending_time; Clock::now() < deadline;) {
    if (waitpid(process_, &status, WNOHANG) != 0) {
      process_ = -1;
      return status;
    }
    usleep(100);
  }
  kill(process_, SIGKILL);
  waitpid(process_, &status, 0);
  process_ = -1;
  return status;
}

}  // namespace plumbline::kernel_process
