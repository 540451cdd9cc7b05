// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/told_apart.hpp"

#include <cmath>
#include <limits>

#include "tests/faults/judge/store.hpp"

namespace plumbline::bench {
namespace {

using F = FaultKind;

/// Few: their mean square is off by a half, and 1 over it a third too large on average, so that
/// faults look a third plainer than they are.
constexpr int kernels = 8;

template <class Real>
void append(std::vector<double>& all, const std::vector<Real>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

template <class Real>
std::vector<double> results_of(const cases::Case& the_case, const Variant& variant,
                               const Fault& fault, const cases::Outputs& given) {
  const Problem in = problem_of(the_case, fault);
  const Attention<Real> attention(in, variant, fault);
  Results<Real> results;
  std::vector<double> all;
  if (the_case.spec.pass == cases::Pass::backward) {
    results.o.assign(given.o.begin(), given.o.end());
    results.lse.assign(given.lse.begin(), given.lse.end());
    attention.backward(results, wanted_of(the_case.spec));
    spoil_gradients(results.grad_q, results.grad_k, results.grad_v, in, fault);
    append(all, results.grad_q);
    append(all, results.grad_k);
    append(all, results.grad_v);
    for (const auto& grad : results.grad_parameters) append(all, grad);
  } else {
    attention.forward(results);
    spoil_forward(results.o, results.lse, in, fault);
    append(all, results.o);
    append(all, results.lse);
  }
  return all;
}

/// Whether the plain loops in double have the fault: not what happens around them.
bool is_arithmetic(const Mutant& mutant) {
  if (mutant.info->place == Place::cache) return false;
  switch (mutant.fault.kind) {
    case F::scales_missing:
    case F::q_scale_missing:
    case F::k_scale_missing:
    case F::v_scale_missing:
    case F::scales_of_first_batch:
    case F::scales_of_next_head:
    case F::o_truncated:
    case F::last_row_unwritten:
    case F::last_component_unwritten:
    case F::dk_last_key_unwritten:
    case F::parameter_unwritten:
    case F::writes_past_end:
    case F::writes_before:
    case F::changes_input:
    case F::returns_error:
    case F::throws:
    case F::other_bits_each_run:
      return false;
    default:
      return true;
  }
}

}  // namespace

CorrectKernels correct_kernels(const cases::Case& the_case, const Variant& variant,
                               const cases::Outputs& given) {
  CorrectKernels correct{results_of<double>(the_case, variant, {}, given), {}};
  correct.variance.assign(correct.exact.size(), 0.0);
  for (int n = 0; n < kernels; ++n) {
    Variant other = drawn_variant(variant.p_format, n + 1);
    other.splits = variant.splits;
    other.cuts = variant.cuts;
    other.sums_rounded_p = variant.sums_rounded_p;
    other.prefix_in_float = variant.prefix_in_float;
    other.recomputed = variant.recomputed;
    other.lse_base_2 = variant.lse_base_2;
    other.p_format = variant.p_format;
    other.operand_bits = variant.operand_bits;
    other.cuts_operands = variant.cuts_operands;
    other.dithers = n + 1;
    const auto got = results_of<float>(the_case, other, {}, given);
    for (std::size_t e = 0; e < got.size(); ++e) {
      const double off = got[e] - correct.exact[e];
      if (off != 0 && !std::isnan(off)) correct.variance[e] += off * off / kernels;
    }
  }
  return correct;
}

double told_apart(const cases::Case& the_case, const CorrectKernels& correct, const Mutant& mutant,
                  const cases::Outputs& given) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!is_arithmetic(mutant)) return infinity;
  const auto got = results_of<double>(the_case, mutant.variant, mutant.fault, given);
  double sum = 0;
  bool moves = false;
  for (std::size_t n = 0; n < got.size(); ++n) {
    if (got[n] == correct.exact[n]) continue;  // infinities too
    moves = true;
    const double effect = std::abs(got[n] - correct.exact[n]);
    // What double loses in a number that no correct kernel has off.
    if (correct.variance[n] == 0 && effect <= 0x1p-40 * std::abs(correct.exact[n])) continue;
    const double term = effect * effect / correct.variance[n];
    if (!(term < infinity)) return infinity;
    sum += term;
  }
  // Some bit differs in floats: a fault that double does not show at all is one it does not have.
  return moves ? sum : infinity;
}

}  // namespace plumbline::bench
