// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/kernel_call.hpp"

#include <algorithm>
#include <stdexcept>

namespace plumbline::kernel_process {

Arguments arguments_of(const plumbline_problem& problem) {
  Arguments arguments;
  arguments.problem = problem;
  plumbline_problem& p = arguments.problem;
  p.q = p.k = p.v = nullptr;
  std::fill(std::begin(p.parameters), std::end(p.parameters), nullptr);
  p.lengths = p.documents = p.pages = p.cu_seqlens_q = p.cu_seqlens_k = nullptr;
  p.mask = p.keep = nullptr;
  p.prefix_sums = nullptr;
  p.q_scale = p.k_scale = p.v_scale = nullptr;
  return arguments;
}

void bind(Arguments& arguments, std::int32_t slot, void* address) {
  auto& [problem, outputs, gradients] = arguments;
  const auto floats = static_cast<float*>(address);
  const auto integers = static_cast<const std::int32_t*>(address);
  switch (slot) {
    case slot_q:
      problem.q = address;
      return;
    case slot_k:
      problem.k = address;
      return;
    case slot_v:
      problem.v = address;
      return;
    case slot_lengths:
      problem.lengths = integers;
      return;
    case slot_documents:
      problem.documents = integers;
      return;
    case slot_mask:
      problem.mask = static_cast<const std::uint8_t*>(address);
      return;
    case slot_keep:
      problem.keep = static_cast<const std::uint8_t*>(address);
      return;
    case slot_pages:
      problem.pages = integers;
      return;
    case slot_cu_seqlens_q:
      problem.cu_seqlens_q = integers;
      return;
    case slot_cu_seqlens_k:
      problem.cu_seqlens_k = integers;
      return;
    case slot_prefix_sums:
      problem.prefix_sums = static_cast<const double*>(address);
      return;
    case slot_q_scale:
      problem.q_scale = floats;
      return;
    case slot_k_scale:
      problem.k_scale = floats;
      return;
    case slot_v_scale:
      problem.v_scale = floats;
      return;
    case slot_o:
      outputs.o = address;
      gradients.o = address;
      return;
    case slot_lse:
      outputs.lse = floats;
      gradients.lse = floats;
      return;
    case slot_grad_o:
      gradients.grad_o = address;
      return;
    case slot_grad_lse:
      gradients.grad_lse = floats;
      return;
    case slot_grad_q:
      gradients.grad_q = address;
      return;
    case slot_grad_k:
      gradients.grad_k = address;
      return;
    case slot_grad_v:
      gradients.grad_v = address;
      return;
    default:
      break;
  }
  if (slot >= slot_parameters && slot < slot_grad_parameters) {
    problem.parameters[slot - slot_parameters] = floats;
  } else if (slot >= slot_grad_parameters && slot < slot_count) {
    gradients.grad_parameters[slot - slot_grad_parameters] = floats;
  } else {
    throw std::invalid_argument("no slot " + std::to_string(slot));
  }
}

int perform(const plumbline_kernel& kernel, std::int32_t pass, const Arguments& arguments,
            char* message, std::size_t message_size) {
  const auto& [problem, outputs, gradients] = arguments;
  switch (pass) {
    case PLUMBLINE_FORWARD:
      return kernel.forward(&problem, &outputs, message, message_size);
    case PLUMBLINE_BACKWARD:
      return kernel.backward(&problem, &gradients, message, message_size);
    case PLUMBLINE_DECODE:
      return kernel.decode(&problem, &outputs, message, message_size);
    default:
      throw std::invalid_argument("no pass " + std::to_string(pass));
  }
}

}  // namespace plumbline::kernel_process
