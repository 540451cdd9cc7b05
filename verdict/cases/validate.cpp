// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "support/error.hpp"
#include "verdict/cases/case.hpp"

namespace plumbline::cases {
namespace {

struct Expectation {
  std::string_view tensor;
  bool used;
  std::int64_t size;
};

template <class T>
void require_size(const Expectation& expected, const std::vector<T>& values) {
  const std::int64_t size = expected.used ? expected.size : 0;
  if (static_cast<std::int64_t>(values.size()) != size) {
    throw BadInput(fmt::format("number of elements of {}", expected.tensor),
                   std::to_string(values.size()),
                   expected.used ? std::to_string(size)
                                 : "0, since the method, the mask and the pass do not use it");
  }
}

[[noreturn]] void reject(std::string_view tensor, std::size_t index, float value,
                         const std::string& expected) {
  throw BadInput(fmt::format("{}[{}]", tensor, index), fmt::format("{}", value), expected);
}

void require_floats(const Expectation& expected, const std::vector<float>& values) {
  require_size(expected, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) reject(expected.tensor, i, values[i], "a finite number");
  }
}

void require_in_format(const Expectation& expected, const std::vector<float>& values,
                       Format format) {
  require_floats(expected, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (stored(values[i], format) != values[i]) {
      reject(expected.tensor, i, values[i],
             fmt::format("a number that {} represents exactly", name(format)));
    }
  }
}

void require_scales(const Case& c, std::string_view name, const std::vector<float>& scales) {
  const bool of_cache = c.spec.cache != CacheFormat::in_format && name != "q_scale";
  const Expectation expected{name, has_scales(c.spec.format) || of_cache,
                             elements(per_cached(c.spec))};
  require_floats(expected, scales);
  for (std::size_t n = 0; n < scales.size(); ++n) {
    if (!(scales[n] >= least_scale && scales[n] <= largest_scale)) {
      reject(name, n, scales[n], "a number from 2^-48 to 2^48");
    }
  }
}

/// What the format stores, times its scale.
void require_scaled(const Expectation& expected, const std::vector<float>& values,
                    const std::vector<float>& scales, Format format,
                    CacheFormat cache = CacheFormat::in_format) {
  if (scales.empty()) return require_in_format(expected, values, format);
  require_floats(expected, values);
  const std::vector<float> again = scaled(unscaled(values, scales, format, cache), scales);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == again[i]) continue;
    const float scale = scales[i / (values.size() / scales.size())];
    reject(expected.tensor, i, values[i],
           fmt::format("a number of {} times the scale {}",
                       cache == CacheFormat::in_format ? name(format) : name(cache), scale));
  }
}

void require_parameter(const Case& c, plumbline_parameter parameter) {
  const Spec& spec = c.spec;
  const ParameterInfo& of = info(parameter);
  const bool used = reads(spec, parameter);
  const std::int64_t size = used ? elements(shape_of(spec, c.options, parameter)) : 0;
  const char* name = parameter_name(spec.bias, parameter);
  const Expectation expected{name, used, size};
  if (const auto format = format_of(c, parameter)) {
    require_in_format(expected, c[parameter], *format);
  } else {
    require_floats(expected, c[parameter]);
  }
  // A method may bound it more than others do.
  const methods::Method method = methods::of(spec.bias);
  const double most =
      used ? std::min<double>(of.most, methods::parameter_of(method, parameter).most) : of.most;
  for (std::size_t i = 0; i < c[parameter].size(); ++i) {
    const float value = c[parameter][i];
    if (value < of.least) {
      reject(name, i, value, fmt::format("a number >= {:.9g}", of.least));
    }
    if (value > most) reject(name, i, value, fmt::format("a number <= {:.9g}", most));
    if (value == 0 && !of.may_be_zero) reject(name, i, value, "a number that is not 0");
  }
}

/// In fp32's normal range: kernels may take it as a float.
void require_factor(const char* field, double value) {
  if (!(value >= 0x1p-126 && value <= 0x1p127)) {
    throw BadInput(field, fmt::format("{}", value), "a number from 2^-126 to 2^127");
  }
}

void require_option(const Case& c, plumbline_option option) {
  const OptionInfo& of = info(option);
  const double value = c.options[option];
  if (!(value >= of.least && value <= of.most) || (of.whole && value != std::trunc(value))) {
    throw BadInput(
        of.name, fmt::format("{}", value),
        fmt::format("a {} from {} to {}", of.whole ? "whole number" : "number", of.least, of.most));
  }
}

/// What T5's buckets need beyond the range of each option.
void require_buckets(const Case& c) {
  const bool both = c.spec.bias.method == PLUMBLINE_T5_BIDIRECTIONAL;
  if (!both && c.spec.bias.method != PLUMBLINE_T5) return;
  const int buckets = static_cast<int>(c.options[PLUMBLINE_BUCKETS]);
  if (both && (buckets % 2 != 0 || buckets < 4)) {
    throw BadInput("buckets", std::to_string(buckets), "an even number of at least 4");
  }
  const int exact = (both ? buckets / 2 : buckets) / 2;
  if (!(c.options[PLUMBLINE_MAX_DISTANCE] > exact)) {
    throw BadInput("max_distance", fmt::format("{}", c.options[PLUMBLINE_MAX_DISTANCE]),
                   fmt::format("above {}, the distances with a bucket of their own", exact));
  }
}

}  // namespace

std::vector<float> scaled(std::vector<float> stored, const std::vector<float>& scales) {
  for (std::size_t n = 0; n < stored.size() && !scales.empty(); ++n) {
    stored[n] *= scales[n / (stored.size() / scales.size())];
  }
  return stored;
}

std::vector<float> unscaled(std::vector<float> numbers, const std::vector<float>& scales,
                            Format format, CacheFormat cache) {
  for (std::size_t n = 0; n < numbers.size() && !scales.empty(); ++n) {
    // The quotient is within 2^-23 of the stored number, far nearer than to the format's next.
    numbers[n] = stored(numbers[n] / scales[n / (numbers.size() / scales.size())], format, cache);
  }
  return numbers;
}

std::optional<Format> format_of(const Case& c, plumbline_parameter parameter) {
  if (parameter != PLUMBLINE_TENSOR || c.options[PLUMBLINE_IN_FORMAT_OF_O] == 0) return {};
  return output_format(c.spec.format);
}

void validate_options(const Case& c) {
  for (const plumbline_option option : options_of(c.spec.bias)) require_option(c, option);
  require_buckets(c);
}

void validate(const Case& c) {
  const Spec& spec = c.spec;
  validate(spec);
  require_factor("scale", c.scale);
  validate_options(c);
  const bool backward = spec.pass == Pass::backward;
  require_scales(c, "q_scale", c.q_scale);
  require_scales(c, "k_scale", c.k_scale);
  require_scales(c, "v_scale", c.v_scale);
  require_scaled({"q", true, elements(query_shape(spec))}, c.q, c.q_scale, spec.format);
  require_scaled({"k", true, elements(key_shape(spec))}, c.k, c.k_scale, spec.format, spec.cache);
  require_scaled({"v", true, elements(value_shape(spec))}, c.v, c.v_scale, spec.format, spec.cache);
  require_in_format({"grad_o", backward, elements(output_shape(spec))}, c.grad_o,
                    output_format(spec.format));
  for (std::size_t n = 0; n < c.v.size() && spec.values_in_keys; ++n) {
    const auto width = static_cast<std::size_t>(spec.value_width());
    const float k = c.k[n / width * static_cast<std::size_t>(spec.head_dim) + n % width];
    if (c.v[n] != k) reject("v", n, c.v[n], fmt::format("{}, the number of k", k));
  }
  require_floats({"grad_lse", spec.lse_gradient, elements(per_query(spec))}, c.grad_lse);
  for (int p = 0; p < PLUMBLINE_PARAMETER_COUNT; ++p) {
    require_parameter(c, static_cast<plumbline_parameter>(p));
  }
  require_size({"lengths", spec.mask.ragged, spec.batch}, c.lengths);
  for (std::size_t b = 0; b < c.lengths.size(); ++b) {
    if (c.lengths[b] < 0 || c.lengths[b] > spec.keys) {
      throw BadInput(fmt::format("lengths[{}]", b), std::to_string(c.lengths[b]),
                     fmt::format("a whole number from 0 to {} (keys)", spec.keys));
    }
  }
  require_size({"query_lengths", spec.is_packed(), spec.batch}, c.query_lengths);
  for (std::size_t b = 0; b < c.query_lengths.size(); ++b) {
    const bool more = may_have_more_queries(spec);
    const int most = more ? spec.queries : std::min(spec.queries, c.lengths[b]);
    if (c.query_lengths[b] < 0 || c.query_lengths[b] > most) {
      throw BadInput(fmt::format("query_lengths[{}]", b), std::to_string(c.query_lengths[b]),
                     fmt::format("a whole number from 0 to {} ({})", most,
                                 most == spec.queries ? "queries" : fmt::format("lengths[{}]", b)));
    }
  }
  if (spec.is_packed() && (std::ranges::count(c.query_lengths, 0) == spec.batch ||
                           std::ranges::count(c.lengths, 0) == spec.batch)) {
    throw BadInput("query_lengths", "without a query, or lengths without a key",
                   "at least one query and one key in some sequence");
  }
  require_size({"documents", spec.mask.documents, std::int64_t{spec.batch} * spec.keys},
               c.documents);
  require_size({"mask", spec.mask.pattern != Pattern::none, elements(mask_shape(spec))}, c.mask);
  require_size({"keep", spec.dropout > 0, elements(keep_shape(spec))}, c.keep);
  for (const auto& [tensor, bytes] : {std::pair{"mask", &c.mask}, {"keep", &c.keep}}) {
    for (std::size_t n = 0; n < bytes->size(); ++n) {
      if ((*bytes)[n] <= 1) continue;
      throw BadInput(fmt::format("{}[{}]", tensor, n), std::to_string((*bytes)[n]), "0 or 1");
    }
  }
}

}  // namespace plumbline::cases
