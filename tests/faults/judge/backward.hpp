// SPDX-License-Identifier: Apache-2.0
// What the rows of the backward pass add to.
#pragma once

#include <vector>

#include "tests/faults/judge/parameter_sums.hpp"

namespace plumbline::bench {

/// How sums over the rows are kept.
struct KeptSums {
  int parts;  ///< partial sums, by turns
  int group;  ///< query heads of a key head
  int block;  ///< rows between two roundings to sum_format
  int head_format, sum_format;
};

/// dK or dV, as several partial sums over the rows; of each query head for itself where those, or
/// the sums of blocks of rows, are kept in 16 bits.
template <class Real>
class KeySums {
 public:
  KeySums(std::size_t size, const KeptSums& how, bool cuts, bool overwrites, bool in_bf16)
      : size_(size),
        how_(how),
        cuts_(cuts),
        overwrites_(overwrites),
        in_bf16_(in_bf16),
        by_head_(how.head_format != PLUMBLINE_FP32 || how.sum_format != PLUMBLINE_FP32) {
    if (by_head_) how_.parts = 1;
    sums_.resize((by_head_ ? how_.group : how_.parts) * size, Real(0));
    if (how_.sum_format != PLUMBLINE_FP32) blocks_ = sums_;
  }
  /// @param member of the group. @param row those before it are done.
  void add(std::size_t at, int member, int row, Real term) {
    const std::size_t place = (by_head_ ? member : row % how_.parts) * size_ + at;
    Real& total = blocks_.empty() ? sums_[place] : blocks_[place];
    total = overwrites_ ? term : sum(total, term, cuts_);
    if (in_bf16_) total = lost(total, PLUMBLINE_BF16);
  }
  /// After every row of a sequence. @param last of the sequence.
  void row_is_done(int row, bool last) {
    if (blocks_.empty() || ((row + 1) % how_.block != 0 && !last)) return;
    for (std::size_t n = 0; n < sums_.size(); ++n) {
      sums_[n] = rounded(sums_[n] + rounded(blocks_[n], how_.sum_format), how_.sum_format);
      blocks_[n] = 0;
    }
  }
  std::vector<Real> total(Real factor) const {
    std::vector<Real> result(size_);
    const std::size_t parts = sums_.size() / size_;
    for (std::size_t at = 0; at < size_; ++at) {
      Real total = by_head_ ? of_head(at, factor) : sums_[at];
      for (std::size_t part = 1; part < parts; ++part) {
        const std::size_t place = part * size_ + at;
        total = sum(total, by_head_ ? of_head(place, factor) : sums_[place], cuts_);
      }
      result[at] = by_head_ ? total : total * factor;
    }
    return result;
  }

 private:
  /// As it is stored. Of a head alone it is the sum itself, which the outputs' format rounds.
  Real of_head(std::size_t place, Real factor) const {
    const int format = how_.group > 1 ? how_.head_format : int{PLUMBLINE_FP32};
    return rounded(sums_[place] * factor, format);
  }

  std::size_t size_;
  KeptSums how_;
  bool cuts_, overwrites_, in_bf16_, by_head_;
  std::vector<Real> sums_, blocks_;
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
  Real by_ssmax = 0, by_sink = 0;
  std::vector<Real> added_to_q;                  ///< of CoPE's table
  std::vector<Real> output_weight, output_bias;  ///< of DAPE's network
};

}  // namespace plumbline::bench
