// SPDX-License-Identifier: Apache-2.0
// The criteria of well-known suites, written anew from their published numbers.
#pragma once

#include <array>
#include <string_view>

#include "tests/faults/judge/kernel.hpp"

namespace plumbline::bench {

enum class Criterion {
  flat_2,           ///< |a - b| <= 1e-2 + 1e-2 |b|
  flat_3,           ///< |a - b| <= 1e-3 + 1e-3 |b|
  triton,           ///< |a - b| <= 1e-2
  torch_defaults,   ///< torch.testing.assert_close without arguments
  xformers,         ///< tolerances by format
  flash_attention,  ///< twice, for gradients three times, the error of a same-precision run
  llama_cpp         ///< sum (a - b)^2 <= 5e-4 sum b^2
};
inline constexpr int criterion_count = 7;

struct CriterionInfo {
  const char* name;
  const char* what;  ///< the rule and where it is used
};
const CriterionInfo& info(Criterion);

/// What the criteria compare outputs with. Computed once for a case.
struct CriterionReference {
  Results<double> exact, same_precision;
};
/// @param lse_base_2 the kernel's, so that the case's gradient through lse is of one to base 2
CriterionReference criterion_reference(cases::Case the_case, bool lse_base_2);

/// Whether the criterion says anything of the format: FlashAttention's is one of fp16 and bf16.
bool applies(Criterion, cases::Bias, cases::Format);
/// And of the gradients of a bias's parameters: FlashAttention has none.
bool looks_at_parameters(Criterion);

/// Whether it accepts o, dQ, dK, dV and, where it has a tolerance for them, the gradients of
/// parameters. LSE is left out, as their tests of attention do.
bool accepts(Criterion, const cases::Spec&, const CriterionReference&, const cases::Outputs&);

}  // namespace plumbline::bench
