// SPDX-License-Identifier: Apache-2.0
#include "verdict/identities/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "verdict/bias/methods.hpp"
#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {
namespace {

/// Keys whose score is so far below the largest have e^-20 of the probability together: 2e-9, and
/// with what they may be off by less than this.
constexpr double far_below = 20.0, far_mass = 1e-8;

/// gamma_n + 2Ru.
double accumulation(const cases::Case& c, const Contract& contract, double rescales) {
  return gamma(c.spec.keys, contract.unit_roundoff) + 2 * rescales * u;
}

double norm(const float* x, int size) {
  double squares = 0;
  for (int d = 0; d < size; ++d) squares += double{x[d]} * x[d];
  return std::sqrt(squares);
}

bias::BiasSizes bias_sizes(const cases::Case& c, const Contract& contract, int batch, int head,
                           int query) {
  const bias::Query of_query{c, batch, head, query};
  bias::BiasSizes sizes = bias::visit(
      c.spec.bias.method, [&](auto method) { return method.sizes(of_query, contract); });
  if (c.spec.bias.has_rope()) {
    const double r = contract.operand_roundoff;
    sizes.of_products = (16 * u + 64 * u * u) * (1 + r) * (1 + r);
  }
  return sizes;
}

RowErrors errors_of_row(const cases::Case& c, const Contract& contract, double products,
                        const bias::BiasSizes& bias, double rescales) {
  const auto& s = c.spec;
  const double n = s.keys, r = contract.operand_roundoff,
               sum = gamma(s.head_dim, contract.unit_roundoff);
  // The largest score, and how far below it a key still counts.
  const double largest = products + bias.largest;
  const double score = largest + std::log(n) + far_below;
  const double beta =
      bias.constant + bias.relative * (score + products) + bias.of_products * products;
  const double sigma = (sum + 3 * u + r * (2 + r) * (1 + sum)) * products + beta + u * score +
                       0x1p-90;  // what underflows in a product or an operand
  const double merge = contract.splits > 1 ? 4 * u * (largest + std::log(n) + 1.0) : 0.0;
  const double h = sigma + 8 * u * score - (1 + rescales) * std::log1p(-contract.exp_error) + merge;
  const SumBounds sums = sum_bounds(c, contract, rescales);
  const double left_out = -std::log1p(-contract.skipped_mass);
  RowErrors errors;
  errors.products = products;
  errors.output = std::exp(2 * h + left_out) * (1 + sums.shared) - 1;
  errors.lost = sums.lost + far_mass + 2 * std::expm1(left_out);
  errors.lse = h + left_out + far_mass + accumulation(c, contract, rescales) +
               u * (largest + std::log(n)) + 4 * u * (largest + std::log(n) + 1.0);
  if (contract.sums_rounded_p) errors.lse += probability_rounding(contract).format;
  // s is computed once more, less the stored lse.
  errors.probability = std::expm1(2 * h + errors.lse + 4 * u * (2 * score + std::log(n)));
  if (!(errors.output < 1) || !(errors.probability < 1)) {
    errors.output = errors.lse = errors.probability = infinity;
  }
  return errors;
}

}  // namespace

SumBounds sum_bounds(const cases::Case& c, const Contract& contract, double rescales) {
  const double a = accumulation(c, contract, rescales);
  const ProbabilityRounding p = probability_rounding(contract);
  SumBounds bounds;
  const double factor = (1 + p.relative) * (1 + contract.operand_roundoff) * (1 + a) * (1 + 8 * u) /
                        ((1 - a) * (1 - (contract.sums_rounded_p ? p.format : 0.0)));
  bounds.shared = a < 0.5 ? factor - 1 : infinity;
  bounds.values = a < 0.5 ? (1 + a) * (1 + 8 * u) - 1 : infinity;
  bounds.values_lost =
      2.0 * c.spec.keys * result_underflow(contract) + 2 * operand_underflow(contract);
  bounds.lost = 8.0 * c.spec.keys * p.absolute + bounds.values_lost;
  bounds.stored = unit_roundoff(c.spec.format) + u;
  bounds.smallest = stored_underflow(contract, c.spec.format);
  return bounds;
}

bool has_row_errors(const cases::Spec& spec) {
  if (spec.ssmax || spec.bias.dape > 0) return false;
  return bias::visit(spec.bias.method, [](auto method) { return method.has_sizes; });
}

std::vector<RowErrors> row_errors(const cases::Case& c, const Contract& contract,
                                  bool of_a_selection) {
  const auto& s = c.spec;
  const std::vector<double> rescales = row_rescales(c, contract, of_a_selection);
  std::vector<RowErrors> rows;
  for (int batch = 0; batch < s.batch; ++batch) {
    std::vector<double> longest_key(s.kv_heads, 0.0);
    for (int kv = 0; kv < s.kv_heads; ++kv) {
      const float* k = c.k.data() + (static_cast<std::size_t>(batch) * s.kv_heads + kv) * s.keys *
                                        static_cast<std::size_t>(s.head_dim);
      for (int j = 0; j < s.keys; ++j) {
        longest_key[kv] = std::max(longest_key[kv],
                                   norm(k + static_cast<std::size_t>(j) * s.head_dim, s.head_dim));
      }
    }
    for (int head = 0; head < s.heads; ++head) {
      for (int query = 0; query < s.queries; ++query) {
        const std::size_t row =
            (static_cast<std::size_t>(batch) * s.heads + head) * s.queries + query;
        const double length = norm(c.q.data() + row * s.head_dim, s.head_dim);
        const double of_key = longest_key[head / (s.heads / s.kv_heads)];
        bias::BiasSizes bias = bias_sizes(c, contract, batch, head, query);
        if (s.bias.has_rope()) {
          // Components that underflow as they are rotated: bounds.md, with sum |x| <= sqrt(D) |x|.
          const double lost = rotated_underflow(contract, s.format);
          bias.constant += 1.01 * c.scale * lost *
                           (std::sqrt(s.head_dim) * (length + of_key) + s.head_dim * lost);
        }
        rows.push_back(errors_of_row(c, contract, c.scale * length * of_key, bias, rescales[row]));
      }
    }
  }
  return rows;
}

}  // namespace plumbline::verdict
