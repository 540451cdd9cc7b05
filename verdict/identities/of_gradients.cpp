// SPDX-License-Identifier: Apache-2.0
// The identities of the gradients.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "verdict/bounds/roundoff.hpp"
#include "verdict/identities/cases.hpp"
#include "verdict/identities/runs.hpp"

namespace plumbline::verdict {
namespace {
using cases::Outputs;

double dot(const std::vector<float>& a, const std::vector<float>& b, std::size_t begin,
           std::size_t count) {
  double sum = 0;
  for (std::size_t n = begin; n < begin + count; ++n) sum += double{a[n]} * b[n];
  return sum;
}

double sum_of_sizes(const std::vector<float>& a, std::size_t begin, std::size_t count) {
  double sum = 0;
  for (std::size_t n = begin; n < begin + count; ++n) sum += std::abs(double{a[n]});
  return sum;
}

class Gradients {
 public:
  explicit Gradients(const IdentityRuns& runs)
      : runs_(runs),
        base_(runs.base),
        sums_(sum_bounds(runs.base, runs.contract(), most_rescales(runs))) {}

  void add_all() {
    bits();
    const std::string unbounded =
        has_row_errors(base_.spec) ? "" : "no bound without an oracle for this method";
    if (unbounded.empty()) measure();
    if (!unmeasured_.empty()) {
      ask(runs_, "runs", "the kernel gives outputs", "",
          [&](Identity&) { throw RunFailed{unmeasured_}; });
      return;
    }
    ask(runs_, "values_paired", "<dV, V> = <dO, O>", unbounded,
        [&](Identity& identity) { values_paired(identity); });
    ask(runs_, "keys_paired", "<dQ, Q> = <dK, K>", unbounded,
        [&](Identity& identity) { keys_paired(identity); });
    ask(runs_, "table_balanced", "the gradients of a head's table add up to 0",
        !unbounded.empty()               ? unbounded
        : base_[PLUMBLINE_TABLE].empty() ? "no parameter adds a constant to all scores"
                                         : "",
        [&](Identity& identity) { table_balanced(identity); });
  }

 private:
  void bits() {
    const bool coarse = runs_.contract().probability_format == PLUMBLINE_FP16 ||
                        base_.spec.format == cases::Format::fp16;
    const std::string why = coarse ? "fp16 has too few small numbers" : no_bits(runs_);
    ask(runs_, "gradient_doubled", "dO times 2: every gradient times 2, bit for bit", why,
        [&](Identity& identity) {
          const Outputs got = runs_.run(with_grad_o_doubled(base_));
          compare(identity, got, 2, 2, 2);
        });
    ask(runs_, "scale_moved", "q times 2 and k times 1/2: dQ times 1/2, dK times 2, the same dV",
        why, [&](Identity& identity) {
          const Outputs got = runs_.run(with_scale_moved(base_));
          compare(identity, got, 0.5f, 2, 1);
        });
  }

  void compare(Identity& identity, const Outputs& got, float q, float k, float v) const {
    const auto& base = runs_.of_base;
    same_bits(identity, "grad_q", got.grad_q, base.grad_q, q, sums_.smallest);
    same_bits(identity, "grad_k", got.grad_k, base.grad_k, k, sums_.smallest);
    same_bits(identity, "grad_v", got.grad_v, base.grad_v, v, sums_.smallest);
  }

  /// Of every row W = sum_d |dO_d| sum_j p_j |v_jd|, and what its sums over the keys are off by.
  struct Row {
    double size = 0;       ///< W
    double of_output = 0;  ///< <dO, O^> against <dO, O>
    double of_values = 0;  ///< its part of <dV^, V>
    double of_scores = 0;  ///< sum_j |dS^ - dS|
    double products = 0;
  };

  void measure() {
    Outputs sizes;
    try {
      auto c = with_sizes_of_values(base_);
      c.spec.pass = cases::Pass::forward;
      c.grad_o.clear();
      sizes = runs_.run(c);
    } catch (const RunFailed& failed) {
      unmeasured_ = failed.why;
      return;
    }
    const auto& s = base_.spec;
    const auto& contract = runs_.contract();
    const auto errors = row_errors(base_, contract);
    const ProbabilityRounding p = probability_rounding(contract);
    const double r = contract.operand_roundoff;
    const double product = gamma(s.head_dim, contract.unit_roundoff) + r * (2 + r) + 3 * u;
    const double dim = s.head_dim;
    over_rows_ = gamma(static_cast<double>(s.queries) * (s.heads / s.kv_heads) * contract.splits,
                       contract.unit_roundoff);
    over_keys_ = gamma(s.keys, contract.unit_roundoff);
    double largest = 0;
    for (const float v : base_.v) largest = std::max(largest, std::abs(double{v}));
    for (std::size_t row = 0; row < errors.size(); ++row) {
      const RowErrors& e = errors[row];
      Row of_row;
      of_row.products = e.products;
      for (std::size_t n = row * s.head_dim; n < (row + 1) * static_cast<std::size_t>(s.head_dim);
           ++n) {
        const double weighted =
            std::min(largest, (std::abs(double{sizes.o[n]}) + sums_.smallest) /
                                      std::max(0.0, (1 - e.output) * (1 - sums_.stored)) +
                                  e.lost * largest);
        of_row.size += std::abs(double{base_.grad_o[n]}) * (weighted + e.lost * largest);
      }
      const double w = of_row.size, g = e.probability;
      of_row.of_output = (e.output + sums_.stored * (1 + e.output)) * w + dim * sums_.smallest;
      of_row.of_values =
          ((1 + g) * (1 + p.relative) * (1 + r) * (1 + over_rows_) * (1 + sums_.stored) - 1) * w;
      // D of the stored o, or recomputed.
      const double of_d = of_row.of_output + (product + g + 2 * over_keys_) * w;
      of_row.of_scores = (2 * g + (1 + g) * (product + 4 * u)) * w + (1 + g) * of_d;
      of_row.of_scores += p.relative * (2 * w + of_row.of_scores) + s.keys * p.absolute;
      rows_.push_back(of_row);
    }
  }

  void values_paired(Identity& identity) {
    const auto& s = base_.spec;
    const auto& out = runs_.of_base;
    const std::size_t group = s.heads / s.kv_heads, dim = s.head_dim, queries = s.queries;
    for (std::size_t kv = 0; kv < static_cast<std::size_t>(s.batch) * s.kv_heads; ++kv) {
      const std::size_t first = kv * group * queries, count = group * queries;
      double bound = sums_.smallest * sum_of_sizes(base_.v, kv * s.keys * dim, s.keys * dim);
      for (std::size_t row = first; row < first + count; ++row) {
        bound += rows_[row].of_output + rows_[row].of_values;
      }
      Within(identity).element("key head", kv,
                               dot(out.grad_v, base_.v, kv * s.keys * dim, s.keys * dim),
                               dot(base_.grad_o, out.o, first * dim, count * dim), bound);
    }
  }

  void keys_paired(Identity& identity) {
    const auto& s = base_.spec;
    const auto& out = runs_.of_base;
    const std::size_t group = s.heads / s.kv_heads, dim = s.head_dim, queries = s.queries;
    for (std::size_t kv = 0; kv < static_cast<std::size_t>(s.batch) * s.kv_heads; ++kv) {
      const std::size_t first = kv * group * queries, count = group * queries;
      double bound = sums_.smallest * (sum_of_sizes(base_.k, kv * s.keys * dim, s.keys * dim) +
                                       sum_of_sizes(base_.q, first * dim, count * dim));
      const double r = runs_.contract().operand_roundoff;
      // Rotated vectors, and gradients rotated back, are off by 8u of their length each.
      const double rotated = s.bias.has_rope() ? 32 * u + 2 * r : 0.0;
      const double sums = over_keys_ + over_rows_ + 2 * sums_.stored + 2 * r + 8 * u;
      for (std::size_t row = first; row < first + count; ++row) {
        const Row& of = rows_[row];
        bound += of.products *
                 (2 * of.of_scores + (sums + 2 * rotated) * (2 * of.size + of.of_scores)) *
                 (1 + sums);
      }
      Within(identity).element("key head", kv, dot(out.grad_q, base_.q, first * dim, count * dim),
                               dot(out.grad_k, base_.k, kv * s.keys * dim, s.keys * dim), bound);
    }
  }

  void table_balanced(Identity& identity) {
    const auto& s = base_.spec;
    const auto& grad = runs_.of_base.grad_parameters[PLUMBLINE_TABLE];
    const std::size_t entries = grad.size() / s.heads;
    const double additions = static_cast<double>(s.batch) * s.queries * s.keys;
    const double sums = gamma(additions, u) + u;
    for (int head = 0; head < s.heads; ++head) {
      double total = 0, bound = 0;
      for (std::size_t n = 0; n < entries; ++n) total += grad[head * entries + n];
      for (int batch = 0; batch < s.batch; ++batch) {
        for (int query = 0; query < s.queries; ++query) {
          const Row& of =
              rows_[(static_cast<std::size_t>(batch) * s.heads + head) * s.queries + query];
          bound += of.of_scores + sums * (2 * of.size + of.of_scores);
        }
      }
      Within(identity).element("head", head, total, 0, bound);
    }
  }

  const IdentityRuns& runs_;
  const cases::Case& base_;
  SumBounds sums_;
  std::vector<Row> rows_;
  double over_rows_ = 0, over_keys_ = 0;
  std::string unmeasured_;
};

}  // namespace

void gradient_identities(const IdentityRuns& runs) { Gradients(runs).add_all(); }

}  // namespace plumbline::verdict
