// SPDX-License-Identifier: Apache-2.0
#include "reference/blocked/attention_grad.hpp"

#include <algorithm>
#include <limits>

#include "reference/blocked/threads.hpp"

namespace plumbline::reference::blocked {
namespace {

/// What a run of the backward pass goes over, and where its sums go.
struct Run {
  const Problem& problem;
  std::span<const int> rows, keys;
  const std::vector<Stored>& grad_output;
  std::span<const int> grad_rows;  ///< of grad_output, for the rows
  const std::vector<Vector<double>>&lse, &shift;
  bool wants_q, wants_kv, wants_bias;
};

/// Parts that the keys of a head are cut into, each a unit of work with sums of its own. They fix
/// the order of sums, so they follow from the problem alone.
int parts_of_keys(const Run& run) {
  for (const TileBias* bias : run.problem.bias) {
    if (bias && run.wants_bias && !bias->can_merge()) return 1;
  }
  const int heads = run.problem.shape.batch * run.problem.shape.kv_heads;
  const int enough_units = (32 + heads - 1) / heads;
  const int worth_a_part = static_cast<int>(run.keys.size()) / (4 * key_tile);
  return std::clamp(enough_units, 1, std::clamp(worth_a_part, 1, 8));
}

KeyRange part_of(int part, int parts, int keys) {
  const int tiles = (keys + key_tile - 1) / key_tile;
  const auto border = [&](int n) {
    return static_cast<int>(
        std::min<std::int64_t>(std::int64_t{tiles} * n / parts * key_tile, keys));
  };
  return {border(part), border(part + 1)};
}

/// The keys that a block of rows may see.
KeyRange seen_by_block(const QueryRows& rows) {
  KeyRange seen{};
  for (const KeyRange& range : rows.visible) {
    if (range.begin >= range.end) continue;
    seen = seen.begin < seen.end
               ? KeyRange{std::min(seen.begin, range.begin), std::max(seen.end, range.end)}
               : range;
  }
  return seen;
}

/// Sums of one part of the keys.
struct PartSums {
  std::vector<Matrix<double>> q;                // [batch * heads]
  std::vector<std::unique_ptr<BiasSums>> bias;  // [batch * heads]
  std::vector<double> ssmax_scale;              // [batch * heads]
};

class Backward {
 public:
  explicit Backward(const Run& run) : run_(run), shape_(run.problem.shape) {
    for (int b = 0; b < shape_.batch; ++b) {
      rows_.push_back(choose_rows(run.problem, b, run.rows));
      std::vector<KeyRange>& seen = seen_.emplace_back();
      for (int n = 0; n < rows_[b].blocks(); ++n)
        seen.push_back(seen_by_block(rows_[b].block(n, 0)));
    }
  }

  Gradients operator()() {
    const int parts = parts_of_keys(run_), kv_heads = shape_.batch * shape_.kv_heads;
    const int heads = shape_.batch * shape_.heads, keys = static_cast<int>(run_.keys.size());
    const auto zero = [&](std::size_t rows) {
      return zeros<double>(static_cast<int>(rows), shape_.head_dim);
    };
    Gradients gradients;
    if (run_.wants_kv) gradients.k.assign(kv_heads, zero(keys)), gradients.v = gradients.k;
    std::vector<PartSums> sums(parts);
    for (PartSums& part : sums) {
      if (run_.wants_q) part.q.assign(heads, zero(run_.rows.size()));
      part.bias.resize(heads);
      part.ssmax_scale.assign(heads, 0.0);
    }

    const int units = parts * kv_heads;
    std::vector<ScratchMemory> scratch;
    for (int t = 0; t < thread_count(units, run_.problem.threads); ++t) {
      scratch.emplace_back(shape_.head_dim);
    }
    // The first parts first: under a causal mask they are the largest.
    for_each_unit(units, run_.problem.threads, [&](int unit, int thread) {
      const int part = unit / kv_heads;
      add_part(unit % kv_heads, part_of(part, parts, keys), scratch[thread].get(), sums[part],
               gradients);
    });
    merge(sums, gradients);
    return gradients;
  }

 private:
  void add_part(int kv, KeyRange part, const Scratch& scratch, PartSums& sums,
                Gradients& gradients) const {
    const int b = kv / shape_.kv_heads, group = shape_.heads / shape_.kv_heads;
    const int first_head = kv % shape_.kv_heads * group;
    for (int first = part.begin; first < part.end; first += key_tile) {
      const int count = std::min(key_tile, part.end - first);
      const std::span<const int> keys = run_.keys.subspan(first, count);
      const std::ptrdiff_t at = std::ptrdiff_t{first} * shape_.head_dim;
      GradientSums to;
      if (run_.wants_kv) to.k = gradients.k[kv].data() + at, to.v = gradients.v[kv].data() + at;
      for (int h = first_head; h < first_head + group; ++h) {
        add_tile(b, h, keys, to, scratch, sums);
      }
    }
  }

  void add_tile(int b, int h, std::span<const int> keys, GradientSums to, const Scratch& scratch,
                PartSums& sums) const {
    const Problem& problem = run_.problem;
    const int n = b * shape_.heads + h;
    const Head head = head_of(problem, b, h);
    if (head.bias && run_.wants_bias && !sums.bias[n]) sums.bias[n] = head.bias->zero_sums();
    to.bias = sums.bias[n].get();
    if (!problem.ssmax_scale.empty()) to.ssmax_scale = &sums.ssmax_scale[n];
    const double ssmax_scale = problem.ssmax_scale.empty() ? 0.0 : problem.ssmax_scale[h];
    for (int block = 0; block < rows_[b].blocks(); ++block) {
      const KeyRange seen = seen_[b][block];
      if (seen.end <= keys.front() || keys.back() < seen.begin) continue;
      const QueryRows rows = rows_[b].block(block, ssmax_scale);
      const std::size_t first = static_cast<std::size_t>(block) * row_tile;
      const auto of = [&](const Vector<double>& x) {
        return view(x).subspan(first, rows.row.size());
      };
      if (run_.wants_q) to.q = sums.q[n].data() + first * shape_.head_dim;
      const RowUpstream upstream{run_.grad_output[n],
                                 run_.grad_rows.subspan(first, rows.row.size()), of(run_.lse[n]),
                                 of(run_.shift[n])};
      kernels().backward(head, rows, keys, upstream, scratch, to);
    }
  }

  /// Adds the parts up, in their order.
  void merge(std::vector<PartSums>& parts, Gradients& gradients) const {
    const int heads = shape_.batch * shape_.heads;
    gradients.q = std::move(parts.front().q);
    gradients.bias = std::move(parts.front().bias);
    gradients.ssmax_scale.assign(run_.problem.ssmax_scale.size(), 0.0);
    for_each_unit(heads, run_.problem.threads, [&](int n, int) {
      for (std::size_t part = 1; part < parts.size(); ++part) {
        if (run_.wants_q) gradients.q[n] += parts[part].q[n];
        if (gradients.bias[n]) {
          run_.problem.bias[n]->merge(*gradients.bias[n], *parts[part].bias[n]);
        }
      }
    });
    if (gradients.ssmax_scale.empty()) return;
    for (int n = 0; n < heads; ++n) {
      for (const PartSums& part : parts) {
        gradients.ssmax_scale[n % shape_.heads] += part.ssmax_scale[n];
      }
    }
  }

  Run run_;
  AttentionShape shape_;
  std::vector<ChosenRows> rows_;             // [batch]
  std::vector<std::vector<KeyRange>> seen_;  // [batch], each [blocks]
};

void check_upstream(const Problem& problem, const std::vector<Stored>& grad_output, int rows) {
  const std::size_t heads = static_cast<std::size_t>(problem.shape.batch) * problem.shape.heads;
  require(grad_output.size() == heads, "upstream.output.size()", grad_output.size(),
          "one matrix a head");
  for (const Stored& x : grad_output) {
    require(x.data != nullptr, "upstream.output", 0, "numbers");
    require(x.rows == rows, "upstream.output rows", x.rows, "one a query row");
    require(x.columns == problem.shape.head_dim, "upstream.output columns", x.columns, "head_dim");
    require(kernels().all_finite(x), "upstream.output", std::numeric_limits<double>::quiet_NaN(),
            "finite numbers");
  }
}

void check_rows(const Problem& problem, const std::vector<Vector<double>>& x, const char* name,
                int rows) {
  const std::size_t heads = static_cast<std::size_t>(problem.shape.batch) * problem.shape.heads;
  require(x.size() == heads, name, x.size(), "one vector a head");
  for (const Vector<double>& each : x) {
    require(each.size() == rows, name, each.size(), "the rows");
    require(each.allFinite(), name, std::numeric_limits<double>::quiet_NaN(), "finite numbers");
  }
}

/// row_summaries for `rows` rows.
RowSummaries summaries(const Problem& problem, const Attended& attended, const Upstream& upstream,
                       int rows) {
  check_upstream(problem, upstream.output, rows);
  check_rows(problem, attended.lse, "attended.lse", rows);
  if (!upstream.lse.empty()) check_rows(problem, upstream.lse, "upstream.lse", rows);
  require(attended.output.size() == attended.lse.size(), "attended.output.size()",
          attended.output.size(), "one matrix a head");
  RowSummaries result{attended.lse, {}};
  const std::vector<int> all = first_numbers(rows);
  for (std::size_t n = 0; n < attended.output.size(); ++n) {
    const Matrix<double>& output = attended.output[n];
    require(output.rows() == rows && output.cols() == problem.shape.head_dim,
            "attended.output rows", output.rows(), "one of head_dim numbers for each query row");
    require(kernels().all_finite(stored(output)), "attended.output",
            std::numeric_limits<double>::quiet_NaN(), "finite numbers");
    Vector<double>& shift = result.shift.emplace_back(rows);
    kernels().row_products(upstream.output[n], stored(output), all, shift.data());
    if (!upstream.lse.empty()) shift -= upstream.lse[n];
  }
  return result;
}

}  // namespace

Gradients attention_grad(const Problem& problem, const Attended& attended,
                         const Upstream& upstream) {
  check(problem);
  const RowSummaries rows = row_summaries(problem, attended, upstream);
  const std::vector<int> all_rows = first_numbers(problem.shape.queries);
  const std::vector<int> all_keys = first_numbers(problem.shape.keys);
  return Backward({problem, all_rows, all_keys, upstream.output, all_rows, rows.lse, rows.shift,
                   true, true, true})();
}

std::vector<Matrix<double>> query_gradients(const Problem& problem, std::span<const int> rows,
                                            const Attended& attended, const Upstream& upstream) {
  check(problem);
  const RowSummaries of = summaries(problem, attended, upstream, static_cast<int>(rows.size()));
  const std::vector<int> all_keys = first_numbers(problem.shape.keys);
  const std::vector<int> grad_rows = first_numbers(static_cast<int>(rows.size()));
  return Backward({problem, rows, all_keys, upstream.output, grad_rows, of.lse, of.shift, true,
                   false, false})()
      .q;
}

RowSummaries row_summaries(const Problem& problem, const Attended& attended,
                           const Upstream& upstream) {
  return summaries(problem, attended, upstream, problem.shape.queries);
}

KeyGradients key_gradients(const Problem& problem, std::span<const int> keys,
                           const std::vector<Stored>& grad_output, const RowSummaries& rows) {
  check(problem);
  check_upstream(problem, grad_output, problem.shape.queries);
  check_rows(problem, rows.lse, "rows.lse", problem.shape.queries);
  check_rows(problem, rows.shift, "rows.shift", problem.shape.queries);
  for (std::size_t n = 0; n < keys.size(); ++n) {
    require(0 <= keys[n] && keys[n] < problem.shape.keys, "key", keys[n], "a key");
    require(n == 0 || keys[n - 1] < keys[n], "key", keys[n], "above the one before it");
  }
  const std::vector<int> all_rows = first_numbers(problem.shape.queries);
  Gradients gradients = Backward(
      {problem, all_rows, keys, grad_output, all_rows, rows.lse, rows.shift, false, true, false})();
  return {std::move(gradients.k), std::move(gradients.v)};
}

}  // namespace plumbline::reference::blocked
