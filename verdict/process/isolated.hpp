// SPDX-License-Identifier: Apache-2.0
// A kernel library in a process of its own: a crash, a hang or memory written over ends that
// process, not the judge, and the next call gets a fresh one.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "verdict/process/child.hpp"
#include "verdict/process/kernel_call.hpp"

namespace plumbline::kernel_process {

struct Occupation;

class IsolatedLibrary {
 public:
  /// @param host the program plumbline-kernel-host.
  /// @param seconds the time limit of a call.
  /// @throws BadInput when the library cannot be used, crashes or ends the process while it is
  /// loaded; MachineLacks as load_library.
  IsolatedLibrary(std::filesystem::path host, KernelFile kernel, double seconds);

  const Introduction& introduction() const { return introduction_; }

  /// As KernelCaller.
  void will_be_asked(int kernel, std::span<const plumbline_problem> problems, std::int32_t pass);
  /// As KernelCaller. @throws std::runtime_error with the words of what the kernel threw; NoAnswer.
  int supports(int kernel, const plumbline_problem& problem, std::int32_t pass);
  /// @throws MachineLacks when the device has no room for the arrays.
  CallEnd call(int kernel, const KernelCall& call);

 private:
  /// What supports() said of problems that it will be asked about.
  struct AskedAhead {
    std::vector<plumbline_problem> problems;
    std::vector<int> answers;
    int kernel = -1, pass = -1;
    std::size_t next = 0;  ///< that comes after the last one that was asked about
  };
  std::optional<int> known_answer(int kernel, const plumbline_problem& problem, std::int32_t pass);
  Request& question(int kernel, std::span<const plumbline_problem> problems, std::int32_t pass);

  /// The process could not bring the arrays to the device; the kernel has not run.
  struct NotOnDevice {
    std::string words;
  };
  CallEnd call_once(int kernel, const KernelCall& call);
  /// Of a process that has ended; a kernel whose process sent nonsense is not asked again.
  CallEnd end_of(int kernel, const ProcessEnd& end, const Occupation& at);

  /// A process with room for a call; a fresh one where there is none.
  Child& child(std::uint64_t input_bytes, std::uint64_t output_bytes);

  /// The same, later. @throws NoAnswer when there can be no other process.
  Child& fresh_or_running(std::uint64_t input_bytes, std::uint64_t output_bytes);

  std::filesystem::path host_;
  KernelFile kernel_;
  double seconds_;
  std::unique_ptr<Child> child_;
  Introduction introduction_;
  /// Kernels that are not asked again: one that spoke nonsense, one whose supports() hung.
  std::map<int, CallEnd> given_up_;
  AskedAhead asked_ahead_;
  std::set<int> answers_badly_;  ///< kernels that are asked about one problem at a time
  Request request_{};            ///< its window is that of the last call
};

/// Makes the calls of one kernel of an isolated library.
class IsolatedCaller : public KernelCaller {
 public:
  IsolatedCaller(std::shared_ptr<IsolatedLibrary> library, int kernel)
      : library_(std::move(library)), kernel_(kernel) {}
  int supports(const plumbline_problem& problem, std::int32_t pass) const override {
    return library_->supports(kernel_, problem, pass);
  }
  void will_be_asked(std::span<const plumbline_problem> problems,
                     std::int32_t pass) const override {
    library_->will_be_asked(kernel_, problems, pass);
  }
  std::span<const std::string> variations() const override {
    return library_->introduction().variations;
  }
  CallEnd call(const KernelCall& call) const override { return library_->call(kernel_, call); }

 private:
  std::shared_ptr<IsolatedLibrary> library_;
  int kernel_;
};

}  // namespace plumbline::kernel_process
