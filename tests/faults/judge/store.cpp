// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/store.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/draw.hpp"
#include "tests/faults/judge/arithmetic.hpp"

namespace plumbline::bench {
namespace {

using F = FaultKind;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class Real>
void noise(std::vector<Real>& values, double amount) {
  const Draw draw(11, 11);
  for (std::size_t n = 0; n < values.size(); ++n) {
    values[n] *= static_cast<Real>(1 + (draw.word(n) & 1 ? amount : -amount));
  }
}

template <class Real>
void scale(std::vector<Real>& values, double factor) {
  for (Real& x : values) x *= static_cast<Real>(factor);
}

/// Blocks of `size` numbers in the opposite order, within every `count` of them.
template <class Real>
void reverse_blocks(std::vector<Real>& values, std::size_t size, std::size_t count) {
  const std::vector<Real> old = values;
  for (std::size_t block = 0; block < values.size() / size; ++block) {
    const std::size_t group = block / count * count, from = group + count - 1 - (block - group);
    std::copy_n(old.begin() + from * size, size, values.begin() + block * size);
  }
}

template <class Real>
void mean_of_values(std::vector<Real>& o, const Problem& in) {
  const auto& p = in.p;
  for (std::size_t row = 0; row < o.size() / p.value_dim; ++row) {
    const int h = static_cast<int>(row / p.queries % p.heads);
    const int b = static_cast<int>(row / p.queries / p.heads);
    for (int d = 0; d < p.value_dim; ++d) {
      Real total = 0;
      for (int j = 0; j < p.keys; ++j) {
        total += in.v[in.key_row(b, h / (p.heads / p.kv_heads), j) * p.value_dim + d];
      }
      o[row * p.value_dim + d] = total / static_cast<Real>(p.keys);
    }
  }
}

}  // namespace

template <class Real>
void spoil_forward(std::vector<Real>& o, std::vector<Real>& lse, const Problem& in,
                   const Fault& fault) {
  const auto& p = in.p;
  const std::size_t dim = p.value_dim, rows = p.queries;
  switch (fault.kind) {
    case F::o_through_bf16:
      for (Real& x : o) x = lost(x, PLUMBLINE_BF16);
      return;
    case F::float_o_rounded:
      for (Real& x : o) x = lost(x, output_format(p.format));
      return;
    case F::o_off:
      return scale(o, 1 + fault.amount);
    case F::o_noise:
      return noise(o, fault.amount);
    case F::one_element_off:
      o[o.size() / 2] *= static_cast<Real>(1 + fault.amount);
      return;
    case F::row_of_before:
      for (std::size_t row = 7; row < o.size() / dim; row += 8) {
        std::copy_n(o.begin() + (row - 1) * dim, dim, o.begin() + row * dim);
      }
      return;
    case F::heads_swapped:
      reverse_blocks(lse, rows, p.heads);
      return reverse_blocks(o, rows * dim, p.heads);
    case F::rows_reversed:
      reverse_blocks(lse, 1, rows);
      return reverse_blocks(o, dim, rows);
    case F::components_swapped:
      for (std::size_t n = 0; n + 1 < o.size(); n += 2) std::swap(o[n], o[n + 1]);
      return;
    case F::nan_output:
      return std::fill(o.begin(), o.end(), Real(nan));
    case F::one_nan:
      o.back() = nan;
      return;
    case F::zero_output:
      return std::fill(o.begin(), o.end(), Real(0));
    case F::constant_output:
      return std::fill(o.begin(), o.end(), Real(0.125));
    case F::returns_query:
      for (std::size_t n = 0; n < o.size(); ++n) o[n] = in.q[n % in.q.size()];
      return;
    case F::mean_of_values:
      return mean_of_values(o, in);
    default:
      return;
  }
}

template <class Real>
void spoil_gradients(std::vector<Real>& dq, std::vector<Real>& dk, std::vector<Real>& dv,
                     const Problem& in, const Fault& fault) {
  const auto& p = in.p;
  switch (fault.kind) {
    case F::float_gradients_rounded:
      for (auto* gradient : {&dq, &dk, &dv}) {
        for (Real& x : *gradient) x = lost(x, output_format(p.format));
      }
      return;
    case F::dq_sign:
      return scale(dq, -1);
    case F::dq_off:
      return scale(dq, 1 + fault.amount);
    case F::dq_scaled_twice:
      return scale(dq, p.scale);
    case F::dq_zero:
      return scale(dq, 0);
    case F::dq_nan:
      return std::fill(dq.begin(), dq.end(), Real(nan));
    case F::dq_noise:
      return noise(dq, fault.amount);
    case F::dq_of_next_head:
      return reverse_blocks(dq, static_cast<std::size_t>(p.queries) * p.head_dim, p.heads);
    case F::dk_sign:
      return scale(dk, -1);
    case F::dk_off:
      return scale(dk, 1 + fault.amount);
    case F::dk_scaled_twice:
      return scale(dk, p.scale);
    case F::dk_zero:
      return scale(dk, 0);
    case F::dk_noise:
      return noise(dk, fault.amount);
    case F::dv_sign:
      return scale(dv, -1);
    case F::dv_off:
      return scale(dv, 1 + fault.amount);
    case F::dv_zero:
      return scale(dv, 0);
    case F::dv_noise:
      return noise(dv, fault.amount);
    case F::dv_returns_grad_o:
      for (std::size_t n = 0; n < dv.size(); ++n) dv[n] = in.grad_o[n % in.grad_o.size()];
      return;
    default:
      return;
  }
}

template void spoil_forward(std::vector<float>&, std::vector<float>&, const Problem&, const Fault&);
template void spoil_forward(std::vector<double>&, std::vector<double>&, const Problem&,
                            const Fault&);
template void spoil_gradients(std::vector<float>&, std::vector<float>&, std::vector<float>&,
                              const Problem&, const Fault&);
template void spoil_gradients(std::vector<double>&, std::vector<double>&, std::vector<double>&,
                              const Problem&, const Fault&);

void store(const std::vector<float>& values, void* to, int format, bool truncates, const Rows& rows,
           std::size_t unwritten) {
  const std::size_t count = values.size() - std::min(unwritten, values.size());
  for (std::size_t n = 0; n < count; ++n) {
    // Not one after the other: rounding what may have been cut is where g++ 12 loses the cutting.
    const float x = truncates ? truncated(values[n], format) : rounded(values[n], format);
    const std::int64_t place = rows.place(n);
    if (place == Rows::missing) continue;
    char* at = static_cast<char*>(to) +
               place * (format == PLUMBLINE_BF16 || format == PLUMBLINE_FP16 ? 2 : 4);
    if (format == PLUMBLINE_BF16) {
      const auto bits =
          static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(std::isnan(x) ? nan : x) >> 16);
      std::memcpy(at, &bits, 2);
    } else if (format == PLUMBLINE_FP16) {
      const auto half = static_cast<_Float16>(x);
      std::memcpy(at, &half, 2);
    } else {
      std::memcpy(at, &values[n], 4);
    }
  }
}

}  // namespace plumbline::bench
