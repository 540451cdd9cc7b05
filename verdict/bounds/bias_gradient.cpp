// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/bias_gradient.hpp"

#include "verdict/bias/methods.hpp"

namespace plumbline::verdict {

namespace {

using methods::Extent;

bool of_batch(Extent extent) { return extent == Extent::batch || extent == Extent::batch_or_1; }
bool of_heads(Extent extent) { return extent == Extent::heads || extent == Extent::heads_or_1; }

/// use(extent, size) of each axis.
template <class Use>
void for_each_axis(const cases::Case& c, plumbline_parameter parameter, const Use& use) {
  const methods::Method method = methods::of(c.spec.bias);
  const cases::Shape shape = cases::shape_of(c.spec, c.options, parameter);
  auto size = shape.begin();
  for (const Extent extent : methods::parameter_of(method, parameter).shape) use(extent, *size++);
}

}  // namespace

std::size_t elements_of_head(const cases::Case& the_case, plumbline_parameter parameter) {
  std::int64_t elements = 1;
  for_each_axis(the_case, parameter, [&](Extent extent, std::int64_t size) {
    if (!of_batch(extent) && !of_heads(extent)) elements *= size;
  });
  return static_cast<std::size_t>(elements);
}

std::size_t part_of_head(const cases::Case& the_case, plumbline_parameter parameter, int head) {
  std::int64_t part = 0;
  for_each_axis(the_case, parameter, [&](Extent extent, std::int64_t size) {
    const int heads = the_case.spec.heads;
    if (of_batch(extent)) part = part * size + (size > 1 ? head / heads : 0);
    if (of_heads(extent)) part = part * size + (size > 1 ? head % heads : 0);
  });
  return static_cast<std::size_t>(part);
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
