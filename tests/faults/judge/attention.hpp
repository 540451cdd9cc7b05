// SPDX-License-Identifier: Apache-2.0
// The campaign's kernel: flash attention in plain loops, tile by tile, with its variants and
// faults. It shares nothing with the oracle. Read in double and without a fault it is the
// reference of other suites' criteria.
#pragma once

#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "tests/faults/judge/bias.hpp"
#include "tests/faults/judge/cope.hpp"
#include "tests/faults/judge/dape.hpp"
#include "tests/faults/judge/variant.hpp"

namespace plumbline::bench {

/// What a pass gives, layouts as in plumbline_kernel.h.
template <class Real>
struct Results {
  std::vector<Real> o, lse, grad_q, grad_k, grad_v;
  std::array<std::vector<Real>, PLUMBLINE_PARAMETER_COUNT> grad_parameters;
};

/// The visible keys of a row and their scores.
template <class Real>
struct Row {
  std::vector<int> keys;
  std::vector<Real> z, s;     ///< scaled product and bias; times the factor of SSMax
  std::vector<Real> slope{};  ///< softcap: derivatives of capped products
  Real factor = 1, log_n = 0;
  CopeRow<Real> cope{};  ///< where the bias is CoPE
};

template <class Real>
struct BackwardSums;
template <class Real>
struct RowGradient;

template <class Real>
class Attention {
 public:
  Attention(const Problem& problem, const Variant& variant, const Fault& fault);

  /// Fills o and lse.
  void forward(Results<Real>& results) const;
  /// Fills the gradients. @param wanted the parameters that have one.
  void backward(Results<Real>& results,
                const std::array<bool, PLUMBLINE_PARAMETER_COUNT>& wanted) const;

  /// Scores of a row; `backward` for faults of the backward pass alone.
  Row<Real> row(int batch, int head, int query, bool backward) const;
  Real product(const Real* a, const Real* b, int size) const;
  int kv_head(int head) const;
  /// m_ij: what dropout multiplies P with.
  Real kept(int batch, int head, int query, int key) const;
  /// A scaled product with the softcap. @param slope is given its derivative
  Real capped(Real x, bool backward, Real& slope) const;
  /// The logit of a head's sink.
  Real sink(int head) const;
  bool has_sinks() const;
  /// Whether it is all that a row without a key sees.
  bool sees_sink_alone() const;

 private:
  /// Maximum, sum and weighted values of a range of a row's keys; the maximum of base 2 where the
  /// scores are folded.
  struct Partial {
    Real maximum, sum;
    std::vector<Real> values;
  };
  bool visible(int batch, int head, int i, int j, int query, bool backward) const;
  bool in_mask_tensor(int batch, int head, int query, int key) const;
  Real scaled_product(int batch, int head, int query, int key, bool backward) const;
  const DapeRow<Real>& dape_row(int batch, int query, bool backward) const;
  CopeRow<Real> cope_row(int batch, int head, int query, const std::vector<int>& keys,
                         const std::vector<Real>& scores) const;
  std::vector<Real> added(int batch, int head, int query, Row<Real>& row, bool backward) const;
  Real score_noise(int batch, int head, int query, int key) const;
  Real operand(Real x) const;
  double part() const;
  Real weight(Real p) const;
  Real weight(Real p, Real kept) const;
  Real exp(Real x) const;
  void dropped(Row<Real>& row) const;
  Partial range(const Row<Real>& row, int batch, int head, int query, std::size_t begin,
                std::size_t end, bool with_sink) const;
  void add_sink(Partial& part, int head) const;
  std::vector<Partial> ranges(const Row<Real>& row, int batch, int head, int query,
                              bool with_sink) const;
  void finish(const std::vector<Partial>& parts, const Row<Real>& row, Real* o, Real* lse) const;
  void forward_row(int batch, int head, int query, Results<Real>& results) const;
  void empty_row(int batch, int head, int query, Real* o, Real* lse) const;

  // The backward pass of a row: through the softmax, through what is added to the scores, and into
  // the products.
  RowGradient<Real> softmax_gradient(int batch, int head, int query,
                                     BackwardSums<Real>& sums) const;
  Real grad_lse(std::size_t row) const;
  Real lone_sink_gradient(int head, std::size_t row, const BackwardSums<Real>& sums) const;
  void share_empty_row(int batch, int head, int query, BackwardSums<Real>& sums) const;
  int unless_rotated(int format) const;
  void dape_gradient(int batch, int query, std::vector<RowGradient<Real>>& heads,
                     BackwardSums<Real>& sums) const;
  void cope_gradient(int batch, int head, int query, RowGradient<Real>& grad,
                     BackwardSums<Real>& sums) const;
  void product_gradient(int batch, int head, int query, const RowGradient<Real>& grad,
                        BackwardSums<Real>& sums) const;

  const Problem& in_;
  const plumbline_problem& p_;
  const Variant& variant_;
  const Fault& fault_;
  Bias<Real> bias_;
  Cope<Real> cope_;
  Dape<Real> dape_;
  std::vector<Real> q_, k_, v_;  ///< rotated by RoPE, rounded as operands
  Real scale_;
  std::vector<std::uint8_t> made_keep_;  ///< where the kernel makes it
  mutable std::vector<Real> left_over_;  ///< what stale_accumulator finds there
  mutable std::uint64_t dithered_ = 0;   ///< roundings drawn so far
  /// By batch, query row and pass: computed once for all heads.
  mutable std::map<std::tuple<int, int, bool>, DapeRow<Real>> dape_rows_;
};

/// Rotates every row's pairs by its position, forwards (sign 1) or back (-1).
template <class Real>
void rotate(std::vector<Real>& rows, const plumbline_problem& p, int rows_of_head, int sign,
            bool keys, const Fault& fault);

}  // namespace plumbline::bench
