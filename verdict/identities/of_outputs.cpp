// SPDX-License-Identifier: Apache-2.0
// The identities of o and LSE.
#include <algorithm>
#include <cmath>
#include <limits>

#include "verdict/identities/cases.hpp"
#include "verdict/identities/runs.hpp"

namespace plumbline::verdict {
namespace {
using cases::Outputs;

bool is_t5(plumbline_bias bias) {
  return bias == PLUMBLINE_T5 || bias == PLUMBLINE_T5_BIDIRECTIONAL ||
         bias == PLUMBLINE_T5_CLIPPED || bias == PLUMBLINE_T5_CLIPPED_OFFSET;
}

/// Bounds of the forward pass, and what they need of the case and of a run on |v|.
class Forward {
 public:
  explicit Forward(const IdentityRuns& runs)
      : runs_(runs),
        base_(runs.base),
        sums_(sum_bounds(runs.base, runs.contract(), most_rescales(runs))) {
    for (const float v : base_.v) largest_ = std::max(largest_, std::abs(double{v}));
  }

  void add_all() {
    bits();
    shared_weights();
    moved_keys();
    moved_scores();
  }

 private:
  double smallest() const { return sums_.smallest; }
  std::size_t dim() const { return base_.spec.head_dim; }

  /// Bound of sum_j p^_j |v_j| of every element of o, from the kernel's o for |v|, whose own error
  /// is `relative` of it.
  std::vector<double> sizes(double relative, double lost) const {
    const Outputs run = runs_.run(with_sizes_of_values(base_));
    std::vector<double> result;
    for (const float o : run.o) {
      const double kept = (1 - relative) * (1 - sums_.stored);
      result.push_back((std::abs(double{o}) + smallest()) / kept + lost * largest_);
    }
    return result;
  }

  void compare_bits(Identity& identity, const Outputs& got, float factor) const {
    same_bits(identity, "o", got.o, runs_.of_base.o, factor, smallest());
    same_bits(identity, "lse", got.lse, runs_.of_base.lse, 1, 0);
  }

  void bits() {
    const auto& s = base_.spec;
    ask(runs_, "values_doubled", "v times 2: o times 2, the same lse, bit for bit", no_bits(runs_),
        [&](Identity& identity) {
          compare_bits(identity, runs_.run(with_values_doubled(base_)), 2);
        });
    ask(runs_, "scale_moved", "q times 2 and k times 1/2: the same bits", no_bits(runs_),
        [&](Identity& identity) { compare_bits(identity, runs_.run(with_scale_moved(base_)), 1); });
    const auto swapped = [&](Identity& identity, const cases::Case& c, std::size_t count,
                             std::size_t rows) {
      Outputs got = runs_.run(c);
      got.o = reversed(got.o, count, rows * dim());
      got.lse = reversed(got.lse, count, rows);
      compare_bits(identity, got, 1);
    };
    const std::size_t queries = s.queries;
    ask(runs_, "batches_reversed", "sequences in the other order: the same bits in that order",
        s.batch < 2 ? "one sequence" : no_bits_elsewhere(runs_), [&](Identity& identity) {
          swapped(identity, with_batches_reversed(base_), s.batch, s.heads * queries);
        });
    const bool mixes = s.bias.dape_taps() > 0;
    ask(runs_, "heads_reversed", "heads and what belongs to them in the other order: the same bits",
        s.heads < 2 ? "one head"
        : mixes     ? "the method mixes heads"
                    : no_bits_elsewhere(runs_),
        [&](Identity& identity) {
          swapped(identity, with_heads_reversed(base_), s.heads, queries);
        });
  }

  /// The weights are the same numbers in every run, for they know nothing of v.
  void shared_weights() {
    ask(runs_, "values_of_one", "every v is 1: o is 1", "", [&](Identity& identity) {
      const Outputs got = runs_.run(with_constant_values(base_, 1));
      const double before = sums_.shared + sums_.lost;
      const double bound = before + sums_.stored * (1 + before);
      for (std::size_t n = 0; n < got.o.size(); ++n) {
        Within(identity).element("o", n, got.o[n], 1, bound);
      }
    });
    ask(runs_, "values_split", "o of v at even keys plus o of v at odd keys: o of v", "",
        [&](Identity& identity) {
          const auto size = sizes(sums_.values, sums_.values_lost);
          const Outputs even = runs_.run(with_zeros_from(base_, 1));
          const Outputs odd = runs_.run(with_zeros_from(base_, 0));
          const auto& o = runs_.of_base.o;
          for (std::size_t n = 0; n < o.size(); ++n) {
            const double stored = sums_.stored *
                                  (std::abs(double{o[n]}) + std::abs(double{even.o[n]}) +
                                   std::abs(double{odd.o[n]})) *
                                  (1 + 2 * sums_.stored);
            const double bound = 2 * sums_.values * size[n] + 3 * sums_.values_lost * largest_ +
                                 stored + 3 * smallest();
            Within(identity).element("o", n, double{even.o[n]} + double{odd.o[n]}, o[n], bound);
          }
        });
  }

  /// Bounds of two runs with the same exact o, whose lse differs by `shift`.
  void compare(Identity& identity, const Outputs& got, double shift,
               const std::vector<RowErrors>& first, const std::vector<RowErrors>& second,
               const std::vector<double>& size) const {
    const auto& base = runs_.of_base;
    for (std::size_t row = 0; row < base.lse.size(); ++row) {
      const RowErrors &a = first[row], &b = second[row];
      Within(identity).element("lse", row, got.lse[row], base.lse[row] + shift, a.lse + b.lse);
      for (std::size_t d = 0; d < dim(); ++d) {
        const std::size_t n = row * dim() + d;
        const double stored =
            sums_.stored * (std::abs(double{base.o[n]}) + std::abs(double{got.o[n]}));
        const double bound = (a.output + b.output) * size[n] + (a.lost + b.lost) * largest_ +
                             stored * (1 + 2 * sums_.stored) + 2 * smallest();
        Within(identity).element("o", n, got.o[n], base.o[n], bound);
      }
    }
  }

  std::vector<double> exact_sizes(const std::vector<RowErrors>& errors) const {
    double relative = 0, lost = 0;
    for (const auto& e : errors) {
      relative = std::max(relative, e.output);
      lost = std::max(lost, e.lost);
    }
    if (!(relative < 0.5)) return std::vector<double>(runs_.of_base.o.size(), largest_);
    return sizes(relative, lost);
  }

  std::string without_order() const {
    const auto& s = base_.spec;
    if (s.bias != PLUMBLINE_NOPE) return "the bias knows the order of the keys";
    return s.mask.causal ? "the mask knows the order of the keys" : "";
  }

  void moved_keys() {
    ask(runs_, "keys_reversed", "keys in the other order: the same o and lse", without_order(),
        [&](Identity& identity) {
          const auto errors = row_errors(base_, runs_.contract());
          compare(identity, runs_.run(with_keys_reversed(base_)), 0, errors, errors,
                  exact_sizes(errors));
        });
    ask(runs_, "keys_twice", "every key twice: the same o, lse + ln 2", without_order(),
        [&](Identity& identity) {
          const auto errors = row_errors(base_, runs_.contract());
          const auto twice = with_keys_twice(base_);
          if (!runs_.kernel.supports(twice.spec)) {
            identity.not_asked = "the kernel does not offer twice as many keys";
            return;
          }
          compare(identity, runs_.run(twice), std::log(2.0), errors,
                  row_errors(twice, runs_.contract()), exact_sizes(errors));
        });
  }

  void moved_scores() {
    ask(runs_, "scores_shifted", "8 more in T5's whole table: the same o, lse + 8",
        is_t5(base_.spec.bias.method) ? "" : "no parameter adds a constant to all scores",
        [&](Identity& identity) {
          const auto errors = row_errors(base_, runs_.contract());
          const auto shifted = with_table_shifted(base_, 8);
          compare(identity, runs_.run(shifted), 8, errors, row_errors(shifted, runs_.contract()),
                  exact_sizes(errors));
        });
    ask(runs_, "ranges_merged", "two ranges of keys merged by their lse: all keys", unmerged(),
        [&](Identity& identity) { merge(identity); });
  }

  std::string unmerged() const {
    const auto& s = base_.spec;
    if (!has_row_errors(s)) return "no bound without an oracle for this method";
    if (s.query_offset < 2) return "no keys before the first query";
    auto hidden = s;
    hidden.mask.documents = true;
    return runs_.kernel.supports(hidden) ? "" : "the kernel does not offer documents";
  }

  /// With A the first of the keys before the queries, B the others, and C those from the first
  /// query on: e^L o of A C and of B C less that of C is that of all.
  void merge(Identity& identity) {
    const auto& s = base_.spec;
    // Where the bias fades with the distance, far keys would have nothing to merge.
    const bool fades = s.bias.method != PLUMBLINE_NOPE && !is_t5(s.bias.method);
    const int half =
        s.query_offset - (fades ? std::min(s.query_offset / 2, 32) : s.query_offset / 2);
    const auto errors = row_errors(base_, runs_.contract(), true);
    const Outputs parts[] = {runs_.run(with_keys_between(base_, 0, half)),
                             runs_.run(with_keys_between(base_, half, s.query_offset)),
                             runs_.run(with_keys_between(base_, 0, 0))};
    const double sign[] = {1, 1, -1};
    const auto& base = runs_.of_base;
    for (std::size_t row = 0; row < base.lse.size(); ++row) {
      const RowErrors& e = errors[row];
      const double given = base.lse[row];
      double total = 0, sizes = 0;
      for (int part = 0; part < 3; ++part) {
        const double weight = std::exp(parts[part].lse[row] - given);
        total += sign[part] * weight;
        sizes += weight;
      }
      // Each weight is off by e^(2 lse error), and so is 1, that of all keys.
      const double off = std::expm1(2 * e.lse) * std::exp(2 * e.lse) * sizes;
      const double of_lse = off < 1 ? -std::log1p(-off) : std::numeric_limits<double>::infinity();
      Within(identity).element("lse", row, given + std::log(total), given, of_lse);
      for (std::size_t d = 0; d < dim(); ++d) {
        const std::size_t n = row * dim() + d;
        double merged = 0;
        for (int part = 0; part < 3; ++part) {
          merged += sign[part] * std::exp(parts[part].lse[row] - given) * parts[part].o[n];
        }
        const double one =
            (e.output + e.lost + sums_.stored * (1 + e.output + e.lost)) * largest_ + smallest();
        const double bound = (1 + sizes) * one + off * (largest_ + one);
        Within(identity).element("o", n, merged, base.o[n], bound);
      }
    }
  }

  const IdentityRuns& runs_;
  const cases::Case& base_;
  SumBounds sums_;
  double largest_ = 0;
};

}  // namespace

void forward_identities(const IdentityRuns& runs) { Forward(runs).add_all(); }

}  // namespace plumbline::verdict
