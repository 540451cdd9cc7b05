// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/kernel.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "tests/faults/judge/store.hpp"
#include "verdict/cases/method_inputs.hpp"

namespace plumbline::bench {
namespace {

using F = FaultKind;

thread_local Setting setting;

thread_local unsigned calls = 0;

template <class T>
std::size_t bytes_of_output(const std::vector<T>& values, int format) {
  return values.size() * (format == PLUMBLINE_BF16 || format == PLUMBLINE_FP16 ? 2 : 4);
}

/// Of o, or of gradients.
int stored_format(const plumbline_problem& p, bool in_float) {
  return in_float ? int{PLUMBLINE_FP32} : output_format(p.format);
}

/// Faults that the process sees, not the numbers.
void misbehave(const plumbline_problem& p, void* output, std::size_t bytes) {
  switch (setting.fault.kind) {
    case F::writes_past_end:
      static_cast<char*>(output)[bytes + 1] = 1;
      return;
    case F::writes_before:
      static_cast<char*>(output)[-2] = 1;
      return;
    case F::changes_input:
      static_cast<char*>(const_cast<void*>(p.q))[0] ^= 1;
      return;
    case F::throws:
      throw std::runtime_error("a fault on purpose");
    default:
      return;
  }
}

int attend(const plumbline_problem* p, const plumbline_outputs* outputs, char* message,
           std::size_t size, bool decodes) {
  const Fault& fault = setting.fault;
  if (fault.is(F::returns_error)) {
    std::snprintf(message, size, "a fault on purpose");
    return 1;
  }
  Problem in = read_problem(*p, nullptr, decodes, setting.variant.prefix_in_float, fault);
  in.formula = setting.formula;
  Results<float> results;
  Attention<float>(in, setting.variant, fault).forward(results);
  spoil_forward(results.o, results.lse, in, fault);
  if (fault.is(F::other_bits_each_run) && ++calls % 2 == 0) {
    results.lse[0] = std::nextafter(results.lse[0], 0.0F);
  }
  const std::size_t row = p->value_dim;
  const std::size_t unwritten = fault.is(F::last_row_unwritten)         ? row
                                : fault.is(F::last_component_unwritten) ? 1
                                                                        : 0;
  const Rows of_o = fault.is(F::o_stored_contiguous) && p->strided != 0 ? Rows{} : output_rows(*p);
  const int format = stored_format(*p, setting.variant.float_o);
  store(results.o, outputs->o, format, fault.is(F::o_truncated), of_o, unwritten);
  for (float& lse : results.lse) lse = rounded(lse, setting.variant.lse_format);
  if (outputs->lse != nullptr)
    store(results.lse, outputs->lse, PLUMBLINE_FP32, false, lse_rows(*p));
  misbehave(*p, outputs->o, bytes_of_output(results.o, format));
  return 0;
}

int forward(const plumbline_problem* p, const plumbline_outputs* outputs, char* message,
            std::size_t size) {
  return attend(p, outputs, message, size, false);
}
int decode(const plumbline_problem* p, const plumbline_outputs* outputs, char* message,
           std::size_t size) {
  return attend(p, outputs, message, size, true);
}

int backward(const plumbline_problem* p, const plumbline_gradients* g, char*, std::size_t) {
  const Fault& fault = setting.fault;
  Problem in = read_problem(*p, g->grad_o, false, setting.variant.prefix_in_float, fault);
  in.formula = setting.formula;
  const std::size_t rows = static_cast<std::size_t>(p->batch) * p->heads * p->queries;
  if (p->lse_gradient) in.grad_lse = widened(g->grad_lse, rows, PLUMBLINE_FP32, lse_rows(*p));
  Results<float> results;
  // What the forward pass stored, read like an input.
  const int format = stored_format(*p, setting.variant.float_gradients);
  results.o = widened(g->o, rows * p->value_dim, stored_format(*p, setting.variant.float_o),
                      output_rows(*p));
  if (g->lse != nullptr) results.lse = widened(g->lse, rows, PLUMBLINE_FP32, lse_rows(*p));
  std::array<bool, PLUMBLINE_PARAMETER_COUNT> wanted{};
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) wanted[n] = g->grad_parameters[n] != nullptr;
  Attention<float>(in, setting.variant, fault).backward(results, wanted);
  spoil_gradients(results.grad_q, results.grad_k, results.grad_v, in, fault);
  const Rows of_k = fault.is(F::dk_stored_contiguous) && p->strided != 0 ? Rows{} : key_rows(*p);
  store(results.grad_q, g->grad_q, format, false, query_rows(*p));
  store(results.grad_k, g->grad_k, format, false, of_k,
        fault.is(F::dk_last_key_unwritten) ? p->head_dim : 0);
  store(results.grad_v, g->grad_v, format, false, value_rows(*p));
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    if (!wanted[n]) continue;
    store(results.grad_parameters[n], g->grad_parameters[n], PLUMBLINE_FP32, false, {},
          fault.is(F::parameter_unwritten) ? 1 : 0);
  }
  return 0;
}

int supports(const plumbline_problem* p, std::int32_t) {
  constexpr std::int32_t last = PLUMBLINE_HAS_PACKED_SEQUENCES;
  return plumbline_features(p) < 2 * last;  // all that there are
}

}  // namespace

verdict::Kernel kernel_of(const Setting& of) {
  setting = of;
  plumbline_kernel kernel{};
  kernel.name = "campaign";
  for (auto& contract : kernel.contracts) contract = contract_of(of.variant);
  kernel.deterministic = 1;
  kernel.supports = supports;
  kernel.forward = forward;
  kernel.backward = backward;
  kernel.decode = decode;
  kernel.ignores_hidden_keys =
      of.variant.ignores_hidden_keys || of.fault.is(F::hidden_values_times_zero);
  // The caller keeps a pointer to the structure: it lives as long as what "keeps the library".
  const auto keep = std::make_shared<plumbline_kernel>(kernel);
  return {keep, *keep};
}

std::array<bool, PLUMBLINE_PARAMETER_COUNT> wanted_of(const cases::Spec& spec) {
  std::array<bool, PLUMBLINE_PARAMETER_COUNT> wanted{};
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    wanted[n] = cases::has_gradient(spec, static_cast<plumbline_parameter>(n));
  }
  return wanted;
}

Problem problem_of(const cases::Case& c, const Fault& fault) {
  const auto& spec = c.spec;
  plumbline_problem p{};
  p.batch = spec.batch;
  p.heads = spec.heads;
  p.kv_heads = spec.kv_heads;
  p.queries = spec.queries;
  p.keys = spec.keys;
  p.head_dim = spec.head_dim;
  p.value_dim = spec.value_width();
  p.values_in_keys = spec.values_in_keys;
  p.query_offset = spec.query_offset;
  p.queries_at_end = spec.queries_at_end;
  p.format = PLUMBLINE_FP32;  // as they lie in the case: floats
  p.bias = spec.bias.method;
  p.dape = spec.bias.dape;
  p.rope = spec.bias.rope;
  p.rotary_dim = spec.rotary_width();
  p.ssmax = spec.ssmax;
  p.sinks = spec.sinks;
  p.softcap = spec.softcap;
  p.causal = spec.mask.causal;
  p.window_left = spec.mask.window.left;
  p.window_right = spec.mask.window.right;
  p.scale = c.scale;
  std::copy(c.options.begin(), c.options.end(), p.options);
  p.q = c.q.data();
  p.k = c.k.data();
  p.v = c.v.data();
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto& values = c.parameters[n];
    p.parameters[n] = values.empty() ? nullptr : values.data();
  }
  p.lengths = c.lengths.empty() ? nullptr : c.lengths.data();
  p.documents = c.documents.empty() ? nullptr : c.documents.data();
  p.mask = c.mask.empty() ? nullptr : c.mask.data();
  p.mask_per_batch = spec.mask.per_batch;
  p.mask_per_head = spec.mask.per_head;
  p.lse_gradient = spec.lse_gradient;
  p.dropout = spec.dropout;
  p.dropout_generator = spec.dropout > 0 && !spec.keep_given;
  p.dropout_seed = c.dropout_seed;
  p.dropout_offset = c.dropout_offset;
  p.keep = c.keep.empty() ? nullptr : c.keep.data();
  Problem in = read_problem(p, c.grad_o.empty() ? nullptr : c.grad_o.data(), false, false, fault);
  in.p.format = static_cast<std::int32_t>(spec.format);
  in.formula = built_in_formula(spec.bias);
  in.grad_lse = c.grad_lse;
  in.query_lengths = c.query_lengths;
  return in;
}

Results<double> in_double(const cases::Case& the_case) {
  const Problem in = problem_of(the_case);
  const Variant variant;
  const Fault fault;
  const Attention<double> attention(in, variant, fault);
  Results<double> results;
  attention.forward(results);
  if (the_case.spec.pass == cases::Pass::backward) {
    attention.backward(results, wanted_of(the_case.spec));
  }
  return results;
}

}  // namespace plumbline::bench
