// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/isolated.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/process/end_words.hpp"
#include "verdict/process/load.hpp"

namespace plumbline::kernel_process {
namespace {

/// Of a segment: address space, not memory. Enough for almost every case, so that one process does.
constexpr std::uint64_t least_segment = std::uint64_t{64} << 20;

/// The CUDA driver has a setuid program make the device files that are not there after a start of
/// the machine. The kernel's process can start none that has more rights than its own.
void make_device_files() {
  constexpr const char* program = "/usr/bin/nvidia-modprobe";
  if (access("/dev/nvidia-uvm", F_OK) == 0 || access(program, X_OK) != 0) return;
  const char* const arguments[] = {program, "-u", "-c=0", nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&quiet, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int error =
      posix_spawn(&process, program, &quiet, nullptr, const_cast<char* const*>(arguments), environ);
  if (error == 0) waitpid(process, nullptr, 0);
  posix_spawn_file_actions_destroy(&quiet);
}

std::vector<std::string> opened_files(const Reply& reply) {
  std::vector<std::string> files;
  const char* end = reply.opened + std::min<std::size_t>(reply.opened_size, opened_bytes);
  for (const char* name = reply.opened; name < end; name += files.back().size() + 1) {
    files.emplace_back(name, strnlen(name, end - name));
  }
  return files;
}

bool same_kernels(const Introduction& one, const Introduction& other) {
  return std::ranges::equal(one.kernels, other.kernels, [](const Reply& a, const Reply& b) {
    return std::strcmp(a.text, b.text) == 0 && a.memory == b.memory;
  });
}

CallEnd stopped_by_device(const Reply& reply, const CallLayout* layout) {
  CallEnd end;
  // What takes too long is asked less often.
  const bool timeout = DeviceTrouble{reply.status} == DeviceTrouble::timeout;
  end.kind = timeout ? failure_kind::hang : failure_kind::device_check;
  end.failure = device_check_words(reply.text);
  const auto n = static_cast<std::size_t>(reply.array);
  if (layout && reply.array >= 0 && n < layout->places.size()) {
    end.failure += fmt::format("; the address is at byte {} of {}, which has {} bytes",
                               reply.offset, layout->names.at(n), layout->places.at(n).bytes);
  }
  end.device_lost = true;  // it runs no other kernel
  return end;
}

/// The end of a process that the software device had said something of before.
CallEnd with_the_device_s_words(const CallEnd& end, const Reply& said, const CallLayout* layout) {
  CallEnd both = end;
  if (is_fault(DeviceTrouble{said.status})) {
    both = stopped_by_device(said, layout);
    both.failure += "; then " + end.failure;
    both.device_lost = false;  // the process has gone, and the device with it
  } else {
    both.failure += std::string("; the device says: ") + said.text;
  }
  return both;
}

CallEnd end_of(const Reply& reply, const CallLayout& layout) {
  if (reply.answer == answer_status && reply.status == 0) return {};
  if (reply.answer == answer_status) return error_end(reply.status, reply.text);
  CallEnd end;
  if (reply.answer == answer_wrote_outside || reply.answer == answer_changed_input) {
    const std::string& name = layout.names.at(static_cast<std::size_t>(reply.array));
    const bool outside = reply.answer == answer_wrote_outside;
    end.kind = outside ? failure_kind::wrote_outside : failure_kind::changed_input;
    end.failure = outside ? outside_words(name, reply.offset)
                          : fmt::format("{}, at byte {}", changed_words(name), reply.offset);
  } else if (reply.answer == answer_opened_guard) {
    const bool written = reply.access == access_write;
    end.kind = written ? failure_kind::wrote_outside : failure_kind::read_outside;
    end.failure =
        opened_words(layout.names.at(static_cast<std::size_t>(reply.array)), reply.offset, written);
  } else if (reply.answer == answer_device_error) {
    end.kind = failure_kind::device_lost;
    end.failure = device_error_words(reply.text);
    end.device_lost = true;
  } else if (reply.answer == answer_device_check) {
    end = stopped_by_device(reply, &layout);
  } else {
    end.kind = failure_kind::exception;
    end.failure = thrown_words(reply.text[0] ? reply.text : nullptr);
  }
  return end;
}

}  // namespace

IsolatedLibrary::IsolatedLibrary(std::filesystem::path host, KernelFile kernel, double seconds)
    : host_(std::move(host)), kernel_(std::move(kernel)), seconds_(seconds) {
  require_file(kernel_.library);
  prctl(PR_SET_DUMPABLE, 0);  // nor may the kernel read the judge's memory
  if (kernel_.software_device.empty()) make_device_files();
  introduction_ = child(0, 0).introduction();
}

Child& IsolatedLibrary::child(std::uint64_t input_bytes, std::uint64_t output_bytes) {
  if (child_ && child_->inputs().size() >= input_bytes &&
      child_->outputs().size() >= output_bytes) {
    return *child_;
  }
  child_.reset();
  try {
    child_ = std::make_unique<Child>(host_, kernel_, seconds_, std::max(least_segment, input_bytes),
                                     std::max(least_segment, output_bytes));
  } catch (const ProcessEnd& end) {
    const auto words =
        words_of(end, {.what = Occupation::What::loading, .seconds = loading_seconds(seconds_)})
            .failure;
    throw BadInput("--kernel", path_in_quotes(kernel_.library),
                   "a library that can be loaded (" + words + ")");
  }
  const bool first = introduction_.kernels.empty();
  if (!first && !same_kernels(introduction_, child_->introduction())) {
    child_.reset();
    throw BadInput("--kernel", path_in_quotes(kernel_.library),
                   "the same kernels whenever it is loaded");
  }
  return *child_;
}

Child& IsolatedLibrary::fresh_or_running(std::uint64_t input_bytes, std::uint64_t output_bytes) {
  try {
    return child(input_bytes, output_bytes);
  } catch (const std::exception& error) {
    CallEnd end;
    end.kind = failure_kind::no_process;
    end.device_lost = true;
    end.failure =
        std::string("the library was loaded before, and cannot be loaded again: ") + error.what();
    throw NoAnswer{end};
  }
}

CallEnd IsolatedLibrary::end_of(int kernel, const ProcessEnd& process_end, const Occupation& at) {
  child_.reset();
  CallEnd end = words_of(process_end, at);
  if (process_end.device_said && end.kind != failure_kind::protocol) {
    end = with_the_device_s_words(end, *process_end.device_said, at.layout);
  }
  const bool hung_in_supports =
      end.kind == failure_kind::hang && at.what == Occupation::What::supports;
  if (end.kind == failure_kind::protocol || hung_in_supports) given_up_[kernel] = end;
  return end;
}

void IsolatedLibrary::will_be_asked(int kernel, std::span<const plumbline_problem> problems,
                                    std::int32_t pass) {
  asked_ahead_ = {};
  if (given_up_.contains(kernel) || answers_badly_.contains(kernel)) return;
  try {
    for (std::size_t first = 0; first < problems.size(); first += most_problems) {
      const auto some =
          problems.subspan(first, std::min<std::size_t>(most_problems, problems.size() - first));
      Child& process = fresh_or_running(0, 0);
      const Reply& reply = process.ask(question(kernel, some, pass));
      if (reply.answer != answer_status) return void(answers_badly_.insert(kernel));
      asked_ahead_.problems.insert(asked_ahead_.problems.end(), some.begin(), some.end());
      asked_ahead_.answers.insert(asked_ahead_.answers.end(), reply.supports,
                                  reply.supports + some.size());
    }
    asked_ahead_.kernel = kernel;
    asked_ahead_.pass = pass;
  } catch (const ProcessEnd&) {
    // Asked about each alone, it shows which one it does not bear.
    child_.reset();
    answers_badly_.insert(kernel);
  } catch (const NoAnswer&) {  // nor will there be one to the question itself
  }
}

Request& IsolatedLibrary::question(int kernel, std::span<const plumbline_problem> problems,
                                   std::int32_t pass) {
  request_.question = ask_supports;
  request_.kernel = kernel;
  request_.pass = pass;
  request_.problem_count = static_cast<std::int32_t>(problems.size());
  std::copy(problems.begin(), problems.end(), request_.problems);
  request_.array_count = 0;
  return request_;
}

std::optional<int> IsolatedLibrary::known_answer(int kernel, const plumbline_problem& problem,
                                                 std::int32_t pass) {
  const auto& [problems, answers, of_kernel, of_pass, next] = asked_ahead_;
  if (of_kernel != kernel || of_pass != pass) return std::nullopt;
  // Mostly they come in their order.
  for (std::size_t n = 0; n < problems.size(); ++n) {
    const std::size_t at = (next + n) % problems.size();
    if (std::memcmp(&problems[at], &problem, sizeof problem) != 0) continue;
    asked_ahead_.next = at + 1;
    return answers[at];
  }
  return std::nullopt;
}

int IsolatedLibrary::supports(int kernel, const plumbline_problem& problem, std::int32_t pass) {
  if (const auto answer = known_answer(kernel, problem, pass)) return *answer;
  if (const auto known = given_up_.find(kernel); known != given_up_.end()) {
    throw NoAnswer{known->second};
  }
  Child& process = fresh_or_running(0, 0);
  const Occupation at{.what = Occupation::What::supports,
                      .base = process.base(),
                      .window_bytes = process.window_bytes(),
                      .seconds = seconds_};
  try {
    const Reply& reply = process.ask(question(kernel, {&problem, 1}, pass));
    if (reply.answer == answer_status) return reply.supports[0];
    throw std::runtime_error(reply.text[0] ? showable(reply.text) : "of a type of its own");
  } catch (const ProcessEnd& end) {
    throw NoAnswer{end_of(kernel, end, at)};
  }
}

namespace {

/// Of a call's time a launch on the software device may take so much: the device then tells where
/// the kernel is, before the process counts as hung.
constexpr double most_of_limit = 0.8;

/// How often the time limit a call may take: a plain loop takes 10^8 products a second, and the
/// limit's 20 seconds are for 2^31 of them.
double times_of(const KernelCall& call) {
  const plumbline_problem& p = call.problem;
  const double products = double{1} * p.batch * p.heads * p.queries * p.keys *
                          std::max(p.head_dim, p.value_dim) *
                          (call.pass == PLUMBLINE_BACKWARD ? 4 : 1);
  return std::max(1.0, products / 0x1p31);
}

}  // namespace

CallEnd IsolatedLibrary::call(int kernel, const KernelCall& call) {
  if (const auto known = given_up_.find(kernel); known != given_up_.end()) {
    return known->second;
  }
  try {
    return call_once(kernel, call);
  } catch (const NotOnDevice&) {
    child_.reset();  // and with it what earlier calls have left on the device
  }
  try {
    return call_once(kernel, call);
  } catch (const NotOnDevice& again) {
    throw MachineLacks("the kernel's process says: " + again.words);
  }
}

CallEnd IsolatedLibrary::call_once(int kernel, const KernelCall& call) {
  const CallLayout layout = layout_of(call);
  Child* running = nullptr;
  try {
    running = &fresh_or_running(layout.input_bytes, layout.output_bytes);
  } catch (const NoAnswer& none) {
    return none.end;
  }
  Child& process = *running;
  lay_out(call, layout, process.inputs(), process.outputs());
  request_.question = ask_call;
  request_.kernel = kernel;
  request_.pass = call.pass;
  request_.variation = call.variation;
  request_.problem_count = 1;
  request_.problems[0] = call.problem;
  request_.array_count = static_cast<std::int32_t>(layout.places.size());
  std::copy(layout.places.begin(), layout.places.end(), request_.arrays);
  request_.window = (request_.window + 1) % window_count;
  const double times = times_of(call);
  request_.seconds = most_of_limit * seconds_ * times;
  const Occupation at{.what = Occupation::What::pass,
                      .base = process.base(),
                      .window_bytes = process.window_bytes(),
                      .window = request_.window,
                      .layout = &layout,
                      .seconds = seconds_ * times};
  CallEnd end;
  try {
    const Reply& reply = process.ask(request_, times);
    if (reply.answer == answer_machine_lacks) throw NotOnDevice{showable(reply.text)};
    end = kernel_process::end_of(reply, layout);
    if (end.failure.empty()) end = collect(call, layout, process.outputs());
    end.opened_files = opened_files(reply);
  } catch (const ProcessEnd& process_end) {
    const auto& said = process_end.device_said;
    if (said && DeviceTrouble{said->status} == DeviceTrouble::device_lacks) {
      child_.reset();
      throw NotOnDevice{std::string("the software device: ") + showable(said->text)};
    }
    return end_of(kernel, process_end, at);
  }
  if (end.device_lost || end.kind == failure_kind::wrote_outside ||
      end.kind == failure_kind::read_outside) {
    // A fresh process may find the device again, and is not what was written over.
    child_.reset();
    end.device_lost = false;
  }
  return end;
}

}  // namespace plumbline::kernel_process
