// SPDX-License-Identifier: Apache-2.0
// What the rows of the backward pass add to.
#pragma once

#include <vector>

#include "bench/verdict/parameter_sums.hpp"

namespace plumbline::bench {

/// dK or dV, as several partial sums over the rows.
template <class Real>
class KeySums {
 public:
  KeySums(std::size_t size, int parts, bool cuts, bool overwrites, bool in_bf16)
      : size_(size),
        parts_(parts),
        cuts_(cuts),
        overwrites_(overwrites),
        in_bf16_(in_bf16),
        sums_(size * parts, Real(0)) {}
  void add(std::size_t at, int row, Real term) {
    Real& total = sums_[(row % parts_) * size_ + at];
    total = overwrites_ ? term : sum(total, term, cuts_);
    if (in_bf16_) total = lost(total, PLUMBLINE_BF16);
  }
  std::vector<Real> total(Real factor) const {
    std::vector<Real> result(size_);
    for (std::size_t at = 0; at < size_; ++at) {
      Real total = sums_[at];
      for (int part = 1; part < parts_; ++part) {
        total = sum(total, sums_[part * size_ + at], cuts_);
      }
      result[at] = total * factor;
    }
    return result;
  }

 private:
  std::size_t size_;
  int parts_;
  bool cuts_, overwrites_, in_bf16_;
  std::vector<Real> sums_;
};

template <class Real>
struct BackwardSums {
  Results<Real>& results;
  std::vector<Real> grad_o, operand_grad_o;  ///< as given, and as an operand of products
  KeySums<Real> dk, dv;
  ParameterSums<Real> parameters;
  int rows_done = 0;  ///< of the sequence
};

/// A query row of one head: the gradients of its logits, then of the scaled products and of what is
/// added to them.
template <class Real>
struct RowGradient {
  Row<Real> row;
  std::vector<int> keys;
  std::vector<Real> product, bias;  ///< of `keys`
  Real by_ssmax = 0;
  std::vector<Real> added_to_q;                  ///< of CoPE's table
  std::vector<Real> output_weight, output_bias;  ///< of DAPE's network
};

}  // namespace plumbline::bench
