// SPDX-License-Identifier: Apache-2.0
// A call of a kernel as data: what it is given, where its outputs go, how it ended. Who makes the
// call, in this process or in a child, is a KernelCaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernel_abi/plumbline_kernel.h"

namespace plumbline::kernel_process {

/// A pointer of plumbline_kernel.h: what an array is, seen from the kernel. Those of parameters and
/// of their gradients are counted from the last two.
enum Slot : std::int32_t {
  slot_q,
  slot_k,
  slot_v,
  slot_lengths,
  slot_documents,
  slot_mask,
  slot_keep,
  slot_pages,
  slot_prefix_sums,
  slot_cu_seqlens_q,
  slot_cu_seqlens_k,
  slot_o,    ///< an output of the forward pass and of decoding, an input of the backward pass
  slot_lse,  ///< the same
  slot_grad_o,
  slot_grad_lse,
  slot_grad_q,
  slot_grad_k,
  slot_grad_v,
  slot_q_scale,
  slot_k_scale,
  slot_v_scale,
  slot_parameters,
  slot_grad_parameters = slot_parameters + PLUMBLINE_PARAMETER_COUNT,
  slot_count = slot_grad_parameters + PLUMBLINE_PARAMETER_COUNT
};

struct InputArray {
  std::int32_t slot;
  std::string name;  ///< for messages
  const void* data;
  std::size_t bytes;  ///< not 0
};

struct OutputArray {
  std::int32_t slot;
  std::string name;
  std::size_t bytes;  ///< not 0
  /// Gets what the kernel left there, when the call has succeeded.
  std::vector<std::byte>* into;
};

struct KernelCall {
  std::int32_t pass = PLUMBLINE_FORWARD;  ///< plumbline_pass
  plumbline_problem problem{};  ///< its pointers are not read: the arrays say what is there
  std::int32_t variation = 0;   ///< of the software device, where the call is made on one
  std::vector<InputArray> inputs;
  std::vector<OutputArray> outputs;
};

/// Why there are no outputs to judge, as reports name it.
namespace failure_kind {
inline constexpr const char* returned_error = "returned_error";
inline constexpr const char* device_lost = "device_lost";
inline constexpr const char* device_check = "device_check";
inline constexpr const char* exception = "exception";
inline constexpr const char* changed_input = "changed_input";
inline constexpr const char* wrote_outside = "wrote_outside";
inline constexpr const char* read_outside = "read_outside";
inline constexpr const char* returned_early = "returned_early";
inline constexpr const char* crash = "crash";
inline constexpr const char* out_of_memory = "out_of_memory";
inline constexpr const char* ended_process = "ended_process";
inline constexpr const char* hang = "hang";
inline constexpr const char* protocol = "protocol";
inline constexpr const char* no_process = "no_process";
inline constexpr const char* nondeterministic = "nondeterministic";
inline constexpr const char* read_expected = "read_expected_outputs";
}  // namespace failure_kind

/// How a call ended.
struct CallEnd {
  std::string failure;       ///< a sentence; empty when the outputs are there
  std::string kind;          ///< one of failure_kind, or empty
  bool device_lost = false;  ///< no later call of this caller can succeed
  /// Regular files that the kernel opened for reading meanwhile, as far as that was seen.
  std::vector<std::string> opened_files;
};

/// The kernel's supports() did not answer: it crashed, hung or ended its process.
struct NoAnswer {
  CallEnd end;
};

/// Makes the calls of one kernel.
class KernelCaller {
 public:
  virtual ~KernelCaller() = default;

  /// What the kernel's supports() says. lengths, documents, mask, pages and keep of the problem are
  /// not NULL where it has them, and are not read.
  /// @throws std::exception that the kernel throws; NoAnswer.
  virtual int supports(const plumbline_problem& problem, std::int32_t pass) const = 0;

  /// supports() is about to be asked about these, in this order; who asks over a distance can ask
  /// about all at once. Throws nothing: what goes wrong shows when it is asked.
  virtual void will_be_asked(std::span<const plumbline_problem> /*problems*/,
                             std::int32_t /*pass*/) const {}

  /// What hardware leaves open is done in these ways by the software device, which the calls are
  /// made on; empty where they are not.
  virtual std::span<const std::string> variations() const { return {}; }
  /// Whether calls so far were made on it: only then one variation may differ from another.
  virtual bool on_software_device() const { return !variations().empty(); }

  /// Fills the outputs with NaN (bytes 0xFF), puts guards around them, calls the pass.
  virtual CallEnd call(const KernelCall& call) const = 0;
};

/// The arguments of every pass; an array stands in all of them that have its slot.
struct Arguments {
  plumbline_problem problem{};
  plumbline_outputs outputs{};
  plumbline_gradients gradients{};
};

/// `problem` without its pointers.
Arguments arguments_of(const plumbline_problem& problem);
/// Sets the pointer of a slot.
void bind(Arguments& arguments, std::int32_t slot, void* address);
/// Calls the pass, which the kernel must have; what the kernel throws goes through.
int perform(const plumbline_kernel& kernel, std::int32_t pass, const Arguments& arguments,
            char* message, std::size_t message_size);

}  // namespace plumbline::kernel_process
