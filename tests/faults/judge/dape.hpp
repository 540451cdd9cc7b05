// SPDX-License-Identifier: Apache-2.0
// DAPE of plumbline_kernel.h as the campaign's kernel computes it, with its faults: a network of
// two convolutions along the keys, over all heads of a query row.
#pragma once

#include <vector>

#include "tests/faults/judge/problem.hpp"
#include "tests/faults/judge/variant.hpp"

namespace plumbline::bench {

/// A query row of all heads.
template <class Real>
struct DapeRow {
  std::vector<Real> in;              ///< [2 heads, keys], what the network reads
  std::vector<Real> before, hidden;  ///< [hidden, keys], around LeakyReLU
  std::vector<Real> added;           ///< [heads, keys], to the scaled products
};

template <class Real>
struct DapeGradient {
  std::vector<Real> a, b;                        ///< [heads, keys]
  std::vector<Real> first_weight, first_bias;    ///< as the parameters lie
  std::vector<Real> second_weight, second_bias;  ///< as the parameters lie
};

template <class Real>
class Dape {
 public:
  Dape(const Problem& problem, const Variant& variant, const Fault& fault);

  /// Width of the convolutions; 0 where the bias is no DAPE.
  int taps() const { return taps_; }
  /// @param a, b [heads, keys], scaled products and biases. @param visible [keys]
  DapeRow<Real> row(const std::vector<Real>& a, const std::vector<Real>& b, int position,
                    const std::vector<char>& visible) const;
  /// @param logits [heads, keys], gradients of the logits, 0 for keys that are not visible.
  DapeGradient<Real> grad(const DapeRow<Real>& row, const std::vector<Real>& logits,
                          int position) const;

 private:
  struct Layer {
    int outs, ins;
    std::vector<Real> weight, bias;  ///< [outs, ins, taps], [outs]
    Real at(int out, int in, int tap, int taps) const {
      return weight[(static_cast<std::size_t>(out) * ins + in) * taps + tap];
    }
  };
  Layer layer(plumbline_parameter weight, plumbline_parameter bias, int outs, int ins) const;
  int seen(int position) const;
  int shift(int tap) const;
  std::vector<Real> convolved(const std::vector<Real>& x, const Layer& layer,
                              const std::vector<Real>& beyond) const;
  std::vector<Real> back(const std::vector<Real>& grad, const Layer& layer) const;
  std::vector<Real> weight_gradient(const std::vector<Real>& grad, const std::vector<Real>& x,
                                    const Layer& layer) const;

  const Problem& in_;
  const Variant& variant_;
  const Fault& fault_;
  int taps_, heads_, keys_;
  Layer first_, second_;
};

}  // namespace plumbline::bench
