// SPDX-License-Identifier: Apache-2.0
// A kernel library in a process of its own: a crash, a hang or memory written over ends that
// process, not the judge, and the next call gets a fresh one.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel_process/child.hpp"
#include "kernel_process/kernel_call.hpp"

namespace plumbline::kernel_process {

struct Occupation;

class IsolatedLibrary {
 public:
  /// @param host the program plumbline-kernel-host.
  /// @param seconds the time limit of a call.
  /// @throws BadInput when the library cannot be used, crashes or ends the process while it is
  /// loaded; MachineLacks as load_library.
  IsolatedLibrary(std::filesystem::path host, std::filesystem::path library, double seconds);

  const Introduction& introduction() const { return introduction_; }

  /// As KernelCaller. @throws std::runtime_error with the words of what the kernel threw; NoAnswer.
  int supports(int kernel, const plumbline_problem& problem, std::int32_t pass);
  /// @throws MachineLacks when the device has no room for the arrays.
  CallEnd call(int kernel, const KernelCall& call);

 private:
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

  std::filesystem::path host_, library_;
  double seconds_;
  std::unique_ptr<Child> child_;
  Introduction introduction_;
  std::map<int, CallEnd> spoke_nonsense_;
  Request request_{};  ///< its window is that of the last call
};

/// Makes the calls of one kernel of an isolated library.
class IsolatedCaller : public KernelCaller {
 public:
  IsolatedCaller(std::shared_ptr<IsolatedLibrary> library, int kernel)
      : library_(std::move(library)), kernel_(kernel) {}
  int supports(const plumbline_problem& problem, std::int32_t pass) const override {
    return library_->supports(kernel_, problem, pass);
  }
  CallEnd call(const KernelCall& call) const override { return library_->call(kernel_, call); }

 private:
  std::shared_ptr<IsolatedLibrary> library_;
  int kernel_;
};

}  // namespace plumbline::kernel_process
