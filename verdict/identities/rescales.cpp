// SPDX-License-Identifier: Apache-2.0
#include "verdict/identities/rescales.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "verdict/bounds/rescales.hpp"

namespace plumbline::verdict {
namespace {

/// b_ij of one row; empty for a method that is not written out.
std::function<double(int)> bias_of_row(const cases::Case& c, int batch, int head, int query) {
  const auto& s = c.spec;
  const int i = query + s.query_offset;
  const std::size_t row = static_cast<std::size_t>(batch) * s.heads + head;
  if (s.bias != s.bias.method) return {};
  switch (s.bias.method) {
    case PLUMBLINE_NOPE:
      return [](int) { return 0.0; };
    case PLUMBLINE_ALIBI:
      return [=, slope = double{c[PLUMBLINE_SLOPES][head]}](int j) {
        return -slope * std::abs(i - j);
      };
    case PLUMBLINE_KERPLE_LOG:
      return [=, p = double{c[PLUMBLINE_P][head]}, a = double{c[PLUMBLINE_A][head]}](int j) {
        return -p * std::log1p(a * std::abs(i - j));
      };
    case PLUMBLINE_T5_CLIPPED:
    case PLUMBLINE_T5_CLIPPED_OFFSET: {
      const auto& table = c[PLUMBLINE_TABLE];
      const float* of_head = table.data() + table.size() / s.heads * head;
      const int largest = static_cast<int>(c.options[PLUMBLINE_LARGEST]);
      const bool both = s.bias.method == PLUMBLINE_T5_CLIPPED_OFFSET;
      return [=](int j) {
        const int distance = std::clamp(i - j, both ? -largest : 0, largest);
        return double{of_head[both ? largest + distance : distance]};
      };
    }
    case PLUMBLINE_CABLE:
    case PLUMBLINE_CABLE_NW:
    case PLUMBLINE_FOX: {
      const bool fox = s.bias.method == PLUMBLINE_FOX;
      const auto& increments = c.summed();
      const auto& gain = c[PLUMBLINE_GAIN];
      const double g = gain.empty() ? 1.0 : gain[row * s.queries + query];
      std::vector<double> sums(s.keys);
      double sum = 0;
      for (int j = 0; j < s.keys; ++j) sums[j] = sum += increments[row * s.keys + j];
      return [=, sums = std::move(sums)](int j) {
        const double difference = sums[i] - sums[j];
        return fox ? difference : -g * std::abs(difference);
      };
    }
    case PLUMBLINE_K_CABLE:
    case PLUMBLINE_K_CABLE_NW:
    case PLUMBLINE_GGD:
    case PLUMBLINE_KERPLE_POWER:
    case PLUMBLINE_T5:
    case PLUMBLINE_T5_BIDIRECTIONAL:
    case PLUMBLINE_FIRE:
    case PLUMBLINE_CABLE_PAPER:
    case PLUMBLINE_CABLE_NW_PAPER:
    case PLUMBLINE_K_CABLE_PAPER:
    case PLUMBLINE_COPE:
      return {};
  }
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
