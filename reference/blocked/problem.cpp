// SPDX-License-Identifier: Apache-2.0
#include "reference/blocked/problem.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/blocked/threads.hpp"

namespace plumbline::reference::blocked {

Problem problem_of(const AttentionInputs<double>& inputs) {
  require(!inputs.softcap, "softcap", inputs.softcap.value_or(0), "none");
  require(inputs.sinks.empty(), "sinks", inputs.sinks.size(), "none");
  require(inputs.dropout.empty(), "dropout", inputs.dropout.size(), "none");
  Problem problem;
  problem.shape = inputs.shape;
  for (const Matrix<double>& x : inputs.q) problem.q.push_back(stored(x));
  for (const Matrix<double>& x : inputs.k) problem.k.push_back(stored(x));
  for (const Matrix<double>& x : inputs.v) problem.v.push_back(stored(x));
  problem.scale = inputs.scale;
  problem.mask = inputs.mask;
  problem.ssmax_scale = inputs.ssmax_scale;
  return problem;
}

namespace {

void check_tensor(const std::vector<Stored>& tensor, const char* name, int count, int rows,
                  const Problem& problem) {
  require(static_cast<int>(tensor.size()) == count, name, tensor.size(), "one matrix a head");
  for (const Stored& x : tensor) {
    require(x.data != nullptr, name, 0, "numbers");
    require(x.rows == rows, name, x.rows, "the shape's number of rows");
    require(x.columns == problem.shape.head_dim, name, x.columns, "head_dim columns");
  }
  // Eigen's vectorised exponential turns NaN and infinities into numbers that look right.
  std::atomic<bool> finite = true;
  for_each_unit(count, problem.threads, [&](int n, int) {
    if (!kernels().all_finite(tensor[n])) finite = false;
  });
  require(finite, name, std::numeric_limits<double>::quiet_NaN(), "finite numbers");
}

}  // namespace

void check(const Problem& problem) {
  const AttentionShape& s = problem.shape;
  check_shape(s);
  require_rows_at_keys(s);
  require(s.query_offsets.empty() && s.query_offset >= 0, "query_offset", s.first_position(0),
          "at least 0 and the same for all sequences");
  require(s.keys <= 1 << 30, "keys", s.keys, "at most 2^30");  // so that no counter overflows
  require(problem.threads >= 0, "threads", problem.threads, "at least 0");
  require(std::isfinite(problem.scale), "scale", problem.scale, "a finite number");
  for (int b = 0; b < s.batch; ++b) visible_range(problem.mask, b, s.query_offset, s.keys);
  const auto one_each = [](std::size_t size, int count) {
    return size == 0 || static_cast<int>(size) == count;
  };
  require(one_each(problem.ssmax_scale.size(), s.heads), "ssmax_scale.size()",
          problem.ssmax_scale.size(), "heads, or none");
  for (double scale : problem.ssmax_scale) {
    require(std::isfinite(scale), "ssmax_scale", scale, "a finite number");
  }
  require(one_each(problem.bias.size(), s.batch * s.heads), "bias.size()", problem.bias.size(),
          "one a head, or none");
  for (const TileBias* bias : problem.bias) {
    if (bias) bias->check(s, problem.mask);
  }
  check_tensor(problem.q, "q", s.batch * s.heads, s.queries, problem);
  check_tensor(problem.k, "k", s.batch * s.kv_heads, s.keys, problem);
  check_tensor(problem.v, "v", s.batch * s.kv_heads, s.keys, problem);
}

int ChosenRows::blocks(int size) const { return (static_cast<int>(row.size()) + size - 1) / size; }

QueryRows ChosenRows::block(int n, double ssmax_scale, int size) const {
  const std::size_t first = static_cast<std::size_t>(n) * size;
  const std::size_t count = std::min<std::size_t>(size, row.size() - first);
  const auto of = [&](const auto& all) {
    return std::span(all).subspan(all.empty() ? 0 : first, all.empty() ? 0 : count);
  };
  return {of(row), of(position), of(visible), of(log_count), ssmax_scale};
}

ChosenRows choose_rows(const Problem& problem, int batch, std::span<const int> rows) {
  const AttentionShape& s = problem.shape;
  ChosenRows chosen;
  for (const int r : rows) {
    require(0 <= r && r < s.queries, "row", r, "a query row");
    const int position = r + s.query_offset;
    const KeyRange visible = visible_range(problem.mask, batch, position, s.keys);
    chosen.row.push_back(r);
    chosen.position.push_back(position);
    chosen.visible.push_back(visible);
    if (problem.ssmax_scale.empty()) continue;
    std::ptrdiff_t count = visible.end - visible.begin;
    if (!problem.mask.documents.empty()) {
      const int* document = problem.mask.documents.data() + std::ptrdiff_t{batch} * s.keys;
      count = std::count(document + visible.begin, document + visible.end, document[position]);
    }
    chosen.log_count.push_back(count == 0 ? 0.0 : std::log(static_cast<double>(count)));
  }
  return chosen;
}

Head head_of(const Problem& problem, int b, int h) {
  const AttentionShape& s = problem.shape;
  const int head = b * s.heads + h, kv = b * s.kv_heads + s.kv_head(h);
  const auto& documents = problem.mask.documents;
  return {problem.q[head],
          problem.k[kv],
          problem.v[kv],
          problem.scale,
          problem.bias.empty() ? nullptr : problem.bias[head],
          documents.empty() ? nullptr : documents.data() + std::ptrdiff_t{b} * s.keys};
}

std::vector<int> first_numbers(int count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace plumbline::reference::blocked
