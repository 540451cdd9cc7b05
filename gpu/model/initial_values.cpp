// SPDX-License-Identifier: Apache-2.0
#include "model/initial_values.hpp"

#include <algorithm>
#include <numbers>
#include <string_view>
#include <vector>

#include "model/alibi_slopes.hpp"
#include "ops/require.cuh"
#include "support/draw.hpp"

namespace plumbline::gpu {

namespace {

/// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : text) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3u;
  }
  return hash;
}

}  // namespace

void set_initial_values(const Parameter& parameter, std::uint64_t seed, std::span<float> values) {
  require(values.size() == parameter.size(), "values.size()", values.size(),
          "the parameter's size");
  const Start& start = parameter.start;
  const Draw draw(seed, hash_of(parameter.name));
  switch (start.kind) {
    case Start::Kind::constant:
      std::ranges::fill(values, static_cast<float>(start.value));
      break;
    case Start::Kind::normal:
      for (std::size_t n = 0; n < values.size(); ++n)
        values[n] = static_cast<float>(start.value * draw.normal(n));
      break;
    case Start::Kind::uniform:
      for (std::size_t n = 0; n < values.size(); ++n)
        values[n] = std::max(static_cast<float>(start.value * draw.uniform(n)), parameter.least);
      break;
    case Start::Kind::log_alibi_slope: {
      const std::vector<double> exponents = alibi_exponents(static_cast<int>(values.size()), false);
      for (std::size_t n = 0; n < values.size(); ++n)
        values[n] = static_cast<float>(-exponents[n] * std::numbers::ln2);
      break;
    }
  }
}

void set_initial_values(const ParameterLayout& layout, std::uint64_t seed,
                        std::span<float> values) {
  require(values.size() == layout.size(), "values.size()", values.size(), "that of the layout");
  std::ranges::fill(values, 0.0f);
  for (const Parameter& parameter : layout.all())
    set_initial_values(parameter, seed, values.subspan(parameter.offset, parameter.size()));
}

}  // namespace plumbline::gpu
