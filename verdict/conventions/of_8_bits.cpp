// SPDX-License-Identifier: Apache-2.0
// Numbers of 8 bits, of inputs and of caches: their scales, and the format in which they are read.
#include <array>
#include <utility>

#include "verdict/conventions/convention.hpp"

namespace plumbline::verdict {
namespace {

using cases::CacheFormat;
using cases::Case;
using Numbers8 = std::vector<float> Case::*;

/// q, k and v with their scales. Where a tensor has none, nothing below changes it.
constexpr std::array<std::pair<Numbers8, Numbers8>, 3> scaled_tensors{
    {{&Case::q, &Case::q_scale}, {&Case::k, &Case::k_scale}, {&Case::v, &Case::v_scale}}};

bool is_scaled(const Case& c) { return !c.k_scale.empty(); }
bool has_8_bits(const Case& c, cases::Format format, CacheFormat cache) {
  return c.spec.format == format || c.spec.cache == cache;
}

std::vector<float> stored_numbers(const Case& c, Numbers8 numbers, Numbers8 scales) {
  return cases::unscaled(c.*numbers, c.*scales, c.spec.format, c.spec.cache);
}

/// @param scales those that `read` takes the place of; none: the stored numbers are taken as they
/// are.
void rescale(Case& c, Numbers8 numbers, Numbers8 scales, const std::vector<float>& read) {
  c.*numbers = cases::scaled(stored_numbers(c, numbers, scales), read);
}

/// All tensors with the scale of (b, h, j) taken from where `from` moves these; j is 0 of those of
/// heads.
void read_scales_from(Case& c, void (*from)(std::array<std::size_t, 3>& at)) {
  const std::size_t heads = c.spec.kv_heads, keys = c.spec.scale_per_key ? c.spec.keys : 1;
  for (const auto& [numbers, scales] : scaled_tensors) {
    std::vector<float> read = c.*scales;
    for (std::size_t n = 0; n < read.size(); ++n) {
      std::array<std::size_t, 3> at{n / keys / heads, n / keys % heads, n % keys};
      from(at);
      read[n] = (c.*scales)[(at[0] * heads + at[1]) * keys + at[2]];
    }
    rescale(c, numbers, scales, read);
  }
}

/// All stored numbers read as `read` does.
void reread(Case& c, float (*read)(float)) {
  for (const auto& [numbers, scales] : scaled_tensors) {
    if ((c.*scales).empty()) continue;
    c.*numbers = stored_numbers(c, numbers, scales);
    for (float& x : c.*numbers) x = read(x);
    c.*numbers = cases::scaled(std::move(c.*numbers), c.*scales);
  }
}

/// What the product of a query and a stored key is multiplied with.
double scale_of_product(const QueryRow& row, int key) {
  const Case& c = row.the_case;
  const auto& s = c.spec;
  const std::size_t head =
      static_cast<std::size_t>(row.batch) * s.kv_heads + row.head / (s.heads / s.kv_heads);
  const double of_query = c.q_scale.empty() ? 1.0 : double{c.q_scale[head]};
  return of_query * c.k_scale[s.scale_per_key ? head * s.keys + key : head];
}

const std::vector<Convention> conventions_8_bits{
    {.name = "q_scale_ignored",
     .words = "that does not multiply q by q_scale",
     .remedy = "multiply q by q_scale[b, h / (heads / kv_heads)], or the products with it",
     .concerns = [](const Case& c) { return !c.q_scale.empty(); },
     .reads = [](Case& c) { rescale(c, &Case::q, &Case::q_scale, {}); }},
    {.name = "k_scale_ignored",
     .words = "that does not multiply k by k_scale",
     .remedy = "multiply k by k_scale, or the products with it",
     .concerns = is_scaled,
     .reads = [](Case& c) { rescale(c, &Case::k, &Case::k_scale, {}); }},
    {.name = "v_scale_ignored",
     .words = "that does not multiply v by v_scale",
     .remedy = "multiply v by v_scale, or the weights of v",
     .concerns = is_scaled,
     .reads = [](Case& c) { rescale(c, &Case::v, &Case::v_scale, {}); }},
    {.name = "scales_ignored",
     .words = "that takes the stored numbers of 8 bits without any scale",
     .remedy = "multiply them by k_scale and v_scale, and q by q_scale where there is one",
     .concerns = is_scaled,
     .reads =
         [](Case& c) {
           for (const auto& [numbers, scales] : scaled_tensors) rescale(c, numbers, scales, {});
         }},
    {.name = "scales_exchanged",
     .words = "that multiplies k by v_scale and v by k_scale",
     .remedy = "multiply k by k_scale and v by v_scale",
     .concerns = [](const Case& c) { return c.k_scale != c.v_scale; },
     .reads =
         [](Case& c) {
           rescale(c, &Case::k, &Case::k_scale, c.v_scale);
           rescale(c, &Case::v, &Case::v_scale, c.k_scale);
         }},
    {.name = "scales_of_first_key_head",
     .words = "that takes the scales of the first key head for all heads",
     .remedy = "read those of key head h / (heads / kv_heads)",
     .concerns = [](const Case& c) { return is_scaled(c) && c.spec.kv_heads > 1; },
     .reads = [](Case& c) { read_scales_from(c, [](auto& at) { at[1] = 0; }); }},
    {.name = "scales_of_first_sequence",
     .words = "that takes the scales of the first sequence for all sequences",
     .remedy = "read those of sequence b",
     .concerns = [](const Case& c) { return is_scaled(c) && c.spec.batch > 1; },
     .reads = [](Case& c) { read_scales_from(c, [](auto& at) { at[0] = 0; }); }},
    {.name = "one_scale_for_all_heads",
     .words = "that takes the scales of the first key head of the first sequence for all",
     .remedy = "read those of sequence b and key head h / (heads / kv_heads)",
     // Of one sequence it is scales_of_first_key_head.
     .concerns = [](const Case& c) { return is_scaled(c) && c.spec.batch > 1; },
     .reads = [](Case& c) { read_scales_from(c, [](auto& at) { at[0] = at[1] = 0; }); }},
    {.name = "scale_of_first_key",
     .words = "that takes the scales of the first key for all keys of the head",
     .remedy = "with scale_per_key read those of key j",
     .concerns = [](const Case& c) { return c.spec.scale_per_key && c.spec.keys > 1; },
     .reads = [](Case& c) { read_scales_from(c, [](auto& at) { at[2] = 0; }); }},
    {.name = "bias_times_scales",
     .words = "that multiplies the bias by the scales of q and k, too",
     .remedy = "multiply q.k by them, then add the bias",
     .concerns =
         [](const Case& c) {
           return is_scaled(c) && c.spec.bias.method != PLUMBLINE_NOPE && c.spec.bias.dape == 0;
         },
     .bias = [](const auto& b, const QueryRow& row,
                int j) { return b(j) * scale_of_product(row, j); }},
    {.name = "e4m3_read_as_e5m2",
     .words = "that reads e4m3 as e5m2",
     .remedy = "read 4 bits of exponent and 3 of the fraction",
     .concerns =
         [](const Case& c) { return has_8_bits(c, cases::Format::e4m3, CacheFormat::e4m3); },
     .reads =
         [](Case& c) { reread(c, [](float x) { return cases::from_e5m2(cases::to_e4m3(x)); }); }},
    {.name = "e5m2_read_as_e4m3",
     .words = "that reads e5m2 as e4m3",
     .remedy = "read 5 bits of exponent and 2 of the fraction",
     .concerns =
         [](const Case& c) { return has_8_bits(c, cases::Format::e5m2, CacheFormat::e5m2); },
     .reads =
         [](Case& c) { reread(c, [](float x) { return cases::from_e4m3(cases::to_e5m2(x)); }); }},
    {.name = "int8_read_as_unsigned",
     .words = "that reads int8 without its sign",
     .remedy = "read bytes from 128 on as negative numbers",
     .concerns = [](const Case& c) { return c.spec.cache == CacheFormat::int8; },
     .reads = [](Case& c) { reread(c, [](float x) { return x < 0 ? x + 256 : x; }); }},
};

}  // namespace

const std::vector<Convention>& conventions_of_8_bits() { return conventions_8_bits; }

}  // namespace plumbline::verdict
