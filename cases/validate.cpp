// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "cases/case.hpp"
#include "support/error.hpp"

namespace plumbline::cases {
namespace {

struct Expectation {
  const char* tensor;
  bool used;
  std::int64_t size;
};

template <class T>
void require_size(const Expectation& expected, const std::vector<T>& values) {
  const std::int64_t size = expected.used ? expected.size : 0;
  if (static_cast<std::int64_t>(values.size()) != size) {
    throw BadInput(
        fmt::format("number of elements of {}", expected.tensor), std::to_string(values.size()),
        expected.used ? std::to_string(size) : "0, since the method and the mask do not use it");
  }
}

[[noreturn]] void reject(const char* tensor, std::size_t index, float value, const char* expected) {
  throw BadInput(fmt::format("{}[{}]", tensor, index), fmt::format("{}", value), expected);
}

void require_floats(const Expectation& expected, const std::vector<float>& values,
                    bool not_negative = false) {
  require_size(expected, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) reject(expected.tensor, i, values[i], "a finite number");
    if (not_negative && values[i] < 0) reject(expected.tensor, i, values[i], "a number >= 0");
  }
}

void require_in_format(const Expectation& expected, const std::vector<float>& values,
                       Format format) {
  require_floats(expected, values);
  if (format != Format::bf16) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(values[i]) & 0xffffu) {
      reject(expected.tensor, i, values[i], "a number that bf16 represents exactly");
    }
  }
}

/// In fp32's normal range: kernels may take it as a float.
void require_factor(const char* field, double value) {
  if (!(value >= 0x1p-126 && value <= 0x1p127)) {
    throw BadInput(field, fmt::format("{}", value), "a number from 2^-126 to 2^127");
  }
}

}  // namespace

void validate(const Case& c) {
  const Spec& spec = c.spec;
  validate(spec);
  require_factor("scale", c.scale);
  const BiasMethod bias = spec.bias;
  const std::int64_t batch_heads = std::int64_t{spec.batch} * spec.heads;
  const std::int64_t key_rows = std::int64_t{spec.batch} * spec.kv_heads * spec.keys;
  const bool gained = bias == BiasMethod::cable || bias == BiasMethod::k_cable;
  const bool cable = gained || bias == BiasMethod::cable_nw || bias == BiasMethod::k_cable_nw;
  const bool ggd = bias == BiasMethod::ggd;
  if (ggd) require_factor("epsilon", c.epsilon);

  require_in_format({"q", true, batch_heads * spec.queries * spec.head_dim}, c.q, spec.format);
  require_in_format({"k", true, key_rows * spec.head_dim}, c.k, spec.format);
  require_in_format({"v", true, key_rows * spec.head_dim}, c.v, spec.format);
  require_floats({"slopes", bias == BiasMethod::alibi, spec.heads}, c.slopes);
  require_floats({"increments", cable, batch_heads * spec.keys}, c.increments, true);
  require_floats({"gain", gained, batch_heads * spec.queries}, c.gain, true);
  require_floats({"theta_alpha", ggd, spec.heads}, c.theta_alpha);
  require_floats({"theta_beta", ggd, spec.heads}, c.theta_beta);
  require_floats({"theta_mu", ggd, spec.heads}, c.theta_mu);
  require_floats({"ssmax_scale", spec.ssmax, spec.heads}, c.ssmax_scale);
  require_size({"lengths", spec.mask.ragged, spec.batch}, c.lengths);
  for (std::size_t b = 0; b < c.lengths.size(); ++b) {
    if (c.lengths[b] < 0 || c.lengths[b] > spec.keys) {
      throw BadInput(fmt::format("lengths[{}]", b), std::to_string(c.lengths[b]),
                     fmt::format("a whole number from 0 to {} (keys)", spec.keys));
    }
  }
  require_size({"documents", spec.mask.documents, std::int64_t{spec.batch} * spec.keys},
               c.documents);
}

}  // namespace plumbline::cases
