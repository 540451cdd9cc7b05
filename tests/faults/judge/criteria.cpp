// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/criteria.hpp"

#include <algorithm>
#include <cmath>

#include "tests/faults/judge/same_precision.hpp"
#include "verdict/cases/formats.hpp"

namespace plumbline::bench {
namespace {

struct Tolerance {
  double absolute, relative;
};

bool all_close(const std::vector<float>& got, const std::vector<double>& exact,
               const Tolerance& tolerance) {
  for (std::size_t n = 0; n < got.size(); ++n) {
    const double limit = tolerance.absolute + tolerance.relative * std::abs(exact[n]);
    if (!(std::abs(got[n] - exact[n]) <= limit)) return false;
  }
  return true;
}

/// NaN where any element is one.
template <class T>
double largest_error(const std::vector<T>& got, const std::vector<double>& exact) {
  double largest = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    const double error = std::abs(got[n] - exact[n]);
    if (!(error <= largest)) largest = error;
    if (std::isnan(error)) break;
  }
  return largest;
}

bool small_mean_square(const std::vector<float>& got, const std::vector<double>& exact) {
  double error = 0, size = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    error += (got[n] - exact[n]) * (got[n] - exact[n]);
    size += exact[n] * exact[n];
  }
  return error <= 5e-4 * size;  // where all is 0: only 0 will do
}

/// torch.testing.assert_close's defaults.
Tolerance torch_default(cases::Format format) {
  if (cases::output_format(format) == cases::Format::bf16) return {1e-5, 1.6e-2};
  if (format == cases::Format::fp16) return {1e-5, 1e-3};
  return {1e-5, 1.3e-6};
}

/// xFormers' AttentionFwOpBase.ERROR_ATOL and ERROR_RTOL, and those of its backward operator.
Tolerance xformers(cases::Format format, bool gradient) {
  if (cases::output_format(format) == cases::Format::bf16)
    return gradient ? Tolerance{0.7, 0.1} : Tolerance{2e-2, 5e-3};
  if (format == cases::Format::fp16) {
    return gradient ? Tolerance{9.5e-2, 2e-2} : Tolerance{4e-3, 4e-4};
  }
  return gradient ? Tolerance{5e-4, 1e-4} : Tolerance{3e-4, 2e-5};
}

}  // namespace

const CriterionInfo& info(Criterion criterion) {
  static const CriterionInfo infos[criterion_count] = {
      {"flat 1e-2", "abs(a - b) <= 1e-2 + 1e-2 abs(b): KernelBench, and many others"},
      {"flat 1e-3", "abs(a - b) <= 1e-3 + 1e-3 abs(b)"},
      {"Triton's tutorial", "abs(a - b) <= 1e-2, rtol = 0: its fused attention"},
      {"torch defaults",
       "torch.testing.assert_close without arguments: atol 1e-5; rtol 1.3e-6 (fp32), 1e-3 (fp16), "
       "1.6e-2 (bf16)"},
      {"xFormers",
       "forward atol, rtol 3e-4, 2e-5 (fp32), 4e-3, 4e-4 (fp16), 2e-2, 5e-3 (bf16); gradients "
       "5e-4, "
       "1e-4, 9.5e-2, 2e-2 and 0.7, 0.1"},
      {"FlashAttention",
       "max abs(a - b) at most twice, for gradients three times, that of a run in the same "
       "precision; fp16 and bf16 alone"},
      {"llama.cpp", "sum (a - b)^2 <= 5e-4 sum b^2: test-backend-ops of flash attention"},
  };
  return infos[static_cast<int>(criterion)];
}

CriterionReference criterion_reference(cases::Case the_case, bool lse_base_2) {
  if (lse_base_2) {
    for (float& gradient : the_case.grad_lse) gradient /= static_cast<float>(ln_2);
  }
  CriterionReference reference{in_double(the_case), {}};
  if (applies(Criterion::flash_attention, the_case.spec.bias, the_case.spec.format)) {
    reference.same_precision = in_same_precision(the_case);
  }
  return reference;
}

bool applies(Criterion criterion, cases::Bias bias, cases::Format format) {
  return criterion != Criterion::flash_attention ||
         (!cases::needs_scores(bias) &&
          (format == cases::Format::bf16 || format == cases::Format::fp16));
}

bool looks_at_parameters(Criterion criterion) { return criterion != Criterion::flash_attention; }

bool accepts(Criterion criterion, const cases::Spec& spec, const CriterionReference& reference,
             const cases::Outputs& outputs) {
  if (!applies(criterion, spec.bias, spec.format)) return true;
  const auto accepted = [&](const std::vector<float>& got, const std::vector<double>& exact,
                            const std::vector<double>* same_precision, bool gradient) {
    switch (criterion) {
      case Criterion::flat_2:
        return all_close(got, exact, {1e-2, 1e-2});
      case Criterion::flat_3:
        return all_close(got, exact, {1e-3, 1e-3});
      case Criterion::triton:
        return all_close(got, exact, {1e-2, 0});
      case Criterion::torch_defaults:
        return all_close(got, exact, torch_default(spec.format));
      case Criterion::xformers:
        return all_close(got, exact, xformers(spec.format, gradient));
      case Criterion::flash_attention:
        return !same_precision || largest_error(got, exact) <=
                                      (gradient ? 3 : 2) * largest_error(*same_precision, exact);
      case Criterion::llama_cpp:
        return small_mean_square(got, exact);
    }
    return true;
  };
  const auto& [exact, same] = reference;
  if (!accepted(outputs.o, exact.o, &same.o, false)) return false;
  if (spec.pass != cases::Pass::backward) return true;
  if (!accepted(outputs.grad_q, exact.grad_q, &same.grad_q, true)) return false;
  if (!accepted(outputs.grad_k, exact.grad_k, &same.grad_k, true)) return false;
  if (!accepted(outputs.grad_v, exact.grad_v, &same.grad_v, true)) return false;
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    if (n == PLUMBLINE_OUTPUT_BIAS) continue;  // exactly 0: any rounding is infinitely far off
    if (!accepted(outputs.grad_parameters[n], exact.grad_parameters[n], nullptr, true)) {
      return false;
    }
  }
  return true;
}

}  // namespace plumbline::bench
