// SPDX-License-Identifier: Apache-2.0
// A process of plumbline-kernel-host, seen from the judge.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "verdict/process/protocol.hpp"
#include "verdict/process/segment.hpp"

namespace plumbline::kernel_process {

/// How a process came to its end.
struct ProcessEnd {
  bool hung = false;               ///< it did not answer in time and was killed
  bool nonsense = false;           ///< what it sent is no answer, or it takes no question; killed
  int wait_status = 0;             ///< of the process with the library, as waitpid gives it
  bool killed_for_memory = false;  ///< by the system, if by SIGKILL: it killed somebody meanwhile
  std::int64_t kibibytes = 0;      ///< the most memory that it held; 0: not known
  std::optional<Reply> fault{};    ///< what it said of the signal that it died of
  /// What the software device had said before, if anything: a fault, else the latest.
  std::optional<Reply> device_said{};
};

/// What a library says of itself.
struct Introduction {
  std::string name, device;
  std::vector<Reply> kernels;           ///< answer_kernel each
  std::vector<std::string> variations;  ///< of the software device, by name; else empty
  bool namespaces = false;              ///< the process has its own, and can send no other a signal
};

/// How long loading may take where an answer may take `seconds`: a CUDA library starts a driver.
double loading_seconds(double seconds);

/// A library of kernels, and what they run on.
struct KernelFile {
  std::filesystem::path library;
  std::filesystem::path software_device;  ///< the folder of the device in software; empty: a GPU
};

/// A running process with a library loaded, and the segments it shares. Its standard output is the
/// judge's standard error, so that nothing it prints gets into a report.
class Child {
 public:
  /// @param seconds how long every answer may take; loading has a minute at least.
  /// @throws BadInput, MachineLacks as load_library; ProcessEnd when loading ends the process.
  Child(const std::filesystem::path& host, const KernelFile& kernel, double seconds,
        std::uint64_t input_bytes, std::uint64_t output_bytes);
  ~Child();  ///< kills it
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const Introduction& introduction() const { return introduction_; }
  const Segment& inputs() const { return inputs_; }
  const Segment& outputs() const { return outputs_; }
  std::uint64_t base() const { return base_; }  ///< of its first window
  std::uint64_t window_bytes() const {
    return kernel_process::window_bytes(inputs_.size(), outputs_.size());
  }

  /// Sends the request, its number set, and waits for the answer: one that fits the question, about
  /// an array of the request if about any. Its texts may be the kernel's.
  /// @param times how often the usual time it may take.
  /// @throws ProcessEnd when the process ends instead, which it has then.
  const Reply& ask(Request& request, double times = 1);

 private:
  void start(const std::filesystem::path& host, const KernelFile& kernel);
  void introduce();
  const Reply& receive(std::uint64_t number, double seconds);
  bool fits(const Request& request) const;  ///< reply_
  void keep_what_the_device_says();         ///< reply_
  [[noreturn]] void end(ProcessEnd how);
  [[noreturn]] void end_of_what_is_gone();
  int reap(bool terminate);

  const bool software_;  ///< its kernels run on the device in software, if on any
  Segment inputs_, outputs_;
  Descriptor socket_, ending_;
  pid_t process_ = -1;
  double seconds_;
  std::uint64_t base_ = 0, number_ = 0;
  Introduction introduction_;
  Reply reply_;
  std::optional<Reply> device_said_;  ///< since the last question
};

}  // namespace plumbline::kernel_process
