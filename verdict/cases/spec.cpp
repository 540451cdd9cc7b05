// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernel_abi/methods.hpp"
#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/cases/custom_bias.hpp"

namespace plumbline::cases {
namespace {

template <class Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<Format, PLUMBLINE_FORMAT_COUNT> format_names{{{Format::fp32, "fp32"},
                                                              {Format::bf16, "bf16"},
                                                              {Format::fp16, "fp16"},
                                                              {Format::tf32, "tf32"},
                                                              {Format::e4m3, "e4m3"},
                                                              {Format::e5m2, "e5m2"}}};

constexpr Names<Pass, 3> pass_names{
    {{Pass::forward, "forward"}, {Pass::backward, "backward"}, {Pass::decode, "decode"}}};

/// Every bias that composes, by name.
const std::vector<std::pair<Bias, std::string>>& named_biases() {
  static const auto named = [] {
    std::vector<std::pair<Bias, std::string>> list;
    for (int dape = 0; dape <= 2; ++dape) {
      for (int rope = 0; rope < PLUMBLINE_ROPE_COUNT; ++rope) {
        for (const methods::Method& method : methods::all) {
          const Bias bias(method.bias, dape, static_cast<plumbline_rope>(rope));
          if (!methods::is_bias(bias)) continue;
          list.emplace_back(bias, methods::name_of(bias));
        }
      }
    }
    return list;
  }();
  return named;
}

constexpr Names<Family, 8> family_names{{{Family::generic, "generic"},
                                         {Family::peaked, "peaked"},
                                         {Family::diffuse, "diffuse"},
                                         {Family::tied, "tied"},
                                         {Family::huge, "huge"},
                                         {Family::subnormal, "subnormal"},
                                         {Family::level, "level"},
                                         {Family::file, "file"}}};

constexpr Names<CacheFormat, PLUMBLINE_CACHE_FORMAT_COUNT> cache_names{
    {{CacheFormat::in_format, "in_format"},
     {CacheFormat::e4m3, "e4m3"},
     {CacheFormat::e5m2, "e5m2"},
     {CacheFormat::int8, "int8"}}};

constexpr Names<Pattern, 8> pattern_names{{{Pattern::none, "none"},
                                           {Pattern::prefix, "prefix"},
                                           {Pattern::chunks, "chunks"},
                                           {Pattern::blocks, "blocks"},
                                           {Pattern::tree, "tree"},
                                           {Pattern::scattered, "scattered"},
                                           {Pattern::sink_tokens, "sink_tokens"},
                                           {Pattern::file, "file"}}};
constexpr Names<Layout, 5> layout_names{{{Layout::contiguous, "contiguous"},
                                         {Layout::tokens_first, "tokens_first"},
                                         {Layout::spaced, "spaced"},
                                         {Layout::packed_qkv, "packed_qkv"},
                                         {Layout::packed_sequences, "packed_sequences"}}};

template <class Enum, std::size_t N>
std::string_view name_in(const Names<Enum, N>& names, Enum value) {
  for (const auto& [known, text] : names) {
    if (known == value) return text;
  }
  return "?";
}

template <class Enum, std::size_t N>
Enum value_in(const Names<Enum, N>& names, std::string_view text, std::string_view field) {
  std::string known;
  for (const auto& [value, known_text] : names) {
    if (known_text == text) return value;
    known += (known.empty() ? "" : ", ") + std::string(known_text);
  }
  throw BadInput(std::string(field), in_quotes(text), "one of " + known);
}

template <class Enum, std::size_t N>
std::vector<Enum> values_of(const Names<Enum, N>& names) {
  std::vector<Enum> values;
  for (const auto& [value, text] : names) values.push_back(value);
  return values;
}

void require_between(const char* field, std::int64_t value, std::int64_t lowest,
                     std::int64_t highest) {
  if (value < lowest || value > highest) {
    throw BadInput(field, std::to_string(value),
                   lowest == highest
                       ? std::to_string(lowest)
                       : fmt::format("a whole number from {} to {}", lowest, highest));
  }
}

/// Products of four sizes of up to 2^24 overflow 64 bits, so the limit is checked at each step.
void require_elements(const char* tensor, std::initializer_list<int> shape) {
  std::int64_t elements = 1;
  for (const int size : shape) {
    elements *= size;
    if (elements > largest_tensor) {
      throw BadInput(fmt::format("shape of {}", tensor),
                     fmt::format("[{}]", fmt::join(shape, ", ")),
                     fmt::format("at most {} elements", largest_tensor));
    }
  }
}

/// Rows of all sequences and heads are counted in 31 bits.
void require_rows(const Spec& spec) {
  const double rows = 1.0 * spec.batch * spec.heads * std::max(spec.queries, spec.keys);
  if (rows > INT32_MAX) {
    throw BadInput("batch * heads * max(queries, keys)", fmt::format("{:.0f}", rows),
                   "at most 2^31 - 1");
  }
}

}  // namespace

std::string_view name(Format format) { return name_in(format_names, format); }
std::string_view name(Pass pass) { return name_in(pass_names, pass); }
std::string_view name(Bias bias) {
  if (bias.custom) return custom_of(bias).names.at(static_cast<std::size_t>(bias.rope));
  for (const auto& [known, text] : named_biases()) {
    if (known == bias) return text;
  }
  return "?";
}
std::string_view name(Family family) { return name_in(family_names, family); }
std::string_view name(CacheFormat cache) { return name_in(cache_names, cache); }
std::string_view name(Pattern pattern) { return name_in(pattern_names, pattern); }
std::string_view name(Layout layout) { return name_in(layout_names, layout); }

bool needs_scores(Bias bias) { return bias.dape > 0 || methods::row(bias).needs_scores(); }

Format format_from(std::string_view text, std::string_view field) {
  return value_in(format_names, text, field);
}
Pass pass_from(std::string_view text, std::string_view field) {
  return value_in(pass_names, text, field);
}
Bias bias_from(std::string_view text, std::string_view field) {
  for (const auto& [bias, name] : named_biases()) {
    if (name == text) return bias;
  }
  if (const auto custom = find_custom_bias(text)) return *custom;
  std::vector<std::string_view> known;
  for (Bias bias : all_biases()) known.push_back(name(bias));
  throw BadInput(std::string(field), in_quotes(text),
                 fmt::format("one of {}; most also with +rope_interleaved or +rope_half_split",
                             fmt::join(known, ", ")));
}
Family family_from(std::string_view text, std::string_view field) {
  return value_in(family_names, text, field);
}
CacheFormat cache_from(std::string_view text, std::string_view field) {
  return value_in(cache_names, text, field);
}
Pattern pattern_from(std::string_view text, std::string_view field) {
  return value_in(pattern_names, text, field);
}
Layout layout_from(std::string_view text, std::string_view field) {
  return value_in(layout_names, text, field);
}

const std::vector<Bias>& all_biases() {
  static const auto values = [] {
    std::vector<Bias> list;
    for (const auto& [bias, text] : named_biases()) {
      if (!bias.has_rope() || bias.method == PLUMBLINE_NOPE) list.push_back(bias);
    }
    return list;
  }();
  return values;
}
const std::vector<Bias>& every_bias() {
  static const auto values = [] {
    std::vector<Bias> list;
    for (const auto& [bias, text] : named_biases()) list.push_back(bias);
    return list;
  }();
  return values;
}
const std::vector<Format>& all_formats() {
  static const std::vector<Format> values = values_of(format_names);
  return values;
}

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> values = values_of(pass_names);
  return values;
}

double scale_of(const Spec& spec) {
  return spec.scale != 0 ? spec.scale : 1.0 / std::sqrt(static_cast<double>(spec.head_dim));
}

bool has_rows_at_keys(const Spec& spec) {
  const auto reads_a_key = [](const auto& declared) {
    using Per = reference::Formula::Per;
    return declared.per == Per::key || declared.per == Per::prefix_sum;
  };
  return spec.pass == Pass::decode || spec.mask.documents || needs_scores(spec.bias) ||
         methods::row(spec.bias).summed() >= 0 ||
         (spec.bias.custom && std::ranges::any_of(custom_of(spec.bias).declared, reads_a_key));
}

bool may_have_more_queries(const Spec& spec) {
  return spec.is_packed() && spec.mask.causal && spec.queries > spec.keys;
}

namespace {

void validate_positions(const Spec& spec) {
  const auto at = [&] {
    return fmt::format("{} with {} queries and {} keys", spec.query_offset, spec.queries,
                       spec.keys);
  };
  if (has_rows_at_keys(spec) && spec.query_offset + spec.queries > spec.keys) {
    throw BadInput("query_offset", at(),
                   "query_offset + queries <= keys: in decoding, with documents and with a bias "
                   "that has a number for each key, a query is at the position of a key");
  }
  if ((spec.pass == Pass::decode || needs_scores(spec.bias)) && spec.query_offset < 0) {
    throw BadInput("query_offset", at(), "at least 0 in decoding, with CoPE and with DAPE");
  }
  if (!spec.queries_at_end) return;
  if (!spec.mask.ragged) {
    throw BadInput("queries_at_end", "1 without lengths", "0: nothing says where a sequence ends");
  }
  if (spec.query_offset != spec.keys - spec.queries) {
    throw BadInput("query_offset", at(), "keys - queries, with queries_at_end");
  }
  if (needs_scores(spec.bias)) {
    throw BadInput("queries_at_end", fmt::format("1 with bias {}", name(spec.bias)), "0");
  }
}

void validate_mask_tensor(const Spec& spec) {
  const Mask& mask = spec.mask;
  if (mask.pattern == Pattern::none) {
    if (mask.per_batch || mask.per_head) {
      throw BadInput(mask.per_batch ? "mask_per_batch" : "mask_per_head", "1 without a mask tensor",
                     "0");
    }
    return;
  }
  if (needs_scores(spec.bias)) {
    throw BadInput("mask", fmt::format("{} with bias {}", name(mask.pattern), name(spec.bias)),
                   "none");
  }
  require_elements("mask", {mask.per_batch ? spec.batch : 1, mask.per_head ? spec.heads : 1,
                            spec.queries, spec.keys});
}

void validate_cache(const Spec& spec) {
  if (spec.cache == CacheFormat::in_format) {
    if (spec.scale_per_key) {
      throw BadInput("scale_per_key", "1 with cache in_format", "0: there are no scales");
    }
    return;
  }
  const bool small = spec.format == Format::e4m3 || spec.format == Format::e5m2;
  if (spec.pass != Pass::decode || small || spec.family == Family::subnormal ||
      spec.family == Family::level) {
    throw BadInput(
        "cache",
        fmt::format("{} with pass {}, dtype {} and family {}", name(spec.cache), name(spec.pass),
                    name(spec.format), name(spec.family)),
        "in_format: only decoding has caches of 8 bits, where dtype is fp32, tf32, bf16 or "
        "fp16 and family neither subnormal nor level");
  }
}

void validate_dropout(const Spec& spec) {
  if (spec.dropout == 0) {
    if (spec.keep_given) throw BadInput("keep", "given without dropout", "dropout above 0");
    return;
  }
  if (!(spec.dropout >= 0x1p-24f && spec.dropout <= 1 - 0x1p-10f)) {
    throw BadInput("dropout", fmt::format("{}", spec.dropout),
                   "a probability: 0, or from 2^-24 to 1 - 2^-10");
  }
  if (spec.pass == Pass::decode || needs_scores(spec.bias)) {
    throw BadInput(
        "dropout",
        fmt::format("{} with pass {} and bias {}", spec.dropout, name(spec.pass), name(spec.bias)),
        "0 in decoding, with CoPE and with DAPE");
  }
  require_elements("keep", {spec.batch, spec.heads, spec.queries, spec.keys});
}

void validate_layout(const Spec& spec) {
  if (spec.layout == Layout::spaced) {
    const int width = std::max(spec.head_dim, spec.value_width());
    require_elements("q with layout spaced", {2, spec.batch, spec.heads, spec.queries, width});
    require_elements("k with layout spaced", {2, spec.batch, spec.kv_heads, spec.keys, width});
  }
  if (spec.layout == Layout::packed_qkv) {
    if (spec.pass == Pass::decode) {
      throw BadInput("layout", "packed_qkv with pass decode",
                     "another: a cache is no part of an array that has q");
    }
    require_elements("packed_qkv",
                     {spec.batch, std::max(spec.queries, spec.keys), spec.heads + 2 * spec.kv_heads,
                      std::max(spec.head_dim, spec.value_width())});
  }
  if (!spec.is_packed()) return;
  const auto expect = [&](bool holds, const char* field, const std::string& value,
                          const char* expected) {
    if (!holds) throw BadInput(field, value + " with layout packed_sequences", expected);
  };
  expect(spec.pass != Pass::decode, "pass", "decode", "forward or backward");
  expect(spec.queries_at_end, "queries_at_end", "0", "1, and ragged 1");
  expect(spec.mask.pattern == Pattern::none, "mask", std::string(name(spec.mask.pattern)), "none");
  expect(!spec.mask.documents, "documents", "1", "0");
  expect(!spec.sinks || !spec.lse_gradient, "lse_gradient", "1 and sinks 1", "one of them 0");
  expect(spec.dropout == 0, "dropout", fmt::format("{}", spec.dropout), "0");
  expect(!needs_scores(spec.bias) && !methods::has_numbers_of_tokens(methods::row(spec.bias)),
         "bias", std::string(name(spec.bias)), "one without numbers for each query or key");
}

}  // namespace

void validate(const Spec& spec) {
  require_between("batch", spec.batch, 1, largest_size);
  require_between("heads", spec.heads, 1, largest_size);
  require_between("kv_heads", spec.kv_heads, 1, largest_size);
  require_between("queries", spec.queries, 1, largest_size);
  require_between("keys", spec.keys, 1, largest_size);
  require_between("head_dim", spec.head_dim, 1, largest_size);
  require_between("value_dim", spec.value_dim, 0, largest_size);
  if (spec.heads % spec.kv_heads != 0) {
    throw BadInput("heads", fmt::format("{} with kv_heads {}", spec.heads, spec.kv_heads),
                   "a multiple of kv_heads");
  }
  require_between("query_offset", spec.query_offset, 1 - spec.queries, largest_size);
  validate_positions(spec);
  require_between("page_size", spec.page_size, 0, spec.pass == Pass::decode ? largest_size : 0);
  if (!methods::is_bias(spec.bias)) {
    throw BadInput("bias",
                   fmt::format("{} with dape {} and rope {}", int{spec.bias.method}, spec.bias.dape,
                               int{spec.bias.rope}),
                   "a method, and what composes with it");
  }
  if (spec.bias.method == PLUMBLINE_FOX && !spec.mask.causal) {
    throw BadInput("causal", "0 with bias fox", "1: FoX has no meaning for later keys");
  }
  if (!spec.bias.has_rope()) {
    if (spec.rotary_dim != 0) {
      throw BadInput("rotary_dim", fmt::format("{} with bias {}", spec.rotary_dim, name(spec.bias)),
                     "none: nothing is rotated without RoPE");
    }
  } else if (spec.rotary_dim != 0) {
    require_between("rotary_dim", spec.rotary_dim, 2, spec.head_dim);
    if (spec.rotary_dim % 2 != 0) {
      throw BadInput("rotary_dim", std::to_string(spec.rotary_dim),
                     "an even number: components are rotated in pairs");
    }
  } else if (spec.head_dim % 2 != 0) {
    throw BadInput("head_dim", fmt::format("{} with bias {}", spec.head_dim, name(spec.bias)),
                   "an even number: components are rotated in pairs");
  }
  const auto require_normal = [](const char* field, double value) {
    if (value == 0 || (value >= 0x1p-126 && value <= 0x1p127)) return;
    throw BadInput(field, fmt::format("{}", value), "a number from 2^-126 to 2^127");
  };
  require_normal("scale", spec.scale);
  require_normal("softcap", spec.softcap);
  if (spec.softcap != 0 && needs_scores(spec.bias)) {
    throw BadInput("softcap", fmt::format("{} with bias {}", spec.softcap, name(spec.bias)),
                   "none: a softcap is of a product alone");
  }
  if (spec.sinks && needs_scores(spec.bias)) {
    throw BadInput("sinks", fmt::format("1 with bias {}", name(spec.bias)), "0");
  }
  validate_mask_tensor(spec);
  validate_dropout(spec);
  validate_cache(spec);
  validate_layout(spec);
  if (spec.values_in_keys && (spec.pass == Pass::backward || spec.value_width() > spec.head_dim)) {
    throw BadInput(
        "values_in_keys",
        fmt::format("1 with pass {} and value_dim {}", name(spec.pass), spec.value_width()),
        "0 in the backward pass, and where value_dim is above head_dim");
  }
  if (spec.lse_gradient && spec.pass != Pass::backward) {
    throw BadInput("lse_gradient", fmt::format("1 with pass {}", name(spec.pass)),
                   "0, but in the backward pass");
  }
  require_between("window", spec.mask.window.left, -1, largest_size);
  require_between("window", spec.mask.window.right, -1, largest_size);
  require_elements("q", {spec.batch, spec.heads, spec.queries, spec.head_dim});
  require_elements("k", {spec.batch, spec.kv_heads, spec.keys, spec.head_dim});
  require_elements("v", {spec.batch, spec.kv_heads, spec.keys, spec.value_width()});
  require_elements("o", {spec.batch, spec.heads, spec.queries, spec.value_width()});
  require_rows(spec);
  if (spec.bias.method == PLUMBLINE_BIAS_TENSOR) {
    require_elements("tensor", {spec.batch, spec.heads, spec.queries, spec.keys});
  }
  require_elements("increments", {spec.batch, spec.heads, spec.keys});
}

}  // namespace plumbline::cases
