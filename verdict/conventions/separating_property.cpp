// SPDX-License-Identifier: Apache-2.0
#include "verdict/conventions/separating_property.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace plumbline::verdict {
namespace {

using cases::Spec;

struct Property {
  std::string words;  ///< after "cases with"
  std::function<bool(const Spec&)> of;
  /// Gives a spec what another has of it; sizes take along what they limit.
  std::function<void(Spec&, const Spec&)> take;
};

void take_keys(Spec& s, const Spec& of) {
  s.keys = of.keys;
  s.queries = of.queries;
  s.query_offset = of.query_offset;
  s.queries_at_end = of.queries_at_end && s.mask.ragged;
}
void take_tensor(Spec& s, const Spec& of) {
  s.mask.pattern = of.mask.pattern;
  s.mask.per_batch = of.mask.per_batch;
  s.mask.per_head = of.mask.per_head;
}
void take_value_dim(Spec& s, const Spec& of) { s.value_dim = of.value_dim; }
void take_heads(Spec& s, const Spec& of) {
  s.heads = of.heads;
  s.kv_heads = of.kv_heads;
}

/// Those that `found` has.
std::vector<Property> properties_of(const Spec& found) {
  const auto at_end = [](const Spec& s) { return s.query_offset == s.keys - s.queries; };
  std::vector<Property> all{
      {fmt::format("head_dim = {}", found.head_dim),
       [=](const Spec& s) { return s.head_dim == found.head_dim; },
       [](Spec& s, const Spec& of) { s.head_dim = of.head_dim; }},
      {fmt::format("{} keys or more", found.keys),
       [=](const Spec& s) { return s.keys >= found.keys; }, take_keys},
      {fmt::format("{} queries or more", found.queries),
       [=](const Spec& s) { return s.queries >= found.queries; }, take_keys},
      {"more keys than queries", [](const Spec& s) { return s.keys > s.queries; }, take_keys},
      {"a query_offset other than keys - queries", [=](const Spec& s) { return !at_end(s); },
       [](Spec& s, const Spec& of) { s.query_offset = of.query_offset; }},
      {"a scale other than 1/sqrt(head_dim)", [](const Spec& s) { return s.scale != 0; },
       [](Spec& s, const Spec& of) { s.scale = of.scale; }},
      {"a batch of 2 or more", [](const Spec& s) { return s.batch > 1; },
       [](Spec& s, const Spec& of) { s.batch = of.batch; }},
      {"several heads", [](const Spec& s) { return s.heads > 1; }, take_heads},
      {"several key heads", [](const Spec& s) { return s.kv_heads > 1; }, take_heads},
      {"grouped heads", [](const Spec& s) { return s.heads != s.kv_heads; }, take_heads},
      {"a causal mask", [](const Spec& s) { return s.mask.causal; },
       [](Spec& s, const Spec& of) { s.mask.causal = of.mask.causal; }},
      {"a window", [](const Spec& s) { return s.mask.window.hides(); },
       [](Spec& s, const Spec& of) { s.mask.window = of.mask.window; }},
      {"a window of different sides",
       [](const Spec& s) { return s.mask.window.left != s.mask.window.right; },
       [](Spec& s, const Spec& of) { s.mask.window = of.mask.window; }},
      {"lengths", [](const Spec& s) { return s.mask.ragged; },
       [](Spec& s, const Spec& of) {
         s.mask.ragged = of.mask.ragged;
         s.queries_at_end = s.queries_at_end && s.mask.ragged;
       }},
      {"queries at each sequence's own end", [](const Spec& s) { return s.queries_at_end; },
       [](Spec& s, const Spec& of) { s.queries_at_end = of.queries_at_end; }},
      {"more queries than keys", [](const Spec& s) { return s.queries > s.keys; }, take_keys},
      {"documents", [](const Spec& s) { return s.mask.documents; },
       [](Spec& s, const Spec& of) { s.mask.documents = of.mask.documents; }},
      {"a mask tensor", [](const Spec& s) { return s.mask.pattern != cases::Pattern::none; },
       take_tensor},
      {"a mask tensor for each sequence", [](const Spec& s) { return s.mask.per_batch; },
       take_tensor},
      {"a mask tensor for each head", [](const Spec& s) { return s.mask.per_head; }, take_tensor},
      {"values of another width than keys",
       [](const Spec& s) { return s.value_width() != s.head_dim; }, take_value_dim},
      {"values narrower than keys", [](const Spec& s) { return s.value_width() < s.head_dim; },
       take_value_dim},
      {"values wider than keys", [](const Spec& s) { return s.value_width() > s.head_dim; },
       take_value_dim},
      {"values that are a part of the keys", [](const Spec& s) { return s.values_in_keys; },
       [](Spec& s, const Spec& of) { s.values_in_keys = of.values_in_keys; }},
      {"a gradient through lse", [](const Spec& s) { return s.lse_gradient; },
       [](Spec& s, const Spec& of) { s.lse_gradient = of.lse_gradient; }},
      {"dropout", [](const Spec& s) { return s.dropout > 0; },
       [](Spec& s, const Spec& of) { s.dropout = of.dropout; }},
      {"a cache of 8 bits", [](const Spec& s) { return s.cache != cases::CacheFormat::in_format; },
       [](Spec& s, const Spec& of) {
         s.cache = of.cache;
         s.scale_per_key = of.scale_per_key;
       }},
      {"a scale for each key", [](const Spec& s) { return s.scale_per_key; },
       [](Spec& s, const Spec& of) { s.scale_per_key = of.scale_per_key; }},
      {"a part of the components rotated",
       [](const Spec& s) { return s.bias.has_rope() && s.rotary_width() < s.head_dim; },
       [](Spec& s, const Spec& of) { s.rotary_dim = of.rotary_dim; }},
      {"SSMax", [](const Spec& s) { return s.ssmax; },
       [](Spec& s, const Spec& of) { s.ssmax = of.ssmax; }},
      {"attention sinks", [](const Spec& s) { return s.sinks; },
       [](Spec& s, const Spec& of) { s.sinks = of.sinks; }},
      {"a softcap", [](const Spec& s) { return s.softcap != 0; },
       [](Spec& s, const Spec& of) { s.softcap = of.softcap; }},
      {"pages", [](const Spec& s) { return s.page_size > 0; },
       [](Spec& s, const Spec& of) { s.page_size = of.page_size; }},
      {fmt::format("layout = {}", name(found.layout)),
       [=](const Spec& s) {
         return found.layout != cases::Layout::contiguous && s.layout == found.layout;
       },
       [](Spec& s, const Spec& of) { s.layout = of.layout; }},
      {fmt::format("page_size = {}", found.page_size),
       [=](const Spec& s) { return found.page_size > 0 && s.page_size == found.page_size; },
       [](Spec& s, const Spec& of) { s.page_size = of.page_size; }},
      {fmt::format("{} numbers", name(found.family)),
       [=](const Spec& s) { return s.family == found.family; },
       [](Spec& s, const Spec& of) { s.family = of.family; }}};
  std::erase_if(all, [&](const Property& property) { return !property.of(found); });
  return all;
}

/// (f + p) over f, or fewest_divisions where it is more.
double divisions(std::size_t f, std::size_t p) {
  double ways = 1;
  for (std::size_t n = 1; n <= std::min(f, p) && ways < fewest_divisions; ++n) {
    ways *= static_cast<double>(std::max(f, p) + n) / static_cast<double>(n);
  }
  return std::min(ways, fewest_divisions);
}

}  // namespace

std::vector<std::string> separating_properties(const std::vector<Trial>& trials,
                                               const Spec& found) {
  std::vector<Spec> failing, passing;
  for (const Trial& trial : trials) {
    auto& same = trial.fails ? failing : passing;
    // A shrinking asks about some cases twice.
    if (std::find(same.begin(), same.end(), trial.spec) == same.end()) same.push_back(trial.spec);
  }
  std::vector<std::string> sentences;
  if (divisions(failing.size(), passing.size()) < fewest_divisions) return sentences;
  for (const Property& property : properties_of(found)) {
    const bool separates = std::all_of(failing.begin(), failing.end(), property.of) &&
                           std::none_of(passing.begin(), passing.end(), property.of);
    const auto without = [&](const Spec& failed) {
      return std::any_of(passing.begin(), passing.end(), [&](const Spec& passed) {
        Spec changed = failed;
        property.take(changed, passed);
        return changed == passed;
      });
    };
    if (!separates || std::none_of(failing.begin(), failing.end(), without)) continue;
    sentences.push_back(fmt::format("fails in all {} cases with {} and in none of {} others",
                                    failing.size(), property.words, passing.size()));
  }
  return sentences;
}

}  // namespace plumbline::verdict
