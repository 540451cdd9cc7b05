// SPDX-License-Identifier: Apache-2.0
// A function of Python's as a kernel of kernel_abi/plumbline_kernel.h, in the caller's process.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel_abi/plumbline_kernel.h"
#include "verdict/cases/spec.hpp"
#include "verdict/process/in_process.hpp"

namespace plumbline::python {

/// What a function takes: everything else is not drawn.
struct Takes {
  std::optional<bool> causal;  ///< nothing: both
  bool window = false, lengths = false, documents = false, ssmax = false;
  bool grouped_heads = false;     ///< fewer key heads than query heads
  bool query_offset = false;      ///< fewer queries than keys
  bool scale = false;             ///< other scales than 1/sqrt(head_dim)
  bool softcap = false;           ///< softcaps
  double own_softcap = 0;         ///< the softcap of all cases, which the function has built in
  std::map<int, double> options;  ///< by plumbline_option: only this value
};

/// For its lifetime, in its thread, `kernel()` calls the function.
class CallableKernel {
 public:
  /// @param run run(problem, inputs, outputs): the pass, the variation of the software device and
  /// settings; (bytes, shape) of every input and the shape of every output by their names. It
  /// returns the bytes of the inputs as the function left them and those of the outputs, and raises
  /// what the function raises. Its on_software_device, if it has one: whether the function
  /// has launched kernels there.
  /// @param refusal the exception by which it refuses an output: its message is the failure.
  CallableKernel(nanobind::object run, nanobind::object refusal, std::string name, Takes takes,
                 const plumbline_contract& contract, bool has_backward, bool deterministic);
  ~CallableKernel();
  CallableKernel(const CallableKernel&) = delete;
  CallableKernel& operator=(const CallableKernel&) = delete;

  const plumbline_kernel& kernel() const { return kernel_; }

  /// The function is called on this variation of the software device from now on.
  void vary(int variation) { variation_ = variation; }
  bool on_software_device() const;

  /// The function's last exception; None when it raised none.
  nanobind::object last_exception() const { return last_exception_; }
  /// Whether something ended the check from outside: a KeyboardInterrupt, for example.
  bool interrupted() const { return interrupted_.is_valid(); }
  /// Lets Python's signal handlers run; what one raises interrupts the check.
  void look_for_signals();
  /// Raises what ended the check.
  [[noreturn]] void raise_interruption();

 private:
  static int supports(const plumbline_problem* problem, int32_t pass);
  static int forward(const plumbline_problem*, const plumbline_outputs*, char*, size_t);
  static int backward(const plumbline_problem*, const plumbline_gradients*, char*, size_t);
  template <class Arrays>
  int call(const nanobind::dict& problem, const Arrays& inputs, const Arrays& outputs,
           char* message, std::size_t message_size);

  nanobind::object run_, refusal_, last_exception_, interrupted_;
  std::string name_;
  Takes takes_;
  plumbline_kernel kernel_{};
  int variation_ = 0;
  CallableKernel* before_;
};

/// Calls the function on the software device's variations, in case it runs kernels there.
class OnVariations : public kernel_process::InProcessCaller {
 public:
  /// The callable must outlive it.
  explicit OnVariations(CallableKernel& callable);

  std::span<const std::string> variations() const override { return names_; }
  bool on_software_device() const override { return callable_.on_software_device(); }
  kernel_process::CallEnd call(const kernel_process::KernelCall& call) const override;

 private:
  CallableKernel& callable_;
  std::vector<std::string> names_;
};

}  // namespace plumbline::python
