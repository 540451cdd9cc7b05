// SPDX-License-Identifier: Apache-2.0
#include "verdict/report/cover.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "verdict/cases/bias_parameters.hpp"
#include "verdict/cases/formats.hpp"

namespace plumbline::verdict {
namespace {

/// With more values than this only the least and the largest are named.
constexpr std::size_t most_counts_listed = 12;
constexpr int many_keys = 8192;

std::string sizes_in_words(const std::string& property, const std::map<int, long>& counts) {
  if (counts.size() > most_counts_listed) {
    // A single long one would read as if all lengths up to it had been judged as well.
    long beyond = 0;
    for (const auto& [value, count] : counts) beyond += value > many_keys ? count : 0;
    return fmt::format("{} {} to {}{}", property, counts.begin()->first, counts.rbegin()->first,
                       beyond == 0 ? "" : fmt::format(" ({} beyond {})", beyond, many_keys));
  }
  std::vector<int> values;
  for (const auto& [value, count] : counts) values.push_back(value);
  return fmt::format("{} {}", property, fmt::join(values, ", "));
}

long total_of(const std::map<int, long>& counts) {
  long total = 0;
  for (const auto& [value, count] : counts) total += count;
  return total;
}

}  // namespace

bool has_latent_widths(const cases::Spec& s) {
  return (s.head_dim == 192 && s.value_width() == 128) ||
         (s.head_dim == 576 && s.value_width() == 512);
}

void Cover::add(const cases::Spec& s) {
  const auto count = [&](const char* property, int value) { ++cases[property][value]; };
  count("batch", s.batch);
  count("heads", s.heads);
  count("group", s.heads / s.kv_heads);
  count("queries", s.queries);
  count("keys", s.keys);
  count("head_dim", s.head_dim);
  count("family", static_cast<int>(s.family));
  count("causal", s.mask.causal);
  count("window", s.mask.window.hides());
  count("window of two sides", s.mask.window.left != s.mask.window.right);
  count("lengths", s.mask.ragged && !s.is_packed());
  count("documents", s.mask.documents);
  count("ssmax", s.ssmax);
  count("softcap", s.softcap != 0);
  count("sinks", s.sinks);
  count("queries before the end", s.query_offset + s.queries < s.keys);
  count("queries at each end", s.queries_at_end && !s.is_packed());
  count("mask tensor", s.mask.pattern != cases::Pattern::none);
  count("mask pattern", static_cast<int>(s.mask.pattern));
  if (s.mask.causal && s.queries != s.keys) {
    count("aligned bottom-right", s.query_offset == s.keys - s.queries);
    count("aligned top-left", s.query_offset == 0);
  }
  count("other value width", s.value_width() != s.head_dim);
  count("values in keys", s.values_in_keys);
  count("latent widths", has_latent_widths(s));
  count("dropout", s.dropout > 0);
  count("dropout by a given mask", s.dropout > 0 && s.keep_given);
  count("dropout by the generator", s.dropout > 0 && !s.keep_given);
  if (s.bias.has_rope()) count("partly rotated", s.rotary_width() < s.head_dim);
  if (s.pass == cases::Pass::backward) count("gradient through lse", s.lse_gradient);
  count("more queries than keys", s.queries > s.keys);
  count("other scale", s.scale != 0);
  count("strided", s.is_strided());
  count("layout", static_cast<int>(s.layout));
  if (s.pass != cases::Pass::decode) count("packed sequences", s.is_packed());
  if (s.bias.method == PLUMBLINE_BIAS_TENSOR) {
    const cases::Format format = cases::output_format(s.format);
    const bool in_16_bits = format == cases::Format::bf16 || format == cases::Format::fp16;
    count("bias in 16 bits", in_16_bits && cases::drawn_options(s)[PLUMBLINE_IN_FORMAT_OF_O] != 0);
  }
  if (s.bias.method == PLUMBLINE_ALIBI && s.bias.dape == 0) {
    const cases::Options options = cases::drawn_options(s);
    count("slopes of each sequence", s.batch > 1 && options[PLUMBLINE_SLOPES_PER_BATCH] != 0);
  }
  if (s.pass == cases::Pass::decode) {
    count("paged", s.page_size > 0);
    count("several queries", s.queries > 1);
    count("cache", static_cast<int>(s.cache));
    count("cache of 8 bits", s.cache != cases::CacheFormat::in_format);
    count("scale of each key", s.scale_per_key);
  }
}

void Cover::add(const Cover& other) {
  for (const auto& [property, counts] : other.cases) {
    for (const auto& [value, count] : counts) cases[property][value] += count;
  }
  unjudged_rows += other.unjudged_rows;
}

std::string in_words(const Cover& cover) {
  std::vector<std::string> parts;
  for (const char* property : {"batch", "heads", "group", "queries", "keys", "head_dim"}) {
    const auto found = cover.cases.find(property);
    if (found != cover.cases.end()) parts.push_back(sizes_in_words(property, found->second));
  }
  std::vector<std::string> shares;
  for (const char* property : {"causal",
                               "window",
                               "window of two sides",
                               "lengths",
                               "documents",
                               "ssmax",
                               "softcap",
                               "sinks",
                               "queries before the end",
                               "queries at each end",
                               "more queries than keys",
                               "mask tensor",
                               "other value width",
                               "values in keys",
                               "dropout",
                               "partly rotated",
                               "gradient through lse",
                               "other scale",
                               "strided",
                               "packed sequences",
                               "slopes of each sequence",
                               "paged",
                               "several queries",
                               "cache of 8 bits",
                               "scale of each key"}) {
    const auto found = cover.cases.find(property);
    if (found == cover.cases.end()) continue;
    const auto& counts = found->second;
    const long with = counts.contains(1) ? counts.at(1) : 0, total = total_of(counts);
    // No whole per cent hides that there was one, or one without.
    const long share =
        with == 0 ? 0 : std::clamp(100 * with / total, 1L, with == total ? 100L : 99L);
    shares.push_back(fmt::format("{} {} %", property, share));
  }
  if (!shares.empty()) parts.push_back(fmt::format("{}", fmt::join(shares, ", ")));
  if (const auto found = cover.cases.find("family"); found != cover.cases.end()) {
    std::vector<std::string_view> families;
    for (const auto& [family, count] : found->second) {
      families.push_back(cases::name(static_cast<cases::Family>(family)));
    }
    parts.push_back(fmt::format("numbers {}", fmt::join(families, ", ")));
  }
  if (cover.unjudged_rows > 0) {
    parts.push_back(fmt::format("{} rows of large cases not judged", cover.unjudged_rows));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace plumbline::verdict
