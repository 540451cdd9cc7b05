// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/dape.hpp"

#include <algorithm>
#include <cmath>

namespace plumbline::bench {
namespace {

using F = FaultKind;

}  // namespace

template <class Real>
Dape<Real>::Dape(const Problem& problem, const Variant& variant, const Fault& fault)
    : in_(problem),
      variant_(variant),
      fault_(fault),
      taps_(problem.p.dape == 0 ? 0 : 2 * problem.p.dape - 1),
      heads_(problem.p.heads),
      keys_(problem.p.keys) {
  if (taps_ == 0) return;
  const int hidden = static_cast<int>(problem.option(PLUMBLINE_HIDDEN));
  first_ = layer(PLUMBLINE_HIDDEN_WEIGHT, PLUMBLINE_HIDDEN_BIAS, hidden, 2 * heads_);
  second_ = layer(PLUMBLINE_OUTPUT_WEIGHT, PLUMBLINE_OUTPUT_BIAS, heads_, hidden);
  if (fault_.is(F::dape_hidden_bias_missing)) first_.bias.assign(hidden, Real(0));
  if (fault_.is(F::dape_output_bias_missing)) second_.bias.assign(heads_, Real(0));
  for (int w = 0; w < hidden && fault_.is(F::dape_heads_apart); ++w) {
    // A hidden channel hears one head alone.
    for (int c = 0; c < 2 * heads_; ++c) {
      if (c % heads_ == w % heads_) continue;
      for (int d = 0; d < taps_; ++d) first_.weight[(w * 2 * heads_ + c) * taps_ + d] = 0;
    }
  }
}

/// The weights as the fault reads them.
template <class Real>
typename Dape<Real>::Layer Dape<Real>::layer(plumbline_parameter weight, plumbline_parameter bias,
                                             int outs, int ins) const {
  const float* given = in_.parameter(weight);
  Layer layer{outs, ins, {}, {in_.parameter(bias), in_.parameter(bias) + outs}};
  const bool first = weight == PLUMBLINE_HIDDEN_WEIGHT;
  for (int o = 0; o < outs; ++o) {
    for (int c = 0; c < ins; ++c) {
      for (int d = 0; d < taps_; ++d) {
        int channel = c, tap = d;
        if (first && fault_.is(F::dape_biases_first)) channel = (c + heads_) % ins;
        if (fault_.is(F::dape_taps_reversed)) tap = taps_ - 1 - d;
        const bool transposed = first ? fault_.is(F::dape_first_weights_transposed)
                                      : fault_.is(F::dape_second_weights_transposed);
        const int n = transposed ? channel * outs + o : o * ins + channel;
        const bool left_out = fault_.is(F::dape_version_1_for_2) && d != taps_ / 2;
        layer.weight.push_back(left_out ? Real(0)
                                        : operand(static_cast<Real>(given[n * taps_ + tap]),
                                                  variant_.operand_bits, variant_.cuts_operands));
      }
    }
  }
  return layer;
}

/// Keys that the network sees.
template <class Real>
int Dape<Real>::seen(int position) const {
  const bool hides = (taps_ == 3) != fault_.is(F::dape_sees_as_the_other_version);
  return hides ? std::min(position + 1, keys_) : keys_;
}

/// How far from key j the key is that an element of a weight meets.
template <class Real>
int Dape<Real>::shift(int tap) const {
  return fault_.is(F::dape_taps_shifted) ? tap : tap - taps_ / 2;
}

/// @param beyond a channel's number beyond both ends; empty: 0
template <class Real>
std::vector<Real> Dape<Real>::convolved(const std::vector<Real>& x, const Layer& layer,
                                        const std::vector<Real>& beyond) const {
  std::vector<Real> result(static_cast<std::size_t>(layer.outs) * keys_);
  for (int o = 0; o < layer.outs; ++o) {
    Real* to = result.data() + static_cast<std::size_t>(o) * keys_;
    if (!variant_.bias_last) std::fill_n(to, keys_, layer.bias[o]);
    for (int n = 0; n < layer.ins * taps_; ++n) {
      // Channels in ascending or in descending order.
      const int m = variant_.descending ? layer.ins * taps_ - 1 - n : n;
      const int c = m / taps_, d = m % taps_;
      const Real w = layer.at(o, c, d, taps_);
      const Real* from = x.data() + static_cast<std::size_t>(c) * keys_;
      for (int j = 0; j < keys_; ++j) {
        int key = j + shift(d);
        if (fault_.is(F::dape_padding_of_edge)) key = std::clamp(key, 0, keys_ - 1);
        if (key >= 0 && key < keys_) {
          to[j] = sum(to[j], w * from[key], variant_.cuts);
        } else if (!beyond.empty()) {
          to[j] += w * beyond[c];
        }
      }
    }
    for (int j = 0; j < keys_ && variant_.bias_last; ++j) to[j] += layer.bias[o];
  }
  return result;
}

template <class Real>
DapeRow<Real> Dape<Real>::row(const std::vector<Real>& a, const std::vector<Real>& b, int position,
                              const std::vector<char>& visible) const {
  DapeRow<Real> row;
  row.in.assign(2 * a.size(), Real(0));
  const auto one = [&](Real x) {
    return operand(x, variant_.operand_bits, variant_.cuts_operands);
  };
  for (int h = 0; h < heads_; ++h) {
    for (int j = 0; j < seen(position); ++j) {
      if (fault_.is(F::dape_masked_keys_zero) && !visible[j]) continue;
      const std::size_t n = static_cast<std::size_t>(h) * keys_ + j;
      Real of_a = a[n];
      if (fault_.is(F::dape_scores_unscaled)) of_a /= static_cast<Real>(in_.p.scale);
      row.in[n] = one(of_a);
      row.in[a.size() + n] = one(b[n]);
    }
  }
  row.before = convolved(row.in, first_, {});
  row.hidden = row.before;
  Real slope = Real(0.01);
  if (fault_.is(F::dape_slope)) slope = static_cast<Real>(fault_.amount);
  if (fault_.is(F::dape_relu)) slope = 0;
  for (Real& x : row.hidden) {
    if (!(x > 0)) x *= slope;
    if (fault_.is(F::dape_hidden_in_bf16)) x = lost(x, PLUMBLINE_BF16);
  }
  std::vector<Real> beyond;
  if (fault_.is(F::dape_padding_not_zero)) {
    for (const Real bias : first_.bias) beyond.push_back(bias > 0 ? bias : bias * slope);
  }
  for (std::size_t n = 0; n < row.hidden.size() && fault_.is(F::dape_hidden_layer_masked); ++n) {
    if (static_cast<int>(n % keys_) >= seen(position)) row.hidden[n] = 0;
  }
  std::vector<Real> of_hidden = row.hidden;
  for (Real& x : of_hidden) x = one(x);
  row.added = convolved(of_hidden, second_, beyond);
  for (std::size_t n = 0; n < row.added.size(); ++n) {
    if (fault_.is(F::dape_network_missing)) row.added[n] = 0;
    if (!fault_.is(F::dape_without_bias)) row.added[n] += b[n];
  }
  return row;
}

/// From the gradients of a layer's outs to those of its ins.
template <class Real>
std::vector<Real> Dape<Real>::back(const std::vector<Real>& grad, const Layer& layer) const {
  std::vector<Real> result(static_cast<std::size_t>(layer.ins) * keys_, Real(0));
  for (int c = 0; c < layer.ins; ++c) {
    for (int o = 0; o < layer.outs; ++o) {
      for (int d = 0; d < taps_; ++d) {
        const Real w = layer.at(o, c, d, taps_);
        const int by = fault_.is(F::dape_gradient_taps_not_rotated) ? -shift(d) : shift(d);
        for (int j = 0; j < keys_; ++j) {
          const int from = j - by;
          if (from < 0 || from >= keys_) continue;
          Real& to = result[static_cast<std::size_t>(c) * keys_ + j];
          to = sum(to, w * grad[static_cast<std::size_t>(o) * keys_ + from], variant_.cuts);
        }
      }
    }
  }
  return result;
}

template <class Real>
std::vector<Real> Dape<Real>::weight_gradient(const std::vector<Real>& grad,
                                              const std::vector<Real>& x,
                                              const Layer& layer) const {
  std::vector<Real> result(layer.weight.size(), Real(0));
  for (int o = 0; o < layer.outs; ++o) {
    for (int c = 0; c < layer.ins; ++c) {
      for (int d = 0; d < taps_; ++d) {
        Real total = 0;
        for (int j = 0; j < keys_; ++j) {
          const int key = j + shift(d);
          if (key < 0 || key >= keys_) continue;
          total += grad[static_cast<std::size_t>(o) * keys_ + j] *
                   x[static_cast<std::size_t>(c) * keys_ + key];
        }
        result[(static_cast<std::size_t>(o) * layer.ins + c) * taps_ + d] = total;
      }
    }
  }
  return result;
}

template <class Real>
DapeGradient<Real> Dape<Real>::grad(const DapeRow<Real>& row, const std::vector<Real>& logits,
                                    int position) const {
  const auto over_keys = [&](const std::vector<Real>& x, int channels) {
    std::vector<Real> sums(channels, Real(0));
    for (std::size_t n = 0; n < x.size(); ++n) sums[n / keys_] += x[n];
    return sums;
  };
  DapeGradient<Real> grad;
  grad.second_weight = weight_gradient(logits, row.hidden, second_);
  grad.second_bias = over_keys(logits, heads_);
  std::vector<Real> by_hidden = back(logits, second_);
  for (std::size_t n = 0; n < by_hidden.size(); ++n) {
    const bool slopes = !(row.before[n] > 0) && !fault_.is(F::dape_gradient_without_slope);
    if (slopes) by_hidden[n] *= Real(0.01);
  }
  grad.first_weight = weight_gradient(by_hidden, row.in, first_);
  grad.first_bias = over_keys(by_hidden, first_.outs);
  const std::vector<Real> by_in = back(by_hidden, first_);
  const int sees = fault_.is(F::dape_gradient_of_hidden_keys) ? keys_ : seen(position);
  grad.a = grad.b = logits;
  if (fault_.is(F::dape_direct_gradient_missing)) grad.a.assign(logits.size(), Real(0));
  if (fault_.is(F::dape_network_gradient_missing)) return grad;
  for (int h = 0; h < heads_; ++h) {
    for (int j = 0; j < sees; ++j) {
      const std::size_t n = static_cast<std::size_t>(h) * keys_ + j;
      grad.a[n] += by_in[n];
      grad.b[n] += by_in[logits.size() + n];
    }
  }
  return grad;
}

template class Dape<float>;
template class Dape<double>;

}  // namespace plumbline::bench
