// SPDX-License-Identifier: Apache-2.0
// Which sign, distance and factor a bias has.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <numbers>

#include "reference/bias/t5_buckets.hpp"
#include "verdict/conventions/convention.hpp"

namespace plumbline::verdict {
namespace {
using cases::Case;
using OfKey = std::function<double(int)>;

bool is_biased(const Case& c) { return c.spec.bias.method != PLUMBLINE_NOPE; }
/// DAPE's network takes the bias in: what is added is no multiple of it.
bool adds_bias(const Case& c) { return is_biased(c) && c.spec.bias.dape == 0; }
bool is_one_of(const Case& c, std::initializer_list<plumbline_bias> methods) {
  return adds_bias(c) &&
         std::find(methods.begin(), methods.end(), c.spec.bias.method) != methods.end();
}

/// T5's bucket of a distance, in double as codes compute it.
int bucket_in_double(int distance, int buckets, double max_distance) {
  const int exact = buckets / 2;
  if (distance < exact) return distance;
  const double above = std::log(static_cast<double>(distance) / exact) /
                       std::log(max_distance / exact) * (buckets - exact);
  return std::min(buckets - 1, exact + static_cast<int>(above));
}
/// That of a query and a key.
int bucket_in_double(const Case& c, int i, int j) {
  const int buckets = static_cast<int>(c.options[PLUMBLINE_BUCKETS]);
  const double most = c.options[PLUMBLINE_MAX_DISTANCE];
  if (c.spec.bias.method == PLUMBLINE_T5)
    return bucket_in_double(std::max(i - j, 0), buckets, most);
  return bucket_in_double(std::abs(i - j), buckets / 2, most) + (j > i ? buckets / 2 : 0);
}
bool differs_in_double(const Case& c) {
  if (!is_one_of(c, {PLUMBLINE_T5, PLUMBLINE_T5_BIDIRECTIONAL})) return false;
  const reference::T5Buckets buckets(static_cast<int>(c.options[PLUMBLINE_BUCKETS]),
                                     static_cast<int>(c.options[PLUMBLINE_MAX_DISTANCE]),
                                     c.spec.bias.method == PLUMBLINE_T5_BIDIRECTIONAL);
  for (int n = 0; n < c.spec.keys; ++n) {
    if (buckets(n, 0) != bucket_in_double(c, n, 0)) return true;
  }
  return false;
}
double t5_bucket_of_double(const OfKey&, const QueryRow& row, int j) {
  const auto& table = row.the_case[PLUMBLINE_TABLE];
  const std::size_t rows = table.size() / row.the_case.spec.heads;
  return table[row.head * rows + bucket_in_double(row.the_case, row.position, j)];
}

const std::vector<Convention> bias_conventions{
    {.name = "bias_missing",
     .words = "whose scores have no bias",
     .remedy = "add it to the scaled products",
     .concerns = is_biased,
     .bias = [](const OfKey&, const QueryRow&, int) { return 0.0; }},
    {.name = "dape_missing",
     .words = "whose scores have the bias without DAPE's correction",
     .remedy = "add f([A; B]) to it, or decline problems with dape",
     .concerns = [](const Case& c) { return c.spec.bias.dape > 0; },
     .reads = [](Case& c) { c.spec.bias.dape = 0; }},
    {.name = "bias_sign",
     .words = "whose bias has the opposite sign",
     .remedy = "negate the bias",
     // Under a causal mask it is the sign that CABLE's paper prints.
     .concerns =
         [](const Case& c) {
           return adds_bias(c) &&
                  !(c.spec.mask.causal &&
                    is_one_of(c, {PLUMBLINE_CABLE, PLUMBLINE_CABLE_NW, PLUMBLINE_CABLE_PAPER,
                                  PLUMBLINE_CABLE_NW_PAPER}));
         },
     .bias = [](const OfKey& b, const QueryRow&, int j) { return -b(j); }},
    {.name = "cable_sign_of_paper",
     .words = "that adds CABLE's bias with the sign its paper prints, +g_i (S_i - S_j)",
     .remedy = "negate it, -g_i |S_i - S_j|, or choose the bias cable_paper (cable_nw_paper)",
     .concerns =
         [](const Case& c) {
           return is_one_of(c, {PLUMBLINE_CABLE, PLUMBLINE_CABLE_NW});
         },
     .reads =
         [](Case& c) {
           c.spec.bias.method = c.spec.bias.method == PLUMBLINE_CABLE ? PLUMBLINE_CABLE_PAPER
                                                                      : PLUMBLINE_CABLE_NW_PAPER;
         }},
    {.name = "cable_sign_of_code",
     .words = "that adds CABLE's bias with the sign of its code, -g_i |S_i - S_j|",
     .remedy = "negate it, or choose the bias cable (cable_nw)",
     .concerns =
         [](const Case& c) {
           return is_one_of(c, {PLUMBLINE_CABLE_PAPER, PLUMBLINE_CABLE_NW_PAPER});
         },
     .reads =
         [](Case& c) {
           c.spec.bias.method =
               c.spec.bias.method == PLUMBLINE_CABLE_PAPER ? PLUMBLINE_CABLE : PLUMBLINE_CABLE_NW;
         }},
    {.name = "gain_inside_logarithm",
     .words = "that multiplies by g_i inside K-CABLE's logarithm, as its paper prints",
     .remedy = "multiply the logarithm by g_i, or choose the bias k_cable_paper",
     .concerns = [](const Case& c) { return is_one_of(c, {PLUMBLINE_K_CABLE}); },
     .reads = [](Case& c) { c.spec.bias.method = PLUMBLINE_K_CABLE_PAPER; }},
    {.name = "gain_outside_logarithm",
     .words = "that multiplies K-CABLE's logarithm by g_i, as its code does",
     .remedy = "multiply by g_i inside the logarithm, or choose the bias k_cable",
     .concerns = [](const Case& c) { return is_one_of(c, {PLUMBLINE_K_CABLE_PAPER}); },
     .reads = [](Case& c) { c.spec.bias.method = PLUMBLINE_K_CABLE; }},
    {.name = "distance_signed",
     .words = "whose bias uses the signed distance, so that later keys get a reward",
     .remedy = "take its absolute value",
     .concerns =
         [](const Case& c) {
           return !c.spec.mask.causal &&
                  is_one_of(c, {PLUMBLINE_ALIBI, PLUMBLINE_CABLE, PLUMBLINE_CABLE_NW});
         },
     .bias = [](const OfKey& b, const QueryRow& row,
                int j) { return j > row.position ? -b(j) : b(j); }},
    {.name = "distance_absolute",
     .words = "whose bias takes the absolute value of the distance",
     .remedy = "take the distance with its sign",
     .concerns =
         [](const Case& c) {
           return !c.spec.mask.causal &&
                  is_one_of(c, {PLUMBLINE_CABLE_PAPER, PLUMBLINE_CABLE_NW_PAPER, PLUMBLINE_T5,
                                PLUMBLINE_T5_CLIPPED, PLUMBLINE_T5_CLIPPED_OFFSET});
         },
     .bias =
         [](const OfKey& b, const QueryRow& row, int j) {
           if (j <= row.position) return b(j);
           const bool sums = has_prefix_sum(row.the_case);
           return sums ? -b(j) : b(2 * row.position - j);
         }},
    {.name = "distance_of_past_only",
     .words = "whose bias counts later keys as at distance 0",
     .remedy = "take the absolute value of the distance",
     .concerns =
         [](const Case& c) {
           return adds_bias(c) && !c.spec.mask.causal && methods::row(c.spec.bias).symmetric;
         },
     .bias = [](const OfKey& b, const QueryRow& row,
                int j) { return b(std::min(j, row.position)); }},
    {.name = "distance_reversed",
     .words = "whose table is read by j - i",
     .remedy = "read it by i - j",
     .concerns =
         [](const Case& c) {
           return is_one_of(c, {PLUMBLINE_T5_BIDIRECTIONAL, PLUMBLINE_T5_CLIPPED_OFFSET});
         },
     .bias = [](const OfKey& b, const QueryRow& row, int j) { return b(2 * row.position - j); }},
    {.name = "t5_bidirectional",
     .words = "whose buckets are T5's bidirectional ones",
     .remedy = "take the causal ones, or choose the bias t5_bidirectional",
     .concerns = [](const Case& c) { return is_one_of(c, {PLUMBLINE_T5}); },
     .reads = [](Case& c) { c.spec.bias.method = PLUMBLINE_T5_BIDIRECTIONAL; }},
    {.name = "t5_causal",
     .words = "whose buckets are T5's causal ones",
     .remedy = "take the bidirectional ones, or choose the bias t5",
     .concerns = [](const Case& c) { return is_one_of(c, {PLUMBLINE_T5_BIDIRECTIONAL}); },
     .reads = [](Case& c) { c.spec.bias.method = PLUMBLINE_T5; }},
    {.name = "t5_bucket_of_double",
     .words = "whose buckets are T5's as logarithms in double give them: a quotient that should be "
              "whole comes out just below, and the bucket is one too low",
     .remedy = "compare whole numbers, or add a little before rounding down",
     .concerns = differs_in_double,
     .bias = t5_bucket_of_double},
    {.name = "bias_scaled",
     .words = "whose bias is multiplied by the scale too",
     .remedy = "add it after scaling",
     .concerns = adds_bias,
     .bias = [](const OfKey& b, const QueryRow& row, int j) { return b(j) * row.the_case.scale; }},
    {.name = "bias_after_log2e",
     .words = "that adds the bias to scores which are in units of base 2 already",
     .remedy = "multiply the bias by log2 e too",
     .concerns = adds_bias,
     .bias = [](const OfKey& b, const QueryRow&, int j) { return b(j) * std::numbers::ln2; }},
    {.name = "bias_times_log2e",
     .words =
         "whose bias is log2 e times as large: log2 e folded in twice, or a logarithm to base 2",
     .remedy = "multiply by log2 e once, and take natural logarithms",
     .concerns = adds_bias,
     .bias = [](const OfKey& b, const QueryRow&, int j) { return b(j) * std::numbers::log2e; }},
};

}  // namespace

const std::vector<Convention>& conventions_of_biases() { return bias_conventions; }

}  // namespace plumbline::verdict
