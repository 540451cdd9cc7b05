// SPDX-License-Identifier: Apache-2.0
// The scale, the softcap, SSMax, logarithms and exponentials, heads, RoPE, and layouts in memory.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "verdict/bounds/roundoff.hpp"
#include "verdict/cases/method_inputs.hpp"
#include "verdict/conventions/convention.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {
namespace {
using cases::Case;
using std::numbers::ln2;
using std::numbers::log2e;

bool is_partly_rotated(const Case& c) {
  return has_rope(c) && c.spec.rotary_width() < c.spec.head_dim;
}
bool has_ssmax(const Case& c) { return c.spec.ssmax; }
bool has_sinks(const Case& c) { return c.spec.sinks; }
bool has_softcap(const Case& c) { return c.spec.softcap != 0; }
bool shares_some_keys(const Case& c) {
  return c.spec.heads != c.spec.kv_heads && c.spec.kv_heads > 1;
}
bool has_two_heads_and_rows(const Case& c) { return c.spec.heads > 1 && c.spec.queries > 1; }

/// A multiple of lse as it is returned: its rounding is that of a float again.
OracleNumber returned(double value, double bound) {
  return {value, 0, bound + 4 * u * std::abs(value)};
}

double scale_of_ssmax(const QueryRow& row) { return row.the_case[PLUMBLINE_SSMAX_SCALE][row.head]; }

/// Query head h reads key head `of(h)`.
template <class Of>
void regroup(Case& c, Of of) {
  auto& s = c.spec;
  for (const auto& [tensor, width] : {std::pair{&c.k, s.head_dim}, {&c.v, s.value_width()}}) {
    const std::size_t of_head = static_cast<std::size_t>(s.keys) * width;
    std::vector<float> regrouped;
    for (int b = 0; b < s.batch; ++b) {
      for (int h = 0; h < s.heads; ++h) {
        const auto from =
            tensor->begin() + static_cast<std::ptrdiff_t>((b * s.kv_heads + of(h)) * of_head);
        regrouped.insert(regrouped.end(), from, from + static_cast<std::ptrdiff_t>(of_head));
      }
    }
    *tensor = std::move(regrouped);
  }
  s.kv_heads = s.heads;
}

/// [batch, rows, heads, dim] in memory, read as [batch, heads, rows, dim].
void read_rows_first(std::vector<float>& tensor, int batch, int heads, int rows, int dim) {
  std::vector<float> read(tensor.size());
  for (int b = 0; b < batch; ++b) {
    for (int h = 0; h < heads; ++h) {
      for (int r = 0; r < rows; ++r) {
        const auto from = (static_cast<std::size_t>(b * rows + r) * heads + h) * dim;
        const auto to = (static_cast<std::size_t>(b * heads + h) * rows + r) * dim;
        std::copy_n(tensor.begin() + static_cast<std::ptrdiff_t>(from), dim,
                    read.begin() + static_cast<std::ptrdiff_t>(to));
      }
    }
  }
  tensor = std::move(read);
}
void read_inputs_rows_first(Case& c) {
  const auto& s = c.spec;
  read_rows_first(c.q, s.batch, s.heads, s.queries, s.head_dim);
  read_rows_first(c.k, s.batch, s.kv_heads, s.keys, s.head_dim);
  read_rows_first(c.v, s.batch, s.kv_heads, s.keys, s.value_width());
}
std::size_t rows_first(const QueryRow& row) {
  const auto& s = row.the_case.spec;
  return static_cast<std::size_t>(row.batch * s.queries + row.query) * s.heads + row.head;
}

int padded(int dim) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(dim))); }

void lose_last_component(Case& c) {
  const auto dim = static_cast<std::size_t>(c.spec.head_dim);
  for (std::size_t n = dim - 1; n < c.k.size(); n += dim) c.k[n] = 0;
}

/// The second component of each pair with the other sign rotates both the other way.
void rotate_back(Case& c) {
  const int dim = c.spec.head_dim;
  const bool interleaved = c.spec.bias.rope == PLUMBLINE_ROPE_INTERLEAVED;
  for (auto* tensor : {&c.q, &c.k}) {
    for (std::size_t n = 0; n < tensor->size(); ++n) {
      const int d = static_cast<int>(n % static_cast<std::size_t>(dim));
      if (interleaved ? d % 2 == 1 : d >= dim / 2) (*tensor)[n] = -(*tensor)[n];
    }
  }
}

const std::vector<Convention> score_conventions{
    {.name = "scale_missing",
     .words = "without the scale",
     .remedy = "multiply q.k by it, 1/sqrt(head_dim)",
     .reads = [](Case& c) { c.scale = 1; }},
    {.name = "scale_twice",
     .words = "that scales twice",
     .remedy = "multiply q.k by the scale once: 1/sqrt(head_dim), not 1/head_dim",
     .reads = [](Case& c) { c.scale *= c.scale; }},
    {.name = "scale_inverted",
     .words = "that divides by the scale",
     .remedy = "multiply q.k by it, 1/sqrt(head_dim)",
     .reads = [](Case& c) { c.scale = 1 / c.scale; }},
    {.name = "scale_of_width",
     .words = "whose scale is that of all heads' components together",
     .remedy = "take 1/sqrt(head_dim)",
     .concerns = [](const Case& c) { return c.spec.heads > 1; },
     .reads = [](Case& c) { c.scale /= std::sqrt(c.spec.heads); }},
    {.name = "scale_ignored",
     .words = "whose scale is 1/sqrt(head_dim), whatever is given",
     .remedy = "multiply q.k by the scale that is given",
     .concerns = [](const Case& c) { return c.scale != 1 / std::sqrt(c.spec.head_dim); },
     .reads = [](Case& c) { c.scale = 1 / std::sqrt(c.spec.head_dim); }},
    {.name = "scale_of_padded_dim",
     .words = "whose scale is that of head_dim rounded up to a power of two",
     .remedy = "take 1/sqrt(head_dim), not of the padded width",
     .concerns = [](const Case& c) { return padded(c.spec.head_dim) != c.spec.head_dim; },
     .reads =
         [](Case& c) {
           c.scale *= std::sqrt(static_cast<double>(c.spec.head_dim) / padded(c.spec.head_dim));
         }},
    {.name = "scale_of_value_dim",
     .words = "whose scale is 1/sqrt(value_dim)",
     .remedy = "take 1/sqrt(head_dim), not of the values' width",
     .concerns = [](const Case& c) { return c.spec.value_width() != c.spec.head_dim; },
     .reads =
         [](Case& c) {
           c.scale *= std::sqrt(static_cast<double>(c.spec.head_dim) / c.spec.value_width());
         }},
    {.name = "last_component_lost",
     .words = "whose q.k lacks the last component",
     .remedy = "sum all head_dim products",
     .concerns = [](const Case& c) { return !has_rope(c); },
     .reads = lose_last_component},
    {.name = "scale_with_log2e",
     .words = "whose scale has log2 e in it, and whose exponential is natural",
     .remedy = "take 2^x for it, or leave log2 e out",
     // With SSMax and no bias it is ssmax_log2.
     .concerns =
         [](const Case& c) { return !c.spec.ssmax || c.spec.bias.method != PLUMBLINE_NOPE; },
     .reads = [](Case& c) { c.scale *= log2e; }},
    {.name = "scores_with_log2e",
     .words = "whose scores have log2 e in them, and whose exponential is natural",
     .remedy = "take 2^x for it, or leave log2 e out",
     // With SSMax it is ssmax_log2.
     .concerns = [](const Case& c) { return !c.spec.ssmax; },
     .factor = [](double factor, const QueryRow&, int) { return factor * log2e; }},
    {.name = "base_2_of_differences",
     .words =
         "that takes 2^x of scores without log2 e, less the largest, and the natural logarithm "
         "of their sum",
     .remedy = "multiply the scores by log2 e, or take e^x",
     .factor = [](double factor, const QueryRow&, int) { return factor * ln2; },
     .lse =
         [](const OracleNumber& lse, double largest, double) {
           return returned(lse.value - largest + largest * log2e, lse.bound * log2e);
         }},
    {.name = "base_2",
     .words = "that takes 2^x of scores without log2 e",
     .remedy = "multiply the scores by log2 e, or take e^x",
     .factor = [](double factor, const QueryRow&, int) { return factor * ln2; }},
    {.name = "base_2_throughout",
     .words = "that takes 2^x of scores without log2 e, and returns lse to base 2",
     .remedy = "multiply the scores by log2 e and lse by ln 2, or take e^x and ln",
     .factor = [](double factor, const QueryRow&, int) { return factor * ln2; },
     .lse = [](const OracleNumber& lse, double,
               double) { return returned(lse.value * log2e, lse.bound * log2e); }},
    {.name = "lse_base_2",
     .words = "that returns lse to base 2",
     .remedy = "multiply it by ln 2, or declare lse_base_2",
     .of_natural_lse = true,
     .lse = [](const OracleNumber& lse, double,
               double) { return returned(lse.value * log2e, lse.bound * log2e); }},
    {.name = "lse_times_ln2",
     .words = "that multiplies lse by ln 2, though its logarithm is as declared",
     .remedy = "leave ln 2 out, or take 2^x and log2 throughout",
     .lse = [](const OracleNumber& lse, double,
               double) { return returned(lse.value * ln2, lse.bound * ln2); }},
    {.name = "lse_of_empty_rows_positive",
     .words = "that returns +infinity for lse where a query sees no key",
     .remedy = "return -infinity there, the logarithm of an empty sum",
     .empty_lse = std::numeric_limits<double>::infinity()},
    {.name = "lse_of_empty_rows_zero",
     .words = "that returns 0 for lse where a query sees no key",
     .remedy = "return -infinity there, the logarithm of an empty sum",
     .empty_lse = 0},
    {.name = "lse_log2_of_sum",
     .words = "that adds the sum's logarithm to base 2 to the largest score",
     .remedy = "take the natural logarithm",
     .lse =
         [](const OracleNumber& lse, double largest, double) {
           return returned(largest + (lse.value - largest) * log2e, lse.bound * log2e);
         }},
    {.name = "lse_negated",
     .words = "that returns lse with the opposite sign",
     .remedy = "negate it",
     .lse = [](const OracleNumber& lse, double,
               double) { return returned(-lse.value, lse.bound); }},
    {.name = "lse_without_maximum",
     .words = "that returns the logarithm of the sum, without the largest score",
     .remedy = "add the maximum that was subtracted from the scores",
     .lse = [](const OracleNumber& lse, double largest,
               double) { return returned(lse.value - largest, lse.bound); }},
    {.name = "lse_without_logarithm",
     .words = "that adds the sum of exponentials, not its logarithm, to the largest score",
     .remedy = "take the logarithm of the sum",
     .lse =
         [](const OracleNumber& lse, double largest, double) {
           const double sum = std::exp(lse.value - largest);
           return returned(largest + sum, lse.bound + sum * lse.bound);
         }},
    {.name = "lse_is_sum",
     .words = "that returns the sum of exponentials for lse, relative to the largest one",
     .remedy = "return the largest score plus the logarithm of the sum",
     .lse =
         [](const OracleNumber& lse, double largest, double) {
           const double sum = std::exp(lse.value - largest);
           return returned(sum, sum * lse.bound);
         }},
    {.name = "lse_is_maximum",
     .words = "that returns the largest score for lse",
     .remedy = "add the logarithm of the sum",
     .lse = [](const OracleNumber& lse, double largest,
               double) { return returned(largest, lse.bound); }},
    {.name = "softcap_missing",
     .words = "without the softcap",
     .remedy = "take softcap * tanh(scale q.k / softcap) in place of scale q.k",
     .concerns = has_softcap,
     .reads = [](Case& c) { c.spec.softcap = 0; }},
    {.name = "softcap_of_biased_scores",
     .words = "whose softcap is of scale q.k and the bias together",
     .remedy = "cap scale q.k, then add the bias",
     .concerns =
         [](const Case& c) { return has_softcap(c) && c.spec.bias.method != PLUMBLINE_NOPE; },
     .caps_bias = true},
    {.name = "sinks_missing",
     .words = "without the attention sinks",
     .remedy = "add exp(sinks[h]) to the softmax's denominator",
     .concerns = has_sinks,
     .reads =
         [](Case& c) {
           c.spec.sinks = false;
           c[PLUMBLINE_SINKS].clear();
         }},
    {.name = "sinks_scaled",
     .words = "whose attention sinks are scaled as the products are",
     .remedy = "take sinks[h] as a logit",
     .concerns = has_sinks,
     .reads =
         [](Case& c) {
           for (float& sink : c[PLUMBLINE_SINKS]) sink *= static_cast<float>(c.scale);
         }},
    {.name = "sinks_of_first_head",
     .words = "that reads the attention sink of the first head for all",
     .remedy = "read sinks[h]",
     .concerns = [](const Case& c) { return has_sinks(c) && c.spec.heads > 1; },
     .reads =
         [](Case& c) {
           auto& sinks = c[PLUMBLINE_SINKS];
           std::fill(sinks.begin(), sinks.end(), sinks.front());
         }},
    {.name = "softcap_before_scale",
     .words = "whose softcap is of q.k, before the scale",
     .remedy = "cap scale q.k",
     .concerns = has_softcap,
     .reads = [](Case& c) { c.spec.softcap *= c.scale; }},
    {.name = "ssmax_missing",
     .words = "without SSMax's factor",
     .remedy = "multiply the scores by ssmax_scale[h] ln n",
     .concerns = has_ssmax,
     .factor = [](double, const QueryRow&, int) { return 1.0; }},
    {.name = "ssmax_log2",
     .words = "whose SSMax factor has the logarithm to base 2",
     .remedy = "take ln n",
     .concerns = has_ssmax,
     .factor = [](double factor, const QueryRow&, int) { return factor * log2e; }},
    {.name = "ssmax_of_position",
     .words = "whose SSMax factor has the query's position in place of the number of visible keys",
     .remedy = "count the keys that the mask leaves",
     .concerns = has_ssmax,
     .factor = [](double, const QueryRow& row,
                  int) { return scale_of_ssmax(row) * std::log(row.position + 1.0); }},
    {.name = "ssmax_of_row",
     .words = "whose SSMax factor has the query's row in place of the number of visible keys",
     .remedy = "count the keys that the mask leaves",
     .concerns = [](const Case& c) { return has_ssmax(c) && c.spec.query_offset != 0; },
     .factor = [](double, const QueryRow& row,
                  int) { return scale_of_ssmax(row) * std::log(row.query + 1.0); }},
    {.name = "ssmax_of_all_keys",
     .words = "whose SSMax factor counts hidden keys too",
     .remedy = "count the keys that the mask leaves",
     .concerns = has_ssmax,
     .factor =
         [](double, const QueryRow& row, int) {
           return scale_of_ssmax(row) * std::log(static_cast<double>(row.the_case.spec.keys));
         }},
    {.name = "ssmax_of_products_only",
     .words = "whose SSMax factor multiplies q.k and not the bias",
     .remedy = "multiply their sum",
     .concerns = [](const Case& c) { return has_ssmax(c) && c.spec.bias.method != PLUMBLINE_NOPE; },
     .bias_without_factor = true},
    {.name = "ssmax_subtracted",
     .words = "that subtracts ssmax_scale[h] ln n from the scores",
     .remedy = "multiply them by it: softmax does not see a difference",
     .concerns = has_ssmax,
     .factor = [](double, const QueryRow&, int) { return 1.0; },
     .lse = [](const OracleNumber& lse, double,
               double ssmax) { return returned(lse.value - ssmax, lse.bound); }},
    {.name = "kv_head_modulo",
     .words = "whose query head h reads key head h mod kv_heads",
     .remedy = "read key head h / (heads / kv_heads)",
     .concerns = shares_some_keys,
     .reads = [](Case& c) { regroup(c, [kv = c.spec.kv_heads](int h) { return h % kv; }); }},
    {.name = "kv_heads_reversed",
     .words = "that reads the key heads in reverse order",
     .remedy = "read key head h / (heads / kv_heads)",
     .concerns = [](const Case& c) { return c.spec.kv_heads > 1; },
     .reads =
         [](Case& c) {
           regroup(c, [kv = c.spec.kv_heads, group = c.spec.heads / c.spec.kv_heads](int h) {
             return kv - 1 - h / group;
           });
         }},
    {.name = "kv_head_first",
     .words = "whose query heads all read key head 0",
     .remedy = "read key head h / (heads / kv_heads)",
     .concerns = [](const Case& c) { return c.spec.kv_heads > 1; },
     .reads = [](Case& c) { regroup(c, [](int) { return 0; }); }},
    {.name = "rope_missing",
     .words = "that does not rotate q and k",
     .remedy = "rotate them by their positions before the product, or decline problems with rope",
     .concerns = has_rope,
     .reads = [](Case& c) { c.spec.bias.rope = PLUMBLINE_NO_ROPE; }},
    {.name = "rope_interleaved",
     .words = "that rotates neighbouring components (2k, 2k + 1) together",
     .remedy = "pair (k, k + head_dim / 2), or choose the bias rope_interleaved",
     .concerns = [](const Case& c) { return c.spec.bias.rope == PLUMBLINE_ROPE_HALF_SPLIT; },
     .reads = [](Case& c) { c.spec.bias.rope = PLUMBLINE_ROPE_INTERLEAVED; }},
    {.name = "rope_half_split",
     .words = "that rotates the components (k, k + head_dim / 2) together",
     .remedy = "pair (2k, 2k + 1), or choose the bias rope_half_split",
     .concerns = [](const Case& c) { return c.spec.bias.rope == PLUMBLINE_ROPE_INTERLEAVED; },
     .reads = [](Case& c) { c.spec.bias.rope = PLUMBLINE_ROPE_HALF_SPLIT; }},
    {.name = "rope_base_10000",
     .words = "whose base is 10000",
     .remedy = "read options[PLUMBLINE_BASE]",
     .concerns = [](const Case& c) { return has_rope(c) && c.options[PLUMBLINE_BASE] != 10000; },
     .reads = [](Case& c) { c.options[PLUMBLINE_BASE] = 10000; }},
    {.name = "rope_base_500000",
     .words = "whose base is 500000",
     .remedy = "read options[PLUMBLINE_BASE]",
     .concerns = [](const Case& c) { return has_rope(c) && c.options[PLUMBLINE_BASE] != 500000; },
     .reads = [](Case& c) { c.options[PLUMBLINE_BASE] = 500000; }},
    {.name = "rope_of_all_components",
     .words = "that rotates all components",
     .remedy = "rotate the first rotary_dim of them, and leave the others",
     .concerns = [](const Case& c) { return is_partly_rotated(c) && c.spec.head_dim % 2 == 0; },
     .reads = [](Case& c) { c.spec.rotary_dim = 0; }},
    {.name = "rope_frequencies_of_head_dim",
     .words = "whose frequencies are those of a head of head_dim rotated components",
     .remedy = "rotate pair k by i base^(-2k / rotary_dim)",
     .concerns = is_partly_rotated,
     // base^(-2k / head_dim) for a base that is raised to rotary_dim / head_dim.
     .reads =
         [](Case& c) {
           double& base = c.options[PLUMBLINE_BASE];
           base = std::pow(base, double(c.spec.rotary_width()) / c.spec.head_dim);
         }},
    {.name = "rope_rotated_back",
     .words = "whose angles have the opposite sign",
     .remedy = "rotate (a, b) to (a cos - b sin, a sin + b cos)",
     .concerns = has_rope,
     .reads = rotate_back},
    {.name = "o_rows_first",
     .words = "that writes o as [batch, queries, heads, value_dim]",
     .remedy = "write it as [batch, heads, queries, value_dim]",
     .concerns = has_two_heads_and_rows,
     .place = rows_first},
    {.name = "inputs_rows_first",
     .words = "that reads q, k and v as [batch, rows, heads, head_dim]",
     .remedy = "read them as [batch, heads, rows, head_dim]",
     .concerns = has_two_heads_and_rows,
     .reads = read_inputs_rows_first},
    {.name = "all_rows_first",
     .words = "that reads q, k and v, and writes o, as [batch, rows, heads, head_dim]",
     .remedy = "take them as [batch, heads, rows, head_dim]",
     .concerns = has_two_heads_and_rows,
     .reads = read_inputs_rows_first,
     .place = rows_first},
};

}  // namespace

const std::vector<Convention>& conventions_of_scores() { return score_conventions; }

}  // namespace plumbline::verdict
