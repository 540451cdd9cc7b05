// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge/gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "support/error.hpp"
#include "verdict/cases/method_inputs.hpp"
#include "verdict/judge/element.hpp"
#include "verdict/oracle/gradient_oracle.hpp"
#include "verdict/oracle/sample.hpp"

namespace plumbline::verdict {
namespace {

/// What an index along an axis counts; nothing for the axis of a single number.
std::string axis_of(methods::Extent extent) {
  using methods::Extent;
  switch (extent) {
    case Extent::one:
      return "";
    case Extent::batch:
    case Extent::batch_or_1:
    case Extent::batch_or_none:
      return "batch";
    case Extent::heads:
    case Extent::heads_or_1:
      return "head";
    case Extent::twice_heads:
      return "channel";
    case Extent::queries:
    case Extent::queries_or_1:
      return "query";
    case Extent::keys:
      return "key";
    case Extent::head_dim:
      return "component";
    case Extent::taps:
      return "tap";
    case Extent::hidden:
      return "unit";
    case Extent::positions:
      return "position";
    case Extent::buckets:
    case Extent::distances:
    case Extent::signed_distances:
      return "row";
  }
  throw std::logic_error("an extent that counts nothing");
}

/// Of cases::shape_of.
std::vector<std::string> axes_of(const cases::Spec& spec, plumbline_parameter parameter) {
  const methods::Method method = methods::of(spec.bias);
  std::vector<std::string> axes;
  for (const methods::Extent extent : methods::parameter_of(method, parameter).shape) {
    if (extent != methods::Extent::one) axes.push_back(axis_of(extent));
  }
  return axes;
}

/// A tensor of this shape, in order. Of the elements, only those of the sample's key heads; what is
/// summed over sequences or heads needs all of these.
OutputJudgement judge_tensor(const std::string& name, std::vector<std::string> axes,
                             const cases::Shape& shape, const std::vector<OracleNumber>& oracle,
                             const std::vector<float>& got, const cases::Spec& spec,
                             const Sample& sample) {
  if (got.size() != oracle.size()) {
    throw BadInput(name, fmt::format("{} numbers", got.size()), fmt::format("{}", oracle.size()));
  }
  OutputJudgement judgement;
  judgement.name = name;
  judgement.axes = std::move(axes);
  judgement.shape.assign(shape.begin(), shape.begin() + judgement.axes.size());
  const auto head_axis = std::find(judgement.axes.begin(), judgement.axes.end(), "head");
  const bool by_head = head_axis != judgement.axes.end();
  const std::size_t head = head_axis - judgement.axes.begin();
  if (by_head) judgement.failed_by_head.assign(shape[head], 0);
  std::array<int, 4> index{};
  const auto in_sample = [&] {
    if (sample.whole()) return true;
    if (!by_head) return false;
    // grad_k and grad_v count key heads.
    const int heads = name == "grad_k" || name == "grad_v" ? spec.kv_heads : spec.heads;
    if (shape[head] < heads) return false;
    if (head == 0 || shape[0] < spec.batch) return sample.has_head_everywhere(index[head]);
    return sample.has_key_head(index[0] * spec.kv_heads + index[head] / (heads / spec.kv_heads));
  };
  for (std::size_t n = 0; n < got.size(); ++n) {
    const long failed = judgement.failed;
    if (in_sample()) {
      judge_element(judgement, oracle[n], got[n], index);
    } else {
      judge_outside_sample(judgement, got[n], index, spec.family);
    }
    if (by_head) judgement.failed_by_head[index[head]] += judgement.failed - failed;
    for (std::size_t axis = judgement.axes.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return judgement;
}

Outcome worst_of(const std::vector<OutputJudgement>& judgements) {
  Outcome worst = Outcome::pass;
  for (const auto& judgement : judgements) worst = worse(worst, judgement.outcome);
  return worst;
}

/// @param given as gradient_oracle() takes it.
std::vector<OutputJudgement> judge_against(const cases::Case& the_case, const Contract& contract,
                                           const cases::Outputs& outputs,
                                           const cases::Outputs* given, int threads) {
  const auto& spec = the_case.spec;
  const GradientFormats formats = gradient_formats(spec, contract, outputs);
  const Sample sample(spec);
  const OracleGradients oracle = gradient_oracle(the_case, contract, formats, given, threads);
  const std::vector<std::string> of_query{"batch", "head", "query", "component"};
  const std::vector<std::string> of_key{"batch", "head", "key", "component"};
  std::vector<OutputJudgement> judgements;
  judgements.push_back(judge_tensor("grad_q", of_query, cases::query_shape(spec), oracle.q,
                                    outputs.grad_q, spec, sample));
  judgements.push_back(judge_tensor("grad_k", of_key, cases::key_shape(spec), oracle.k,
                                    outputs.grad_k, spec, sample));
  judgements.push_back(judge_tensor("grad_v", of_key, cases::value_shape(spec), oracle.v,
                                    outputs.grad_v, spec, sample));
  const Drift* drifts[] = {&oracle.q_drift, &oracle.k_drift, &oracle.v_drift};
  for (int n = 0; n < 3; ++n) {
    judgements[n].drift.add(*drifts[n]);
    judge_drift(judgements[n]);
  }
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto p = static_cast<plumbline_parameter>(n);
    if (!cases::has_gradient(spec, p)) continue;
    judgements.push_back(judge_tensor(cases::gradient_name(spec.bias, p), axes_of(spec, p),
                                      cases::shape_of(spec, the_case.options, p),
                                      oracle.parameters[n], outputs.grad_parameters[n], spec,
                                      sample));
    // The same for all keys of a row, it has a gradient of 0 but for what is wrong with D: there is
    // nothing to see.
    if (p == PLUMBLINE_OUTPUT_BIAS && !spec.lse_gradient)
      judgements.back().nonzero = judgements.back().blind = 0;
  }
  return judgements;
}

}  // namespace

namespace {

cases::Format stored_format(const cases::Spec& spec, std::int32_t is_float,
                            const std::vector<float>& numbers) {
  if (is_float != 0) return cases::Format::fp32;
  const cases::Format format = cases::output_format(spec.format);
  const bool all = std::all_of(numbers.begin(), numbers.end(), [&](float value) {
    return std::isnan(value) || cases::stored(value, format) == value;
  });
  return all ? format : cases::Format::fp32;
}

}  // namespace

cases::Format o_format(const cases::Spec& spec, const Contract& contract,
                       const cases::Outputs& outputs) {
  return stored_format(spec, contract.float_o, outputs.o);
}

GradientFormats gradient_formats(const cases::Spec& spec, const Contract& contract,
                                 const cases::Outputs& outputs) {
  const std::int32_t is_float = contract.float_gradients;
  return {o_format(spec, contract, outputs), stored_format(spec, is_float, outputs.grad_q),
          stored_format(spec, is_float, outputs.grad_k),
          stored_format(spec, is_float, outputs.grad_v)};
}

std::vector<OutputJudgement> judge_gradients(const cases::Case& the_case, const Contract& contract,
                                             const cases::Outputs& outputs, int threads) {
  auto given = judge_against(the_case, contract, outputs, &outputs, threads);
  if (worst_of(given) == Outcome::pass) return given;
  auto recomputed = judge_against(the_case, contract, outputs, nullptr, threads);
  return worst_of(recomputed) < worst_of(given) ? recomputed : given;
}

}  // namespace plumbline::verdict
