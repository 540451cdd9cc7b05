// SPDX-License-Identifier: Apache-2.0
#include "verdict/identities/identities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/error.hpp"
#include "verdict/identities/cases.hpp"
#include "verdict/identities/runs.hpp"

namespace plumbline::verdict {
namespace {

void require_known(const cases::Spec& spec) {
  const auto require = [](bool holds, const char* field, const std::string& got,
                          const char* expected) {
    if (!holds) throw BadInput(field, got, expected);
  };
  using cases::Format;
  require(spec.format == Format::fp32 || spec.format == Format::tf32 ||
              spec.format == Format::fp16 || spec.format == Format::bf16,
          "dtype", std::string(cases::name(spec.format)), "fp32, tf32, fp16 or bf16");
  require(spec.pass != cases::Pass::decode, "pass", "decode", "forward or backward");
  require(!spec.ssmax, "ssmax", "1", "0");
  require(!spec.sinks, "sinks", "1", "0");
  require(spec.softcap == 0, "softcap", fmt::format("{}", spec.softcap), "none");
  require(!spec.mask.window.hides() && !spec.mask.ragged && !spec.mask.documents &&
              spec.mask.pattern == cases::Pattern::none,
          "mask", "a window, lengths, documents or a mask tensor", "causal or none");
  require(spec.value_width() == spec.head_dim && !spec.values_in_keys, "value_dim",
          std::to_string(spec.value_width()), "head_dim, and values apart from keys");
  require(!spec.lse_gradient, "lse_gradient", "1", "0");
  require(spec.dropout == 0, "dropout", fmt::format("{}", spec.dropout), "0");
  require(spec.rotary_dim == 0, "rotary_dim", std::to_string(spec.rotary_dim), "head_dim");
  require(spec.query_offset + spec.queries == spec.keys, "query_offset",
          std::to_string(spec.query_offset), "keys - queries");
  require(spec.family == cases::Family::generic, "family", std::string(cases::name(spec.family)),
          "generic");
}

void all_finite(Identity& identity, const cases::Outputs& outputs) {
  const std::pair<const char*, const std::vector<float>&> tensors[] = {{"o", outputs.o},
                                                                       {"lse", outputs.lse},
                                                                       {"grad_q", outputs.grad_q},
                                                                       {"grad_k", outputs.grad_k},
                                                                       {"grad_v", outputs.grad_v}};
  for (const auto& [name, tensor] : tensors) {
    for (std::size_t n = 0; n < tensor.size(); ++n) {
      if (std::isfinite(tensor[n])) continue;
      identity.worst += 1;
      if (identity.outcome == Outcome::pass) {
        identity.where = fmt::format("{}, element {}: {}", name, n, tensor[n]);
      }
      identity.outcome = Outcome::fail;
    }
  }
}

}  // namespace

cases::Outputs IdentityRuns::run(const cases::Case& c) const {
  KernelRun run = kernel.run(c);
  if (!run.failure.empty()) throw RunFailed{run.failure};
  return std::move(run.outputs);
}

void Within::element(const char* output, std::size_t index, double got, double expected,
                     double bound) {
  if (!std::isfinite(bound)) {
    identity_.outcome = worse(identity_.outcome, Outcome::undecided);
    if (identity_.where.empty()) identity_.where = "no finite bound at this length";
    return;
  }
  const double difference = std::abs(got - expected);
  double ratio = difference == 0 ? 0.0 : difference / bound;
  if (!(ratio >= 0)) ratio = std::numeric_limits<double>::infinity();
  const bool fails = !(difference <= bound);
  if (fails) identity_.outcome = Outcome::fail;
  if (!(ratio > identity_.worst)) return;
  identity_.worst = ratio;
  if (fails) {
    identity_.where =
        fmt::format("{}, element {}: {:.9g} and {:.9g}, bound of the difference {:.3g}", output,
                    index, got, expected, bound);
  }
}

void same_bits(Identity& identity, const char* output, const std::vector<float>& got,
               const std::vector<float>& expected, float factor, double smallest) {
  // Twice the smallest subnormal; smallest is half of it. Sums of 2^24 numbers below 2^-126, each
  // times 2^6 at most, may have lost bits that the other run kept.
  const double coarse = std::max(4 * smallest, 0x1p-96);
  long differing = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    const float should = factor * expected[n];
    if (std::bit_cast<std::uint32_t>(got[n]) == std::bit_cast<std::uint32_t>(should)) continue;
    if (std::abs(double{got[n]} - should) < coarse) continue;
    if (differing++ == 0 && identity.where.empty()) {
      identity.where =
          fmt::format("{}, element {}: {:.9g} and {:.9g}, which should be the same bits", output, n,
                      got[n], should);
    }
  }
  identity.worst += static_cast<double>(differing);
  if (differing > 0) identity.outcome = Outcome::fail;
}

double most_rescales(const IdentityRuns& runs) {
  const auto rescales = row_rescales(runs.base, runs.contract());
  return *std::max_element(rescales.begin(), rescales.end());
}

std::string no_bits(const IdentityRuns& runs) {
  return runs.kernel.deterministic() ? "" : "its bits may differ from run to run";
}

std::string no_bits_elsewhere(const IdentityRuns& runs) {
  if (runs.contract().splits > 1) return "ranges of keys may be shared out otherwise elsewhere";
  return no_bits(runs);
}

std::optional<ContractField> field_without_identities(const Contract& contract) {
  const ContractField fields[] = {{"head_gradient_format", contract.head_gradient_format},
                                  {"gradient_sum_format", contract.gradient_sum_format},
                                  {"output_sum_format", contract.output_sum_format},
                                  {"score_format", contract.score_format},
                                  {"grad_probability_format", contract.grad_probability_format},
                                  {"delta_format", contract.delta_format},
                                  {"lse_format", contract.lse_format},
                                  {"no_lse", contract.no_lse},
                                  {"alibi_of_key", contract.alibi_of_key},
                                  {"lse_base_2", contract.lse_base_2}};
  for (const ContractField& field : fields) {
    if (field.value != 0) return field;
  }
  return std::nullopt;
}

std::vector<Identity> check_identities(const Kernel& kernel, const cases::Spec& spec,
                                       const RunStarts& starts) {
  require_known(spec);
  if (const auto field = field_without_identities(kernel.contract(spec.format))) {
    throw BadInput(std::string("contract.") + field->name, std::to_string(field->value),
                   "0: the identities have no bounds for it");
  }
  const cases::Case base = identity_case(spec);
  if (starts) starts("the case itself");
  std::vector<Identity> results;
  const KernelRun run = kernel.run(base);
  if (!run.failure.empty()) {
    Identity runs{"runs", "the kernel gives outputs"};
    runs.outcome = Outcome::fail;
    runs.where = run.failure;
    return {runs};
  }
  const IdentityRuns runs{kernel, base, run.outputs, starts, results};
  ask(runs, "finite", "every output is a finite number", "",
      [&](Identity& identity) { all_finite(identity, run.outputs); });
  if (spec.pass == cases::Pass::forward) {
    forward_identities(runs);
    nan_identities(runs);
  } else {
    gradient_identities(runs);
  }
  return results;
}

}  // namespace plumbline::verdict
