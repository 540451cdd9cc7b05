// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/in_process.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>

#include "support/error.hpp"
#include "verdict/process/guards.hpp"

namespace plumbline::kernel_process {
namespace {

constexpr std::size_t guard_bytes = 4096;

/// An output between two guards.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t bytes)
      : bytes_(bytes), memory_(bytes + 2 * guard_bytes, canary) {
    std::fill_n(memory_.begin() + guard_bytes, bytes, unwritten);
  }
  std::byte* data() { return memory_.data() + guard_bytes; }
  /// Offset of the first changed guard byte relative to the buffer's start, or nothing.
  std::optional<std::ptrdiff_t> damage() const {
    return first_changed(memory_, guard_bytes, bytes_);
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

/// The kernel's copy of an input: what it does to it must not reach the oracle.
std::vector<std::byte> copy_of(const InputArray& input) {
  const auto* bytes = static_cast<const std::byte*>(input.data);
  return {bytes, bytes + input.bytes};
}

CallEnd fail(std::string kind, std::string failure) {
  CallEnd end;
  end.kind = std::move(kind);
  end.failure = std::move(failure);
  return end;
}

}  // namespace

InProcessCaller::InProcessCaller(std::shared_ptr<void> library, const plumbline_kernel& kernel)
    : library_(std::move(library)), kernel_(&kernel) {
  if (kernel.memory != PLUMBLINE_HOST_MEMORY) {
    throw BadInput("kernel " + std::string(kernel.name) + ": memory", std::to_string(kernel.memory),
                   "PLUMBLINE_HOST_MEMORY: device memory is for kernels in a process of their own");
  }
}

int InProcessCaller::supports(const plumbline_problem& problem, std::int32_t pass) const {
  return kernel_->supports(&problem, pass);
}

CallEnd InProcessCaller::call(const KernelCall& call) const {
  Arguments arguments = arguments_of(call.problem);
  std::vector<std::vector<std::byte>> inputs;
  for (const auto& input : call.inputs) {
    inputs.push_back(copy_of(input));
    bind(arguments, input.slot, inputs.back().data());
  }
  std::vector<GuardedBuffer> outputs;
  outputs.reserve(call.outputs.size());
  for (const auto& output : call.outputs) {
    outputs.emplace_back(output.bytes);
    bind(arguments, output.slot, outputs.back().data());
  }
  char message[message_bytes] = "";
  int status = 0;
  try {
    status = perform(*kernel_, call.pass, arguments, message, sizeof message);
  } catch (const std::exception& error) {
    // Copied here: the exception's code may lie in the library, which may be unloaded on the way
    // out.
    return fail(failure_kind::exception, thrown_words(error.what()));
  } catch (...) {
    return fail(failure_kind::exception, thrown_words(nullptr));
  }
  message[sizeof message - 1] = '\0';
  if (status != 0) return error_end(status, message);
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    if (std::memcmp(inputs[n].data(), call.inputs[n].data, inputs[n].size()) != 0) {
      return fail(failure_kind::changed_input, changed_words(call.inputs[n].name));
    }
  }
  for (std::size_t n = 0; n < outputs.size(); ++n) {
    if (const auto damage = outputs[n].damage()) {
      return fail(failure_kind::wrote_outside, outside_words(call.outputs[n].name, *damage));
    }
  }
  for (std::size_t n = 0; n < outputs.size(); ++n) {
    const std::byte* data = outputs[n].data();
    call.outputs[n].into->assign(data, data + call.outputs[n].bytes);
  }
  return {};
}

}  // namespace plumbline::kernel_process
