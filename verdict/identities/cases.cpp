// SPDX-License-Identifier: Apache-2.0
#include "verdict/identities/cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace plumbline::verdict {
namespace {

void scale(std::vector<float>& x, float factor) {
  for (float& value : x) value *= factor;
}

std::size_t keys_of_head(const cases::Case& c) {
  return static_cast<std::size_t>(c.spec.keys) * c.spec.head_dim;
}

}  // namespace

std::vector<float> reversed(const std::vector<float>& x, std::size_t count, std::size_t row) {
  std::vector<float> result(x.size());
  for (std::size_t n = 0; n < x.size() / row; ++n) {
    const std::size_t from = n / count * count + (count - 1 - n % count);
    std::copy_n(x.begin() + from * row, row, result.begin() + n * row);
  }
  return result;
}

cases::Case identity_case(const cases::Spec& spec) {
  cases::Case c = cases::generate(spec);
  for (float& k : c.k) {
    if (std::abs(k) < 0x1p-13f) k = 0;  // fp16 is normal from 2^-14 on
  }
  // Values that go with the keys: o, a mean of many, would be next to nothing otherwise, and so
  // would the products that the gradients' identities compare.
  c.v = c.k;
  if (spec.pass == cases::Pass::backward) c.grad_o = c.q;
  for (float& b : c[PLUMBLINE_TABLE]) b = std::round(b * 0x1p10f) * 0x1p-10f;
  return c;
}

cases::Case with_values_doubled(cases::Case c) {
  scale(c.v, 2);
  return c;
}

cases::Case with_grad_o_doubled(cases::Case c) {
  scale(c.grad_o, 2);
  return c;
}

cases::Case with_scale_moved(cases::Case c) {
  scale(c.q, 2);
  scale(c.k, 0.5f);
  scale(c[PLUMBLINE_POSITION_EMBEDDING], 0.5f);
  return c;
}

cases::Case with_batches_reversed(cases::Case c) {
  const std::size_t batch = c.spec.batch;
  const auto reverse = [&](std::vector<float>& x) {
    if (!x.empty()) x = reversed(x, batch, x.size() / batch);
  };
  for (auto* x : {&c.q, &c.k, &c.v, &c.grad_o}) reverse(*x);
  for (const auto parameter : {PLUMBLINE_INCREMENTS, PLUMBLINE_GAIN, PLUMBLINE_LOG_FORGET}) {
    reverse(c[parameter]);
  }
  if (c.options[PLUMBLINE_PER_BATCH] != 0) reverse(c[PLUMBLINE_TENSOR]);
  if (c.options[PLUMBLINE_SLOPES_PER_BATCH] != 0) reverse(c[PLUMBLINE_SLOPES]);
  return c;
}

cases::Case with_heads_reversed(cases::Case c) {
  const auto& s = c.spec;
  const auto reverse = [&](std::vector<float>& x, int heads, std::size_t outer) {
    if (!x.empty()) x = reversed(x, heads, x.size() / outer / heads);
  };
  reverse(c.q, s.heads, s.batch);
  reverse(c.grad_o, s.heads, s.batch);
  reverse(c.k, s.kv_heads, s.batch);
  reverse(c.v, s.kv_heads, s.batch);
  for (const auto parameter : {PLUMBLINE_INCREMENTS, PLUMBLINE_GAIN, PLUMBLINE_LOG_FORGET}) {
    reverse(c[parameter], s.heads, s.batch);
  }
  for (const auto parameter :
       {PLUMBLINE_SSMAX_SCALE, PLUMBLINE_SLOPES, PLUMBLINE_THETA_ALPHA, PLUMBLINE_THETA_BETA,
        PLUMBLINE_THETA_MU, PLUMBLINE_P, PLUMBLINE_A, PLUMBLINE_TABLE, PLUMBLINE_OUTPUT_WEIGHT,
        PLUMBLINE_OUTPUT_BIAS, PLUMBLINE_POSITION_EMBEDDING}) {
    const bool by_batch =
        parameter == PLUMBLINE_SLOPES && c.options[PLUMBLINE_SLOPES_PER_BATCH] != 0;
    reverse(c[parameter], s.heads, by_batch ? s.batch : 1);
  }
  if (c.options[PLUMBLINE_PER_HEAD] != 0) {
    reverse(c[PLUMBLINE_TENSOR], s.heads, c.options[PLUMBLINE_PER_BATCH] != 0 ? s.batch : 1);
  }
  return c;
}

cases::Case with_constant_values(cases::Case c, float value) {
  std::fill(c.v.begin(), c.v.end(), value);
  return c;
}

cases::Case with_sizes_of_values(cases::Case c) {
  for (float& v : c.v) v = std::abs(v);
  return c;
}

cases::Case with_zeros_from(cases::Case c, int first) {
  const std::size_t dim = c.spec.head_dim, keys = c.spec.keys;
  for (std::size_t row = 0; row < c.v.size() / dim; ++row) {
    if (row % keys % 2 == static_cast<std::size_t>(first)) {
      std::fill_n(c.v.begin() + row * dim, dim, 0.0f);
    }
  }
  return c;
}

cases::Case with_keys_reversed(cases::Case c) {
  c.k = reversed(c.k, c.spec.keys, c.spec.head_dim);
  c.v = reversed(c.v, c.spec.keys, c.spec.head_dim);
  return c;
}

cases::Case with_keys_twice(cases::Case c) {
  const std::size_t head = keys_of_head(c);
  for (auto* x : {&c.k, &c.v}) {
    std::vector<float> twice;
    twice.reserve(2 * x->size());
    for (std::size_t begin = 0; begin < x->size(); begin += head) {
      for (int n = 0; n < 2; ++n) {
        twice.insert(twice.end(), x->begin() + begin, x->begin() + begin + head);
      }
    }
    *x = std::move(twice);
  }
  c.spec.keys *= 2;
  return c;
}

cases::Case with_table_shifted(cases::Case c, float added) {
  for (float& b : c[PLUMBLINE_TABLE]) b += added;
  return c;
}

cases::Case with_keys_between(cases::Case c, int begin, int end) {
  auto& s = c.spec;
  s.mask.documents = true;
  c.documents.clear();
  for (int batch = 0; batch < s.batch; ++batch) {
    for (int j = 0; j < s.keys; ++j) {
      const bool seen = j >= s.query_offset || (begin <= j && j < end);
      c.documents.push_back(seen ? 0 : 1);
    }
  }
  return c;
}

}  // namespace plumbline::verdict
