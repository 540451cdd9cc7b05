// SPDX-License-Identifier: Apache-2.0
#include "verdict/conventions/matching_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <optional>

#include "cases/method_inputs.hpp"
#include "verdict/conventions/convention.hpp"
#include "verdict/judge_gradients.hpp"

namespace plumbline::verdict {
namespace {

using cases::Case;
using Numbers = std::vector<OracleNumber>;

/// One gradient tensor: as returned, and its oracle's numbers. `row` elements share their errors.
struct Tensor {
  const std::vector<float>* got;
  const Numbers* expected;
  std::size_t row;
};

std::vector<Tensor> tensors_of(const Case& c, const cases::Outputs& outputs,
                               const OracleGradients& gradients) {
  const auto dim = static_cast<std::size_t>(c.spec.head_dim);
  std::vector<Tensor> tensors{{&outputs.grad_q, &gradients.q, dim},
                              {&outputs.grad_k, &gradients.k, dim},
                              {&outputs.grad_v, &gradients.v, dim}};
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto p = static_cast<plumbline_parameter>(n);
    if (!cases::has_gradient(c.spec, p)) continue;
    tensors.push_back({&outputs.grad_parameters[n], &gradients.parameters[n], 1});
  }
  return tensors;
}

bool agrees(const Tensor& tensor) {
  for (std::size_t n = 0; n < tensor.got->size(); ++n) {
    const OracleNumber& x = (*tensor.expected)[n];
    if (!x.not_judged && std::isfinite(x.bound) &&
        !(std::abs((*tensor.got)[n] - x.value) <= x.bound + x.radius)) {
      return false;
    }
  }
  return true;
}

double bits_apart(const Tensor& tensor, const Numbers& right) {
  const Numbers& of_convention = *tensor.expected;
  double bits = 0;
  for (std::size_t first = 0; first < right.size(); first += tensor.row) {
    double of_row = 0;
    for (std::size_t n = first; n < first + tensor.row; ++n) {
      of_row = std::max(of_row, verdict::bits_apart(of_convention[n], right[n]));
    }
    bits += of_row;
  }
  return bits;
}

/// @param anew as gradient_oracle() reads a kernel that computes P and D itself.
OracleGradients gradients_of(const Case& c, const cases::Outputs& outputs,
                             const cases::Outputs& given, const Contract& contract, bool anew,
                             int threads) {
  const auto& spec = c.spec;
  const GradientFormats formats{stored_format(spec, outputs.o), stored_format(spec, outputs.grad_q),
                                stored_format(spec, outputs.grad_k),
                                stored_format(spec, outputs.grad_v)};
  return gradient_oracle(c, contract, formats, anew ? nullptr : &given, threads);
}

bool is_too_large(const cases::Spec& s) {
  return static_cast<double>(s.batch) * s.heads * s.queries * s.keys * s.head_dim > 0x1p24;
}

/// By how many bits the gradients are the convention's and no others; nothing where they are not
/// the convention's. @param own the case's, with P and D given and anew.
std::optional<double> explains(const GradientConvention& convention, const Evidence& evidence,
                               const std::array<OracleGradients, 2>& own, const Contract& contract,
                               int threads) {
  const Case& c = evidence.the_case;
  Case read = c;
  cases::Outputs given = evidence.outputs;
  if (convention.reads) convention.reads(read, given);
  if (convention.reads_case) convention.reads_case(read);
  if (read.spec.kv_heads != c.spec.kv_heads) return std::nullopt;  // gradients of another shape
  const bool reads = convention.reads || convention.reads_case;
  const bool changes_given = given.o != evidence.outputs.o || given.lse != evidence.outputs.lse;
  for (const bool anew : {false, true}) {
    if (anew && changes_given) return std::nullopt;  // it is not computed from what is given
    OracleGradients gradients = own[anew];
    if (reads) {
      auto other = gradients_of(read, evidence.outputs, given, contract, anew, threads);
      if (convention.seen_in == GradientConvention::all) {
        gradients = std::move(other);
      } else {
        if (convention.seen_in != GradientConvention::v_only) gradients.k = std::move(other.k);
        if (convention.seen_in != GradientConvention::k_only) gradients.v = std::move(other.v);
      }
    }
    if (convention.gives) convention.gives(gradients, c);
    const auto tensors = tensors_of(c, evidence.outputs, gradients);
    if (!std::all_of(tensors.begin(), tensors.end(), agrees)) continue;
    double bits = 0;
    const auto right = tensors_of(c, evidence.outputs, own[anew]);
    for (std::size_t n = 0; n < tensors.size(); ++n) {
      bits += bits_apart(tensors[n], *right[n].expected);
    }
    return bits;
  }
  return std::nullopt;
}

}  // namespace

GradientSearch::GradientSearch() {
  for (const auto& convention : conventions_of_gradients()) candidates_.push_back({convention});
  for (const auto* conventions : {&conventions_of_biases(), &conventions_of_parameters(),
                                  &conventions_of_masks(), &conventions_of_scores()}) {
    for (const Convention& of : *conventions) {
      if (!of.reads || of.keeps_mask || of.sees || of.bias || of.factor || of.lse || of.place) {
        continue;
      }
      GradientConvention convention;
      convention.name = "backward_" + std::string(of.name);
      convention.words = "whose backward pass is that of a kernel " + std::string(of.words);
      convention.remedy = of.remedy;
      convention.concerns = of.concerns;
      convention.reads_case = of.reads;
      candidates_.push_back({convention});
    }
  }
}

void GradientSearch::consider(const Evidence& evidence, const Contract& contract, int threads) {
  const Case& c = evidence.the_case;
  if (is_too_large(c.spec)) return;
  const auto& judgement = evidence.judgement;
  const bool forward_fails = judgement.output("o").outcome == Outcome::fail ||
                             (!contract.no_lse && judgement.output("lse").outcome == Outcome::fail);
  std::array<OracleGradients, 2> own;
  for (const bool anew : {false, true}) {
    own[anew] = gradients_of(c, evidence.outputs, evidence.outputs, contract, anew, threads);
  }
  const auto refutes = [&](Candidate& candidate) {
    const auto& convention = candidate.convention;
    if (forward_fails) return true;
    if (convention.concerns && !convention.concerns(c)) return judgement.outcome == Outcome::fail;
    try {
      const auto bits = explains(convention, evidence, own, contract, threads);
      candidate.bits += bits.value_or(0);
      return !bits;
    } catch (const std::exception&) {
      return true;  // the equations refuse to be read so
    }
  };
  std::erase_if(candidates_, refutes);
}

std::vector<Match> GradientSearch::matches() const {
  std::vector<Match> matches;
  for (const auto& [convention, bits] : candidates_) {
    if (bits < enough_bits) continue;
    matches.push_back({convention.name, fmt::format("the gradients are those of a kernel {}: {}",
                                                    convention.words, convention.remedy)});
  }
  return matches;
}

}  // namespace plumbline::verdict
