// SPDX-License-Identifier: Apache-2.0
// A shared library of kernels (kernel_abi/plumbline_kernel.h), loaded and run.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "verdict/cases/case.hpp"
#include "verdict/judge/contract.hpp"
#include "verdict/process/isolated.hpp"

namespace plumbline::verdict {

/// What one run gave: the outputs, or why there are none.
struct KernelRun {
  cases::Outputs outputs;
  bool device_lost = false;         ///< no later run can succeed
  bool forward_is_oracles = false;  ///< o and lse are not the kernel's
  std::string failure;              ///< a sentence; empty when the outputs are there
  std::string kind;                 ///< of the failure: kernel_process::failure_kind
  /// Regular files that the kernel was seen to open for reading.
  std::vector<std::string> opened_files;
};

/// supports() of a kernel in a process of its own did not answer.
struct SupportsFailed : std::runtime_error {
  SupportsFailed(const cases::Spec& asked_about, const kernel_process::CallEnd& how)
      : std::runtime_error(how.failure), spec(asked_about), end(how) {}
  cases::Spec spec;
  kernel_process::CallEnd end;
};

/// One kernel of a library.
class Kernel {
 public:
  /// In this process. `library`, which may be null, keeps the code that `kernel` points into.
  Kernel(std::shared_ptr<void> library, const plumbline_kernel& kernel);
  /// Whose calls `caller` makes.
  Kernel(const plumbline_kernel& kernel,
         std::shared_ptr<const kernel_process::KernelCaller> caller);
  /// In a process of its own.
  Kernel(std::shared_ptr<kernel_process::IsolatedLibrary> library, int number);

  const std::string& name() const { return name_; }
  const Contract& contract(cases::Format) const;
  /// Whether its contract says anything in the format; of one that says nothing in any, always.
  bool declares(cases::Format) const;
  /// The contract of a known implementation (verdict/cases/named_contracts.hpp) in place of its
  /// own; what has none in a format is not offered in it.
  void declare(const std::string& named_contract);
  bool deterministic() const { return deterministic_; }  ///< it says: every run, the same bits
  /// Whether it says that no result depends on k and v at keys that no query sees, and neither the
  /// case's bias nor a row's convention reads all keys.
  bool ignores_hidden_keys(const cases::Spec&) const;
  /// Whether k and v of the case that `run` makes of the spec are NaN at hidden keys.
  bool gets_hidden_nan(const cases::Spec&) const;
  bool has_pass(cases::Pass pass) const { return has_pass_[static_cast<int>(pass)]; }
  /// A kernel without a forward pass of its own, or of this case, is given the oracle's outputs for
  /// its backward pass.
  /// @throws BadInput when its supports() throws or returns neither 0 nor 1; SupportsFailed.
  bool supports(const cases::Spec&) const;
  /// supports() is about to be asked about these specs of one pass, in this order.
  void will_be_asked(std::span<const cases::Spec>) const;

  /// What hardware leaves open (roundings of approximations and of sums, the order of blocks) is
  /// done in these ways by the software device; empty where the kernel does not run on it.
  std::span<const std::string> variations() const { return caller_->variations(); }
  /// Whether it has run on the software device.
  bool on_software_device() const { return caller_->on_software_device(); }
  /// This kernel, which run() runs on that one of them, and not on the one that a case's seed
  /// chooses.
  Kernel on_variation(int number) const;

  /// Runs the pass of the case's spec on inputs in its format; for the backward pass the forward
  /// pass too, whose outputs it is given. Without one it is given the oracle's. Outputs are
  /// poisoned with NaN before the run and lie between canaries; a changed canary is a failure, and
  /// so is a changed input. `done` is called after each pass.
  KernelRun run(const cases::Case&, const std::function<void(cases::Pass)>& done = {}) const;

 private:
  bool has_forward_of(const cases::Spec&) const;
  bool asked(const plumbline_problem& problem, cases::Pass pass, const cases::Spec& spec) const;

  std::shared_ptr<const kernel_process::KernelCaller> caller_;
  std::string name_;
  std::array<Contract, PLUMBLINE_FORMAT_COUNT> contracts_;
  std::array<bool, PLUMBLINE_PASS_COUNT> has_pass_;
  bool deterministic_, ignores_hidden_keys_;
  std::optional<int> variation_;
};

/// Where a library's kernels run.
enum class Isolation {
  none,        ///< in this process
  process,     ///< in one of its own, which the system gave no namespaces
  namespaces,  ///< in one of its own that can send this one no signal
};
std::string_view name(Isolation);

struct KernelLibrary {
  std::string name, device;
  std::vector<Kernel> kernels;
  Isolation isolation = Isolation::none;
};

/// Loads it into this process: for the kernels that come with the program.
/// @throws BadInput when the file is not a kernel library or has another ABI version;
/// MachineLacks when the library says that it cannot run here.
KernelLibrary load_kernel_library(const std::filesystem::path& path);

/// Loads it into a process of its own.
/// @param host the program plumbline-kernel-host.
/// @param seconds how long a call may take.
/// @param software_device the folder with the device in software, on which its kernels run; empty:
/// a GPU, if they take device memory.
/// @throws the same; BadInput also when it ends its process while it is loaded, or when it is none
/// for the software device.
KernelLibrary isolate_kernel_library(const std::filesystem::path& host,
                                     const std::filesystem::path& path, double seconds,
                                     const std::filesystem::path& software_device = {});

}  // namespace plumbline::verdict
