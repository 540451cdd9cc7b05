// SPDX-License-Identifier: Apache-2.0
#include "reference/blocked/attention.hpp"

#include <algorithm>

#include "reference/blocked/threads.hpp"

namespace plumbline::reference::blocked {

namespace {

/// Rows in a unit of work: whole tiles, or less where a few rows must keep several cores busy. It
/// follows from the problem alone.
int rows_in_block(int heads, std::size_t rows) {
  constexpr int enough_units = 16, least = 16;
  const auto even = static_cast<int>(std::min<std::size_t>(heads * rows / enough_units, row_tile));
  return std::max(least, even / least * least);
}

}  // namespace

Attended attention_rows(const Problem& problem, std::span<const int> rows) {
  check(problem);
  const AttentionShape& s = problem.shape;
  const std::size_t heads = static_cast<std::size_t>(s.batch) * s.heads;
  const int count = static_cast<int>(rows.size());
  Attended attended;
  attended.output.assign(heads, Matrix<double>(count, s.head_dim));
  attended.lse.assign(heads, Vector<double>(count));
  attended.sees_no_key.assign(heads, std::vector<std::uint8_t>(count));

  std::vector<ChosenRows> chosen;
  for (int b = 0; b < s.batch; ++b) chosen.push_back(choose_rows(problem, b, rows));
  const std::vector<int> keys = first_numbers(s.keys);
  const int size = rows_in_block(s.batch * s.heads, rows.size());
  const int blocks = chosen.front().blocks(size), units = s.batch * s.heads * blocks;
  std::vector<ScratchMemory> scratch;
  for (int t = 0; t < thread_count(units, problem.threads); ++t) scratch.emplace_back(s.head_dim);

  for_each_unit(units, problem.threads, [&](int unit, int thread) {
    const int block = unit % blocks, head = unit / blocks;
    const int b = head / s.heads, h = head % s.heads;
    const double ssmax_scale = problem.ssmax_scale.empty() ? 0.0 : problem.ssmax_scale[h];
    const std::ptrdiff_t first = std::ptrdiff_t{block} * size;
    kernels().forward(head_of(problem, b, h), chosen[b].block(block, ssmax_scale, size), keys,
                      scratch[thread].get(), attended.output[head].data() + first * s.head_dim,
                      attended.lse[head].data() + first, attended.sees_no_key[head].data() + first);
  });
  return attended;
}

Attended attention(const Problem& problem) {
  return attention_rows(problem, first_numbers(problem.shape.queries));
}

}  // namespace plumbline::reference::blocked
