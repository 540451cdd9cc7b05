// SPDX-License-Identifier: Apache-2.0
// A spec as one line of text: what a failure prints, and what reproduces it.
#include <fmt/format.h>

#include <charconv>
#include <set>

#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/cases/spec.hpp"

namespace plumbline::cases {
namespace {

template <class Integer>
Integer integer_from(std::string_view text, std::string_view field) {
  Integer value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) {
    throw BadInput(std::string(field), in_quotes(text), "a whole number");
  }
  return value;
}

template <class Number = double>
Number number_from(std::string_view text, std::string_view field) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || !(value > 0)) {
    throw BadInput(std::string(field), in_quotes(text), "a number above 0");
  }
  return value;
}

bool flag_from(std::string_view text, std::string_view field) {
  if (text == "0") return false;
  if (text == "1") return true;
  throw BadInput(std::string(field), in_quotes(text), "0 or 1");
}

/// "none", a number for both sides, or both: "3:0", "none:5".
Window window_from(std::string_view text, std::string_view field) {
  const auto side = [&](std::string_view number) {
    if (number == "none") return -1;
    const int limit = integer_from<int>(number, field);
    if (limit < 0) throw BadInput(std::string(field), in_quotes(text), "sides of at least 0");
    return limit;
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return side(text);
  return {side(text.substr(0, colon)), side(text.substr(colon + 1))};
}

std::string in_words(const Window& window) {
  const auto side = [](int limit) { return limit < 0 ? "none" : std::to_string(limit); };
  if (window.left == window.right) return side(window.left);
  return side(window.left) + ":" + side(window.right);
}

void set_field(Spec& spec, std::string_view key, std::string_view value) {
  if (key == "pass") {
    spec.pass = pass_from(value, key);
  } else if (key == "bias") {
    spec.bias = bias_from(value, key);
  } else if (key == "dtype") {
    spec.format = format_from(value, key);
  } else if (key == "ssmax") {
    spec.ssmax = flag_from(value, key);
  } else if (key == "batch") {
    spec.batch = integer_from<int>(value, key);
  } else if (key == "heads") {
    spec.heads = integer_from<int>(value, key);
  } else if (key == "kv_heads") {
    spec.kv_heads = integer_from<int>(value, key);
  } else if (key == "queries") {
    spec.queries = integer_from<int>(value, key);
  } else if (key == "keys") {
    spec.keys = integer_from<int>(value, key);
  } else if (key == "head_dim") {
    spec.head_dim = integer_from<int>(value, key);
  } else if (key == "value_dim") {
    spec.value_dim = integer_from<int>(value, key);
    if (spec.value_dim == 0) throw BadInput("value_dim", "0", "a number above 0");
  } else if (key == "values_in_keys") {
    spec.values_in_keys = flag_from(value, key);
  } else if (key == "query_offset") {
    spec.query_offset = integer_from<int>(value, key);
  } else if (key == "queries_at_end") {
    spec.queries_at_end = flag_from(value, key);
  } else if (key == "page_size") {
    spec.page_size = integer_from<int>(value, key);
  } else if (key == "causal") {
    spec.mask.causal = flag_from(value, key);
  } else if (key == "window") {
    spec.mask.window = window_from(value, key);
  } else if (key == "ragged") {
    spec.mask.ragged = flag_from(value, key);
  } else if (key == "documents") {
    spec.mask.documents = flag_from(value, key);
  } else if (key == "mask") {
    spec.mask.pattern = pattern_from(value, key);
  } else if (key == "mask_per_batch") {
    spec.mask.per_batch = flag_from(value, key);
  } else if (key == "mask_per_head") {
    spec.mask.per_head = flag_from(value, key);
  } else if (key == "lse_gradient") {
    spec.lse_gradient = flag_from(value, key);
  } else if (key == "family") {
    spec.family = family_from(value, key);
  } else if (key == "seed") {
    spec.seed = integer_from<std::uint64_t>(value, key);
  } else if (key == "scale") {
    spec.scale = number_from(value, key);
  } else if (key == "softcap") {
    spec.softcap = number_from(value, key);
  } else if (key == "sinks") {
    spec.sinks = flag_from(value, key);
  } else if (key == "rotary_dim") {
    spec.rotary_dim = integer_from<int>(value, key);
    if (spec.rotary_dim == 0) throw BadInput("rotary_dim", "0", "a number above 0");
  } else if (key == "dropout") {
    spec.dropout = number_from<float>(value, key);
  } else if (key == "cache") {
    spec.cache = cache_from(value, key);
  } else if (key == "scale_per_key") {
    spec.scale_per_key = flag_from(value, key);
  } else if (key == "keep_given") {
    spec.keep_given = flag_from(value, key);
  } else if (key == "layout") {
    spec.layout = layout_from(value, key);
  } else {
    throw BadInput("key of the case line", in_quotes(key),
                   "one of pass, bias, dtype, ssmax, batch, heads, kv_heads, queries, keys, "
                   "head_dim, query_offset, page_size, causal, window, ragged, documents, family, "
                   "seed, scale, softcap, sinks, queries_at_end, value_dim, mask, "
                   "mask_per_batch, mask_per_head, lse_gradient, values_in_keys, rotary_dim, "
                   "dropout, keep_given, cache, scale_per_key, layout");
  }
}

}  // namespace

std::string to_line(const Spec& spec) {
  const Mask& mask = spec.mask;
  std::string line = fmt::format(
      "pass={},bias={},dtype={},ssmax={:d},batch={},heads={},kv_heads={},queries={},keys={},"
      "head_dim={},query_offset={},page_size={},causal={:d},window={},ragged={:d},documents={:d},"
      "family={},seed={}",
      name(spec.pass), name(spec.bias), name(spec.format), spec.ssmax, spec.batch, spec.heads,
      spec.kv_heads, spec.queries, spec.keys, spec.head_dim, spec.query_offset, spec.page_size,
      mask.causal, in_words(mask.window), mask.ragged, mask.documents, name(spec.family),
      spec.seed);
  if (spec.scale != 0) line += fmt::format(",scale={}", spec.scale);
  if (spec.softcap != 0) line += fmt::format(",softcap={}", spec.softcap);
  if (spec.sinks) line += ",sinks=1";
  if (spec.queries_at_end) line += ",queries_at_end=1";
  if (spec.value_dim != 0) line += fmt::format(",value_dim={}", spec.value_dim);
  if (mask.pattern != Pattern::none) line += fmt::format(",mask={}", name(mask.pattern));
  if (mask.per_batch) line += ",mask_per_batch=1";
  if (mask.per_head) line += ",mask_per_head=1";
  if (spec.values_in_keys) line += ",values_in_keys=1";
  if (spec.lse_gradient) line += ",lse_gradient=1";
  if (spec.rotary_dim != 0) line += fmt::format(",rotary_dim={}", spec.rotary_dim);
  if (spec.dropout != 0) line += fmt::format(",dropout={}", spec.dropout);
  if (spec.keep_given) line += ",keep_given=1";
  if (spec.cache != CacheFormat::in_format) line += fmt::format(",cache={}", name(spec.cache));
  if (spec.scale_per_key) line += ",scale_per_key=1";
  if (spec.layout != Layout::contiguous) line += fmt::format(",layout={}", name(spec.layout));
  return line;
}

Spec from_line(std::string_view line) {
  Spec spec;
  std::set<std::string_view> seen;
  while (true) {
    const std::size_t comma = line.find(',');
    const std::string_view pair = line.substr(0, comma);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      throw BadInput("part of the case line", in_quotes(pair), "key=value");
    }
    const std::string_view key = pair.substr(0, equals);
    if (!seen.insert(key).second) {
      throw BadInput("key of the case line", in_quotes(key) + " for the second time",
                     "each key at most once");
    }
    set_field(spec, key, pair.substr(equals + 1));
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  validate(spec);
  return spec;
}

}  // namespace plumbline::cases
