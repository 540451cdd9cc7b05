// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "golden/case_checks.hpp"
#include "reference/scalars/adjoint_comparison.hpp"

namespace plumbline::golden {
namespace {

using methods::BoundedDual;
using reference::RunningError;

/// sum(o grad_o) + sum(lse grad_lse), or sum(embeddings grad_embeddings). A row that sees no key
/// adds nothing: its o and its stand-in for lse are 0 and depend on nothing.
BoundedDual loss(const Tensors<BoundedDual>& inputs, const Tensors<BoundedDual>& results) {
  BoundedDual total;
  for (const char* name : {"o", "lse", "embeddings"}) {
    const auto found = results.find(name);
    if (found == results.end()) continue;
    const auto& upstream = inputs.at(std::string("grad_") + name).data;
    for (std::size_t n = 0; n < upstream.size(); ++n) total += found->second.data[n] * upstream[n];
  }
  return total;
}

}  // namespace

void check_gradient(const GoldenCase& golden, FileResult& result,
                    std::map<std::string, GradientCoverage>& coverage) {
  const Problem& problem = golden.problem;
  const auto adjoint = evaluate<RunningError>(problem).tensors;
  Tensors<BoundedDual> inputs = methods::lifted<BoundedDual>(problem.inputs);
  for (auto& [input, tensor] : inputs) {
    const auto gradient = adjoint.find("grad_" + input);
    if (gradient == adjoint.end()) continue;
    for (std::size_t n = 0; n < tensor.data.size(); ++n) {
      tensor.data[n].tangent = RunningError(1.0);
      const RunningError dual =
          loss(inputs, methods::evaluate<BoundedDual>(problem.method, problem.setting, inputs,
                                                      methods::Pass::forward)
                           .tensors)
              .tangent;
      tensor.data[n].tangent = RunningError(0.0);
      const reference::AdjointComparison both{gradient->second.data.at(n), dual};
      const RunningError difference = both.difference();
      ++result.numbers;
      GradientCoverage& covered = coverage[gradient->first];
      ++covered.elements;
      if (!both.agrees()) {
        add_failure(result, fmt::format("{}: {}[{}] is {:.17g}, the dual reading gives {:.17g} "
                                        "within {:.3g}",
                                        problem.name, gradient->first, n, both.adjoint.value(),
                                        dual.value(), difference.error()));
      }
      if (!both.says_something()) continue;
      ++covered.decided;
      if (difference.error() > 0) {
        result.worst = std::max(result.worst, std::fabs(difference.value()) / difference.error());
      }
    }
  }
}

}  // namespace plumbline::golden
