// SPDX-License-Identifier: Apache-2.0
// The gradients that one tile of scores contributes, its probabilities computed again from the LSE.
// Source: Dao, "FlashAttention-2", arXiv:2307.08691, algorithm 2.
#include "reference/blocked/simd/functions.hpp"
#include "reference/blocked/simd/matrices.hpp"
#include "reference/blocked/simd/visible_runs.hpp"

namespace plumbline::reference::blocked::simd {
namespace {

/// A row of logits before SSMax (z) becomes p and ds; 0 where it is not seen. p may be z.
void probabilities(const ArrayMap& z, ArrayMap p, ArrayMap ds, std::span<const int> keys,
                   KeyRange visible, const int* document, int position, double factor, double lse,
                   double shift) {
  int done = 0;
  const auto hide_until = [&](int begin) {
    p.segment(done, begin - done).setZero();
    ds.segment(done, begin - done).setZero();
  };
  for_each_run(keys, visible, document, position, [&](int begin, int end) {
    hide_until(begin);
    const int n = end - begin;
    p.segment(begin, n) = (factor * z.segment(begin, n) - lse).exp();
    ds.segment(begin, n) = p.segment(begin, n) * (ds.segment(begin, n) - shift);
    done = end;
  });
  hide_until(static_cast<int>(p.size()));
}

}  // namespace

void backward(const Head& head, const QueryRows& rows, std::span<const int> keys,
              const RowUpstream& upstream, const Scratch& scratch, const GradientSums& sums) {
  const KeyRange seen = places(keys, seen_by_any(rows.visible));
  if (seen.begin == seen.end) return;
  keys = keys.subspan(seen.begin, seen.end - seen.begin);
  const int count = static_cast<int>(rows.row.size()), n = static_cast<int>(keys.size());
  const int columns = head.q.columns;
  const bool ssmax = !rows.log_count.empty();
  const std::ptrdiff_t skipped = std::ptrdiff_t{seen.begin} * columns;
  const Tile tile{rows.position, keys, rows.visible};

  const ConstMatrixMap Q(load_rows(head.q, rows.row, scratch.q), count, columns);
  const ConstMatrixMap dO(load_rows(upstream.grad_output, upstream.grad_row, scratch.grad_output),
                          count, columns);
  const ConstMatrixMap K(load_rows(head.k, keys, scratch.k), n, columns);
  const ConstMatrixMap V(load_rows(head.v, keys, scratch.v), n, columns);
  MatrixMap Z(scratch.tile[0], count, n), P(scratch.tile[ssmax ? 1 : 0], count, n);
  MatrixMap dS(scratch.tile[2], count, n);

  Z.noalias() = head.scale * (Q * K.transpose());
  if (head.bias) head.bias->add_to(tile, Z.data());
  dS.noalias() = dO * V.transpose();
  for (int r = 0; r < count; ++r) {
    const double factor = ssmax ? rows.ssmax_scale * rows.log_count[r] : 1.0;
    ArrayMap ds = row_of(dS.data(), r, n);
    const ArrayMap z = row_of(Z.data(), r, n);
    probabilities(z, row_of(P.data(), r, n), ds, keys, rows.visible[r], head.document,
                  rows.position[r], factor, upstream.lse[r], upstream.shift[r]);
    if (ssmax) {
      if (sums.ssmax_scale) *sums.ssmax_scale += rows.log_count[r] * (ds * z).sum();
      ds *= factor;
    }
  }
  if (sums.v) MatrixMap(sums.v + skipped, n, columns).noalias() += P.transpose() * dO;
  if (sums.k) {
    MatrixMap(sums.k + skipped, n, columns).noalias() += head.scale * (dS.transpose() * Q);
  }
  if (sums.q) MatrixMap(sums.q, count, columns).noalias() += head.scale * (dS * K);
  if (sums.bias) head.bias->accumulate(tile, dS.data(), *sums.bias);
}

}  // namespace plumbline::reference::blocked::simd
