// SPDX-License-Identifier: Apache-2.0
#include "verdict/identities/rescales.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "verdict/bias/methods.hpp"
#include "verdict/bounds/rescales.hpp"

namespace plumbline::verdict {
namespace {

/// b_ij of one row; empty for a method that is not written out.
std::function<double(int)> bias_of_row(const cases::Case& c, int batch, int head, int query) {
  const auto of = c.spec.bias;
  if (of != of.method) return {};
  const bias::Query of_query{c, batch, head, query};
  return bias::visit(
      of.method, [&](auto method) -> std::function<double(int)> { return method.plain(of_query); });
}

double rescales_of_row(const cases::Case& c, int batch, int head, int query, bool of_a_selection) {
  const auto& s = c.spec;
  const auto bias = bias_of_row(c, batch, head, query);
  if (!bias) return s.keys;
  const std::size_t dim = s.head_dim;
  const std::size_t row = (static_cast<std::size_t>(batch) * s.heads + head) * s.queries + query;
  const std::size_t kv =
      static_cast<std::size_t>(batch) * s.kv_heads + head / (s.heads / s.kv_heads);
  const float* q = c.q.data() + row * dim;
  const float* k = c.k.data() + kv * s.keys * dim;
  std::vector<double> score(s.mask.causal ? query + s.query_offset + 1 : s.keys);
  for (std::size_t j = 0; j < score.size(); ++j) {
    double sum = 0;
    for (std::size_t d = 0; d < dim; ++d) sum += double{q[d]} * k[j * dim + d];
    score[j] = c.scale * sum + bias(static_cast<int>(j));
  }
  return rescales(score, 1, of_a_selection);
}

}  // namespace

std::vector<double> row_rescales(const cases::Case& c, const Contract& contract,
                                 bool of_a_selection) {
  const auto& s = c.spec;
  const std::size_t count = static_cast<std::size_t>(s.batch) * s.heads * s.queries;
  std::vector<double> rescales(count, static_cast<double>(s.keys) + contract.splits);
  const double products = static_cast<double>(count) * s.keys * s.head_dim;
  if (products > 0x1p32 || contract.splits > 1) return rescales;
  of_a_selection = of_a_selection || contract.skipped_mass > 0;
  for (std::size_t row = 0; row < count; ++row) {
    const int head = static_cast<int>(row / s.queries);
    rescales[row] = rescales_of_row(c, head / s.heads, head % s.heads,
                                    static_cast<int>(row % s.queries), of_a_selection);
  }
  return rescales;
}

}  // namespace plumbline::verdict
