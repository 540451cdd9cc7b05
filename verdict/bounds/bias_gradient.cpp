// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/bias_gradient.hpp"

#include "verdict/bias/methods.hpp"

namespace plumbline::verdict {

int elements_of_head(const cases::Case& the_case, plumbline_parameter parameter) {
  const auto& spec = the_case.spec;
  std::size_t size = the_case[parameter].size();
  const methods::Method method = methods::of(spec.bias);
  for (const methods::Extent extent : methods::parameter_of(method, parameter).shape) {
    if (extent == methods::Extent::batch) size /= spec.batch;
    if (extent == methods::Extent::heads) size /= spec.heads;
  }
  return static_cast<int>(size);
}

RowDerivatives BiasGradient::row(int batch, int head, int position, const std::vector<int>& visible,
                                 const std::vector<double>& exact) const {
  RowDerivatives result;
  if (case_.spec.bias.method == PLUMBLINE_COPE) return result;
  const bias::DerivativeRow row{case_,    contract_, bias_error_, batch, head,
                                position, visible,   exact,       result};
  if (!case_[PLUMBLINE_TABLE].empty()) {
    row.table([&](int i, int j) { return reading_.table_row(i, j); });
  } else {
    reading_.with_additive_bias(batch, head, position,
                                [&](const auto& of_row) { bias::derivatives(row, of_row); });
  }
  return result;
}

}  // namespace plumbline::verdict
