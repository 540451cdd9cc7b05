// SPDX-License-Identifier: Apache-2.0
#include "verdict/conventions/matching_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <optional>

#include "verdict/cases/bias_parameters.hpp"
#include "verdict/cases/method_inputs.hpp"
#include "verdict/conventions/convention.hpp"
#include "verdict/conventions/reading.hpp"
#include "verdict/judge/gradients.hpp"
#include "verdict/oracle/case_reading.hpp"
#include "verdict/oracle/sample.hpp"

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
  std::vector<Tensor> tensors{
      {&outputs.grad_q, &gradients.q, dim},
      {&outputs.grad_k, &gradients.k, dim},
      {&outputs.grad_v, &gradients.v, static_cast<std::size_t>(c.spec.value_width())}};
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto p = static_cast<plumbline_parameter>(n);
    if (!cases::has_gradient(c.spec, p)) continue;
    tensors.push_back({&outputs.grad_parameters[n], &gradients.parameters[n], 1});
  }
  return tensors;
}

/// Of a search: so much of a case is read for every convention, as work_of() counts it, but one key
/// head at least, which must not have more than the second.
constexpr double most_work_of_search = 0x1p24, most_work_of_part = 0x1p26;

bool tensor_agrees(const Tensor& tensor) {
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

void leave_out(Numbers& numbers, std::size_t first, std::size_t count) {
  for (std::size_t n = first; n < first + count; ++n) numbers[n].not_judged = true;
}

/// What lies outside of the sample, and all parameters, which are sums over what does.
void leave_out_others(OracleGradients& gradients, const Sample& sample, const cases::Spec& s) {
  if (sample.whole()) return;
  const std::size_t of_keys = static_cast<std::size_t>(s.keys) * s.head_dim,
                    of_values = static_cast<std::size_t>(s.keys) * s.value_width(),
                    of_queries =
                        static_cast<std::size_t>(s.heads / s.kv_heads) * s.queries * s.head_dim;
  for (int kv = 0; kv < s.batch * s.kv_heads; ++kv) {
    if (sample.has_key_head(kv)) continue;
    leave_out(gradients.k, kv * of_keys, of_keys);
    leave_out(gradients.v, kv * of_values, of_values);
    leave_out(gradients.q, kv * of_queries, of_queries);
  }
  for (auto& parameter : gradients.parameters) leave_out(parameter, 0, parameter.size());
}

/// What gradients are read of, but for the convention.
struct Setting {
  const Evidence& evidence;
  const Contract& contract;
  const Sample& sample;
  int threads;
};

/// @param recomputed as gradient_oracle() reads a kernel that computes P and D itself.
OracleGradients gradients_of(const Case& c, const cases::Outputs& given, const Setting& setting,
                             bool recomputed, const OtherRows& other = {}) {
  const auto& outputs = setting.evidence.outputs;
  const GradientFormats formats = gradient_formats(c.spec, setting.contract, outputs);
  auto gradients = gradient_oracle(c, setting.contract, formats, recomputed ? nullptr : &given,
                                   setting.threads, setting.sample, other);
  leave_out_others(gradients, setting.sample, c.spec);
  return gradients;
}

/// Rows as a convention of the forward pass has them.
/// @param own the case as it is. Both must outlive the result.
OtherRows other_rows(const Convention& convention, const Case& own) {
  OtherRows other;
  const auto row_of = [&own](int batch, int head, int query) {
    return QueryRow{own, batch, head, query, own.position(batch, query)};
  };
  if (convention.sees || convention.keeps_mask) {
    other.visible = [&convention, row_of, mask = mask_of(own)](int batch, int head, int query,
                                                               std::vector<int> of_read) {
      return visible_keys(convention, row_of(batch, head, query), mask, std::move(of_read));
    };
  }
  if (convention.bias) {
    other.bias = [&convention, row_of](const auto& of_key, int batch, int head, int query,
                                       int key) {
      return convention.bias(of_key, row_of(batch, head, query), key);
    };
  }
  return other;
}

/// Of one key head and its query heads.
double work_of_part(const cases::Spec& s) {
  const int together = s.bias.dape_taps() > 0 ? s.kv_heads : 1;
  return work_of(s) / (s.batch * s.kv_heads) * together;
}

/// By how many bits the gradients are the convention's and no others; nothing where they are not
/// the convention's. @param own the case's, with P and D saved and recomputed.
std::optional<double> explains(const GradientConvention& convention, const Setting& setting,
                               const std::array<OracleGradients, 2>& own) {
  const auto& [c, outputs, judgement] = setting.evidence;
  Case read = c;
  cases::Outputs given = outputs;
  OtherRows other;
  const Convention* of_forward = convention.of_forward;
  if (convention.reads) convention.reads(read, given);
  if (of_forward) {
    // Score methods' gradients are not read by row.
    const bool by_row = of_forward->sees || of_forward->keeps_mask || of_forward->bias;
    if (by_row && cases::needs_scores(c.spec.bias)) return std::nullopt;
    if (of_forward->reads) of_forward->reads(read);
    other = other_rows(*of_forward, c);
  }
  if (read.spec.kv_heads != c.spec.kv_heads) return std::nullopt;  // gradients of another shape
  if (read.spec.sinks != c.spec.sinks) return std::nullopt;        // or of other parameters
  const bool reads = convention.reads || of_forward;
  // Then it is computed from what is given.
  const bool of_given = given.o != outputs.o || given.lse != outputs.lse || other.bias;
  for (const bool recomputed : {false, true}) {
    if (of_given && (recomputed || (other.bias && setting.contract.no_lse))) return std::nullopt;
    OracleGradients gradients = own[recomputed];
    if (reads) {
      auto of_reading = gradients_of(read, given, setting, recomputed, other);
      if (convention.seen_in == GradientConvention::all) {
        gradients = std::move(of_reading);
      } else if (convention.seen_in == GradientConvention::all_but_v) {
        of_reading.v = std::move(gradients.v);
        gradients = std::move(of_reading);
      } else {
        if (convention.seen_in != GradientConvention::v_only) gradients.k = std::move(of_reading.k);
        if (convention.seen_in != GradientConvention::k_only) gradients.v = std::move(of_reading.v);
      }
    }
    if (other.bias) {  // its derivative is the kernel's own affair
      for (auto& parameter : gradients.parameters) leave_out(parameter, 0, parameter.size());
    }
    if (convention.gives) convention.gives(gradients, c);
    const auto tensors = tensors_of(c, outputs, gradients);
    if (!std::all_of(tensors.begin(), tensors.end(), tensor_agrees)) continue;
    double bits = 0;
    const auto right = tensors_of(c, outputs, own[recomputed]);
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
  for (const Convention* of : conventions_of_the_forward_pass()) {
    if (of->factor || of->bias_without_factor || of->lse || of->place) continue;
    if (!of->reads && !of->sees && !of->bias) continue;
    GradientConvention convention;
    convention.name = "backward_" + std::string(of->name);
    convention.words = "whose backward pass is that of a kernel " + std::string(of->words);
    convention.remedy = of->remedy;
    convention.concerns = of->concerns;
    convention.of_forward = of;
    candidates_.push_back({convention});
  }
}

void GradientSearch::consider(const Evidence& evidence, const Contract& contract, int threads) {
  const Case& c = evidence.the_case;
  const Sample some(c.spec, most_work_of_search), judged(c.spec);
  // A file's case is read whole.
  const double most = some.whole() ? work_of(c.spec) : work_of_part(c.spec);
  if (most > most_work_of_part) return;
  const auto& judgement = evidence.judgement;
  const bool forward_fails = judgement.output("o").outcome == Outcome::fail ||
                             (!contract.no_lse && judgement.output("lse").outcome == Outcome::fail);
  if (forward_fails) return candidates_.clear();
  const auto keep = [&](const Sample& sample, bool counts) {
    const Setting setting{evidence, contract, sample, threads};
    std::array<OracleGradients, 2> own;
    for (const bool recomputed : {false, true}) {
      own[recomputed] = gradients_of(c, evidence.outputs, setting, recomputed);
    }
    std::erase_if(candidates_, [&](Candidate& candidate) {
      const auto& convention = candidate.convention;
      if (convention.of_natural_lse && contract.lse_base_2) return true;
      if (convention.concerns && !convention.concerns(c)) {
        return judgement.outcome == Outcome::fail;
      }
      try {
        const auto bits = explains(convention, setting, own);
        if (counts) candidate.bits += bits.value_or(0);
        return !bits;
      } catch (const std::exception&) {
        return true;  // the equations refuse to be read so
      }
    });
  };
  keep(some, some.whole());
  // What explains a part may not explain the rest.
  if (!some.whole() && !candidates_.empty()) keep(judged, true);
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
