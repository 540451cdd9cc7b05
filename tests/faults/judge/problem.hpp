// SPDX-License-Identifier: Apache-2.0
// What the campaign's kernel is given, widened to floats and laid out without pages.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel_abi/plumbline_kernel.h"
#include "tests/faults/judge/custom.hpp"
#include "tests/faults/judge/fault.hpp"

namespace plumbline::bench {

/// The position of a sequence's first query row.
inline int first_position(const plumbline_problem& p, int batch) {
  return p.queries_at_end ? p.lengths[batch] - p.queries : p.query_offset;
}

struct Problem {
  plumbline_problem p;  ///< shapes, options, parameters, lengths, documents, mask, keep
  std::vector<float> q, k, v, grad_o;
  std::vector<double> prefix;     ///< S or F, [batch, heads, keys]; empty where there is none
  std::vector<float> grad_lse{};  ///< [batch, heads, queries]; empty where there is none
  std::vector<float> k_scale{};   ///< of scale_after_bias, [batch, kv_heads, keys]; else empty
  std::vector<std::int32_t> lengths{};        ///< of packed sequences; p.lengths are these
  std::vector<std::int32_t> query_lengths{};  ///< likewise: the last rows of each; else empty
  Formula formula = Formula::none;            ///< of a custom bias, which the kernel has built in

  const float* parameter(plumbline_parameter which) const { return p.parameters[which]; }
  double option(plumbline_option which) const { return p.options[which]; }
  std::size_t query_row(int batch, int head, int row) const {
    return (static_cast<std::size_t>(batch) * p.heads + head) * p.queries + row;
  }
  /// A query row in a bias tensor.
  std::size_t tensor_row(int batch, int head, int row) const {
    const auto full = [&](plumbline_option per, int size) { return option(per) == 1 ? size : 1; };
    const int heads = full(PLUMBLINE_PER_HEAD, p.heads);
    const int rows = full(PLUMBLINE_PER_QUERY, p.queries);
    const std::size_t of_head =
        static_cast<std::size_t>(batch % full(PLUMBLINE_PER_BATCH, p.batch)) * heads + head % heads;
    return of_head * rows + row % rows;
  }
  std::size_t tensor_rows() const {
    return tensor_row(p.batch - 1, p.heads - 1, p.queries - 1) + 1;
  }
  std::size_t key_row(int batch, int kv_head, int key) const {
    return (static_cast<std::size_t>(batch) * p.kv_heads + kv_head) * p.keys + key;
  }
};

/// Where the rows of an array lie: the first number of each, by batch, head and token, or `missing`
/// for one that packed sequences do not have. Without any they lie one after the other.
struct Rows {
  static constexpr std::int64_t missing = -1;
  std::vector<std::int64_t> begin{};
  std::size_t width = 1;

  /// Of the n-th number in the order of batch, head, token and component; or `missing`.
  std::int64_t place(std::size_t n) const;
};
Rows query_rows(const plumbline_problem& problem);
Rows key_rows(const plumbline_problem& problem);
Rows value_rows(const plumbline_problem& problem);
Rows output_rows(const plumbline_problem& problem);
Rows lse_rows(const plumbline_problem& problem);

/// `count` numbers of a format as floats, those of missing rows as 0.
std::vector<float> widened(const void* data, std::size_t count, int format, const Rows& rows);

/// Reads the problem as the pass has it. Pages are put together, packed sequences taken apart;
/// faults of pages and of layouts are committed here.
Problem read_problem(const plumbline_problem& problem, const void* grad_o, bool decodes,
                     bool prefix_in_float, const Fault& fault);

/// What the generator of plumbline_kernel.h keeps: of a kernel that does not read it.
/// @param fault of the generator
std::vector<std::uint8_t> made_keep(const plumbline_problem& problem, const Fault& fault);

}  // namespace plumbline::bench
