// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "golden/golden_case.hpp"
#include "support/error.hpp"

namespace plumbline::golden {
namespace {

void require(bool holds, const std::string& name, double value, const std::string& expected) {
  if (!holds) throw BadInput(name, fmt::format("{}", value), expected);
}

void validate(const reference::AttentionShape& s) {
  for (const auto& [name, size] : {std::pair("batch", s.batch),
                                   {"heads", s.heads},
                                   {"kv_heads", s.kv_heads},
                                   {"queries", s.queries},
                                   {"keys", s.keys},
                                   {"head_dim", s.head_dim}}) {
    require(1 <= size && size <= 4096, name, size, "a size from 1 to 4096");
  }
  require(s.heads % s.kv_heads == 0, "heads", s.heads, "a multiple of kv_heads");
  require(0 <= s.query_offset && s.query_offset <= s.keys - s.queries, "query_offset",
          s.query_offset, "from 0 to keys - queries");
}

void validate(const reference::Mask& mask, const reference::AttentionShape& s) {
  reference::check(mask.window);
  const auto count = [](const std::vector<int>& of) { return static_cast<double>(of.size()); };
  if (!mask.lengths.empty()) {
    require(count(mask.lengths) == s.batch, "number of lengths", count(mask.lengths),
            "one a sequence");
  }
  for (int length : mask.lengths) {
    require(0 <= length && length <= s.keys, "length", length, "from 0 to keys");
  }
  if (!mask.documents.empty()) {
    require(count(mask.documents) == double{1} * s.batch * s.keys, "number of documents",
            count(mask.documents), "one a key of every sequence");
  }
}

}  // namespace

void validate(const Problem& problem) {
  validate(problem.setting.shape);
  validate(problem.setting.mask, problem.setting.shape);
  require(std::isfinite(problem.setting.scale), "scale", problem.setting.scale, "finite");
  for (const auto& [name, value] : problem.setting.options) {
    require(std::isfinite(value), name, value, "finite");
  }
  const methods::MethodInfo& method = methods::method_of(problem.method);
  const bool ssmax = problem.inputs.count("ssmax_scale") > 0;
  const auto shapes = method.inputs(problem.setting, ssmax);
  for (const methods::NamedShape& expected : shapes) {
    const auto found = problem.inputs.find(expected.name);
    if (found == problem.inputs.end()) {
      throw BadInput("inputs", "without " + expected.name, "all that the method reads");
    }
    if (found->second.shape != expected.shape) {
      throw BadInput("shape of " + expected.name,
                     fmt::format("[{}]", fmt::join(found->second.shape, ", ")),
                     fmt::format("[{}]", fmt::join(expected.shape, ", ")));
    }
    for (float number : found->second.data) {
      require(std::isfinite(number), expected.name, number, "finite");
    }
  }
  if (shapes.size() != problem.inputs.size()) {
    throw BadInput("number of inputs", std::to_string(problem.inputs.size()),
                   std::to_string(shapes.size()) + ": some names are not known");
  }
}

}  // namespace plumbline::golden
