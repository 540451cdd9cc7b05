// SPDX-License-Identifier: Apache-2.0
// Scales, signs, groups of heads and layouts of gradients.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/position/rope.hpp"
#include "verdict/bounds/roundoff.hpp"
#include "verdict/cases/method_inputs.hpp"
#include "verdict/conventions/gradient_convention.hpp"
#include "verdict/judge/contract.hpp"
#include "verdict/oracle/case_reading.hpp"

namespace plumbline::verdict {
namespace {

using cases::Case;
using Numbers = std::vector<OracleNumber>;

void multiply(Numbers& numbers, double factor) {
  for (OracleNumber& x : numbers) {
    x.value *= factor;
    x.radius *= std::abs(factor);
    x.bound *= std::abs(factor);
  }
}

/// [batch, heads, rows, dim] as it lies in memory as [batch, rows, heads, dim].
void lay_rows_first(Numbers& numbers, int batch, int heads, int rows, int dim) {
  Numbers laid(numbers.size());
  for (int b = 0; b < batch; ++b) {
    for (int h = 0; h < heads; ++h) {
      for (int r = 0; r < rows; ++r) {
        const auto from = (static_cast<std::size_t>(b * heads + h) * rows + r) * dim;
        const auto to = (static_cast<std::size_t>(b * rows + r) * heads + h) * dim;
        std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(from), dim,
                    laid.begin() + static_cast<std::ptrdiff_t>(to));
      }
    }
  }
  numbers = std::move(laid);
}

bool has_lse_gradient(const Case& c) { return c.spec.lse_gradient; }
void drop_nothing(Case& c, cases::Outputs&) { drop_dropout(c); }
bool is_grouped(const Case& c) { return c.spec.heads != c.spec.kv_heads; }
int group(const Case& c) { return c.spec.heads / c.spec.kv_heads; }

/// dO, and what comes through lse, of all query heads of a group but one as 0: what is left of dK
/// and dV is that head's.
void keep_head(Case& c, int kept) {
  const std::size_t of_head = static_cast<std::size_t>(c.spec.queries) * c.spec.value_width();
  for (std::size_t n = 0; n < c.grad_o.size(); ++n) {
    const int head = static_cast<int>(n / of_head % static_cast<std::size_t>(c.spec.heads));
    if (head % group(c) != kept) c.grad_o[n] = 0;
  }
  const std::size_t queries = static_cast<std::size_t>(c.spec.queries);
  for (std::size_t n = 0; n < c.grad_lse.size(); ++n) {
    const int head = static_cast<int>(n / queries % static_cast<std::size_t>(c.spec.heads));
    if (head % group(c) != kept) c.grad_lse[n] = 0;
  }
}

/// Every row rotated `times` more by RoPE's angle of its position. A component's bound is that of
/// both, rotated, and each rotation adds its own rounding (docs/bounds.md): 4u (|a| + |b|).
/// @param position_of of a row of the tensor.
template <class PositionOf>
void turn_on(Numbers& numbers, const Case& c, const PositionOf& position_of, int times) {
  const auto pairs = *rope_pairs(c.spec.bias);
  const int dim = c.spec.head_dim, width = c.spec.rotary_width();
  for (std::size_t row = 0; row < numbers.size() / dim; ++row) {
    const double position = position_of(row);
    for (int k = 0; k < width / 2; ++k) {
      const auto [first, second] = reference::rope_pair(pairs, k, width);
      OracleNumber& x = numbers[row * dim + first];
      OracleNumber& y = numbers[row * dim + second];
      const double phi = times * position * std::pow(c.options[PLUMBLINE_BASE], -2.0 * k / width);
      const double cosine = std::cos(phi), sine = std::sin(phi);
      const OracleNumber a = x, b = y;
      const double rounding = 4 * times * u * (std::abs(a.value) + std::abs(b.value));
      const auto rotated = [&](double by_a, double by_b) {
        OracleNumber number{by_a * a.value + by_b * b.value,
                            std::abs(by_a) * a.radius + std::abs(by_b) * b.radius,
                            std::abs(by_a) * a.bound + std::abs(by_b) * b.bound + rounding};
        number.not_judged = a.not_judged || b.not_judged;
        return number;
      };
      x = rotated(cosine, -sine);
      y = rotated(sine, cosine);
    }
  }
}
void turn_on(OracleGradients& g, const Case& c, int times) {
  const auto of_query = [&](std::size_t row) {
    const std::size_t queries = c.spec.queries, of_sequence = c.spec.heads * queries;
    return c.position(static_cast<int>(row / of_sequence), static_cast<int>(row % queries));
  };
  turn_on(g.q, c, of_query, times);
  turn_on(
      g.k, c, [&](std::size_t row) { return row % c.spec.keys; }, times);
}

template <class Change>
void change_parameters(OracleGradients& gradients, Change change) {
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    if (n == PLUMBLINE_SSMAX_SCALE || n == PLUMBLINE_SINKS) continue;  // not the bias's
    change(gradients.parameters[n]);
  }
}
bool has_gradients_of_bias(const Case& c) {
  const auto parameters = cases::parameters_of(c.spec.bias);
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](auto p) { return cases::has_gradient(c.spec, p); });
}

const std::vector<GradientConvention> gradient_conventions{
    {.name = "grad_q_unscaled",
     .words = "whose grad_q lacks the scale",
     .remedy = "multiply it by the scale",
     .gives = [](OracleGradients& g, const Case& c) { multiply(g.q, 1 / c.scale); }},
    {.name = "grad_k_unscaled",
     .words = "whose grad_k lacks the scale",
     .remedy = "multiply it by the scale",
     .gives = [](OracleGradients& g, const Case& c) { multiply(g.k, 1 / c.scale); }},
    {.name = "grad_q_and_k_unscaled",
     .words = "whose grad_q and grad_k lack the scale",
     .remedy = "multiply them by the scale",
     .gives =
         [](OracleGradients& g, const Case& c) {
           multiply(g.q, 1 / c.scale);
           multiply(g.k, 1 / c.scale);
         }},
    {.name = "grad_q_scaled_twice",
     .words = "whose grad_q is scaled twice",
     .remedy = "multiply it by the scale once",
     .gives = [](OracleGradients& g, const Case& c) { multiply(g.q, c.scale); }},
    {.name = "grad_k_scaled_twice",
     .words = "whose grad_k is scaled twice",
     .remedy = "multiply it by the scale once",
     .gives = [](OracleGradients& g, const Case& c) { multiply(g.k, c.scale); }},
    {.name = "grad_q_sign",
     .words = "whose grad_q has the opposite sign",
     .remedy = "negate it",
     .gives = [](OracleGradients& g, const Case&) { multiply(g.q, -1); }},
    {.name = "grad_k_sign",
     .words = "whose grad_k has the opposite sign",
     .remedy = "negate it",
     .gives = [](OracleGradients& g, const Case&) { multiply(g.k, -1); }},
    {.name = "grad_v_sign",
     .words = "whose grad_v has the opposite sign",
     .remedy = "negate it",
     .gives = [](OracleGradients& g, const Case&) { multiply(g.v, -1); }},
    {.name = "grad_scores_sign",
     .words = "whose dS has the opposite sign",
     .remedy = "take dS = P (dP - D)",
     .gives =
         [](OracleGradients& g, const Case&) {
           multiply(g.q, -1);
           multiply(g.k, -1);
           for (auto& parameter : g.parameters) multiply(parameter, -1);
         }},
    {.name = "grad_bias_sign",
     .words = "whose gradients of the bias's parameters have the opposite sign",
     .remedy = "negate them",
     .concerns = has_gradients_of_bias,
     .gives =
         [](OracleGradients& g, const Case&) {
           change_parameters(g, [](Numbers& numbers) { multiply(numbers, -1); });
         }},
    {.name = "grad_bias_scaled",
     .words = "whose gradients of the bias's parameters have the scale in them",
     .remedy = "sum dS without it",
     .concerns = has_gradients_of_bias,
     .gives =
         [](OracleGradients& g, const Case& c) {
           change_parameters(g, [&](Numbers& numbers) { multiply(numbers, c.scale); });
         }},
    {.name = "grad_k_and_v_swapped",
     .words = "that returns grad_v for grad_k and grad_k for grad_v",
     .remedy = "swap them",
     .concerns = [](const Case& c) { return c.spec.value_width() == c.spec.head_dim; },
     .gives = [](OracleGradients& g, const Case&) { std::swap(g.k, g.v); }},
    {.name = "grad_k_and_v_of_first_head",
     .words = "whose grad_k and grad_v are those of the first query head of each group",
     .remedy = "add up those of all query heads that read the key head",
     .concerns = is_grouped,
     .reads = [](Case& c, cases::Outputs&) { keep_head(c, 0); },
     .seen_in = GradientConvention::k_and_v},
    {.name = "grad_k_of_first_head",
     .words = "whose grad_k is that of the first query head of each group",
     .remedy = "add up those of all query heads that read the key head",
     .concerns = is_grouped,
     .reads = [](Case& c, cases::Outputs&) { keep_head(c, 0); },
     .seen_in = GradientConvention::k_only},
    {.name = "grad_v_of_first_head",
     .words = "whose grad_v is that of the first query head of each group",
     .remedy = "add up those of all query heads that read the key head",
     .concerns = is_grouped,
     .reads = [](Case& c, cases::Outputs&) { keep_head(c, 0); },
     .seen_in = GradientConvention::v_only},
    {.name = "grad_k_and_v_of_last_head",
     .words = "whose grad_k and grad_v are those of the last query head of each group",
     .remedy = "add up those of all query heads that read the key head",
     .concerns = is_grouped,
     .reads = [](Case& c, cases::Outputs&) { keep_head(c, group(c) - 1); },
     .seen_in = GradientConvention::k_and_v},
    {.name = "grad_k_of_last_head",
     .words = "whose grad_k is that of the last query head of each group",
     .remedy = "add up those of all query heads that read the key head",
     .concerns = is_grouped,
     .reads = [](Case& c, cases::Outputs&) { keep_head(c, group(c) - 1); },
     .seen_in = GradientConvention::k_only},
    {.name = "grad_v_of_last_head",
     .words = "whose grad_v is that of the last query head of each group",
     .remedy = "add up those of all query heads that read the key head",
     .concerns = is_grouped,
     .reads = [](Case& c, cases::Outputs&) { keep_head(c, group(c) - 1); },
     .seen_in = GradientConvention::v_only},
    {.name = "grad_k_and_v_averaged",
     .words = "whose grad_k and grad_v are the mean over the query heads of each group",
     .remedy = "add them up",
     .concerns = is_grouped,
     .gives =
         [](OracleGradients& g, const Case& c) {
           multiply(g.k, 1.0 / group(c));
           multiply(g.v, 1.0 / group(c));
         }},
    {.name = "softmax_gradient_without_d",
     .words = "whose dS is P dP, without D",
     .remedy = "take dS = P (dP - D), D_i = grad_o_i . o_i",
     .reads = [](Case&,
                 cases::Outputs& given) { std::fill(given.o.begin(), given.o.end(), 0.0F); }},
    {.name = "softmax_gradient_d_sign",
     .words = "whose dS is P (dP + D)",
     .remedy = "take dS = P (dP - D), D_i = grad_o_i . o_i",
     .reads =
         [](Case&, cases::Outputs& given) {
           for (float& x : given.o) x = -x;
         }},
    {.name = "grad_lse_ignored",
     .words = "whose backward pass reads no grad_lse",
     .remedy = "where lse_gradient is 1, take dS = P (dP - D + grad_lse)",
     .concerns = has_lse_gradient,
     .reads = [](Case& c,
                 cases::Outputs&) { std::fill(c.grad_lse.begin(), c.grad_lse.end(), 0.0F); }},
    {.name = "grad_lse_sign",
     .words = "whose dS is P (dP - D - grad_lse)",
     .remedy = "take dS = P (dP - D + grad_lse)",
     .concerns = has_lse_gradient,
     .reads =
         [](Case& c, cases::Outputs&) {
           for (float& x : c.grad_lse) x = -x;
         }},
    {.name = "backward_without_dropout",
     .words = "whose backward pass drops nothing",
     .remedy = "take dP = m (grad_o . v) and grad_v = sum of m P grad_o, m = keep / (1 - dropout)",
     .concerns = has_dropout,
     .reads = drop_nothing},
    {.name = "grad_v_without_dropout",
     .words = "whose grad_v is of P without dropout",
     .remedy = "take grad_v = sum of m P grad_o, m = keep / (1 - dropout)",
     .concerns = has_dropout,
     .reads = drop_nothing,
     .seen_in = GradientConvention::v_only},
    {.name = "grad_scores_without_dropout",
     .words = "whose dP is without dropout",
     .remedy = "take dP = m (grad_o . v), m = keep / (1 - dropout)",
     .concerns = has_dropout,
     .reads = drop_nothing,
     .seen_in = GradientConvention::all_but_v},
    {.name = "backward_reads_lse_base_2",
     .words = "whose backward pass takes lse for one to base 2",
     .remedy = "multiply it by log2 e where P is 2^(s log2 e - lse)",
     .of_natural_lse = true,
     .reads =
         [](Case&, cases::Outputs& given) {
           for (float& x : given.lse) x *= std::numbers::ln2_v<float>;
         }},
    {.name = "backward_lse_with_log2e",
     .words = "whose backward pass multiplies lse by log2 e, and whose exponential is natural",
     .remedy = "take P = e^(s - lse)",
     .of_natural_lse = true,
     .reads =
         [](Case&, cases::Outputs& given) {
           for (float& x : given.lse) x *= std::numbers::log2e_v<float>;
         }},
    {.name = "grad_not_rotated_back",
     .words = "whose grad_q and grad_k are with respect to the rotated q and k",
     .remedy = "rotate them back by their positions",
     .concerns = has_rope,
     .gives = [](OracleGradients& g, const Case& c) { turn_on(g, c, 1); }},
    {.name = "grad_rotated_twice",
     .words = "whose grad_q and grad_k are rotated forward like q and k, not back",
     .remedy = "rotate (a, b) to (a cos + b sin, b cos - a sin)",
     .concerns = has_rope,
     .gives = [](OracleGradients& g, const Case& c) { turn_on(g, c, 2); }},
    {.name = "increments_gradient_exclusive",
     .words = "whose reverse sum over the tokens is exclusive",
     .remedy = "let the gradient of token t be the sum over the prefix sums from S_t on",
     .concerns = [](const Case& c) { return !c.summed().empty(); },
     .gives =
         [](OracleGradients& g, const Case& c) {
           for (const auto parameter : {PLUMBLINE_INCREMENTS, PLUMBLINE_LOG_FORGET}) {
             Numbers& numbers = g.parameters[parameter];
             for (auto first = numbers.begin(); first != numbers.end(); first += c.spec.keys) {
               std::copy(first + 1, first + c.spec.keys, first);
               first[c.spec.keys - 1] = {0, 0, first[c.spec.keys - 1].bound, 0};
             }
           }
         }},
    {.name = "gradients_rows_first",
     .words = "that writes grad_q, grad_k and grad_v as [batch, rows, heads, head_dim]",
     .remedy = "write them as [batch, heads, rows, head_dim]",
     .concerns = [](const Case& c) { return c.spec.heads > 1 && c.spec.keys > 1; },
     .gives =
         [](OracleGradients& g, const Case& c) {
           const auto& s = c.spec;
           lay_rows_first(g.q, s.batch, s.heads, s.queries, s.head_dim);
           lay_rows_first(g.k, s.batch, s.kv_heads, s.keys, s.head_dim);
           lay_rows_first(g.v, s.batch, s.kv_heads, s.keys, s.value_width());
         }},
};

}  // namespace

const std::vector<GradientConvention>& conventions_of_gradients() { return gradient_conventions; }

}  // namespace plumbline::verdict
