// SPDX-License-Identifier: Apache-2.0
// Attention of a block of rows, streaming over tiles of keys.
// Source: Milakov, Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867;
// Dao, "FlashAttention-2", arXiv:2307.08691, algorithm 1.
#include <array>
#include <cmath>

#include "reference/blocked/simd/functions.hpp"
#include "reference/blocked/simd/matrices.hpp"
#include "reference/blocked/simd/visible_runs.hpp"

namespace plumbline::reference::blocked::simd {
namespace {

/// The softmax of a row as far as it has come.
struct RowState {
  bool started = false;
  double largest = 0.0;  ///< m
  double total = 0.0;    ///< sum_j e^(s_j - m)
};

/// Replaces a row of logits by e^(s - m), 0 where it is not seen, m being the largest logit so far;
/// returns what earlier sums must be multiplied with.
double exponentials(ArrayMap s, std::span<const int> keys, KeyRange visible, const int* document,
                    int position, RowState& state) {
  double largest = state.largest;
  bool any = state.started;
  for_each_run(keys, visible, document, position, [&](int begin, int end) {
    const double here = s.segment(begin, end - begin).maxCoeff();
    largest = any ? std::max(largest, here) : here;
    any = true;
  });
  if (!any) {
    s.setZero();
    return 1.0;
  }
  const double rescale = state.started ? std::exp(state.largest - largest) : 1.0;
  double total = 0.0;
  int done = 0;
  for_each_run(keys, visible, document, position, [&](int begin, int end) {
    s.segment(done, begin - done).setZero();
    auto run = s.segment(begin, end - begin);
    run = (run - largest).exp();
    total += run.sum();
    done = end;
  });
  s.tail(s.size() - done).setZero();
  state = {true, largest, state.total * rescale + total};
  return rescale;
}

}  // namespace

void forward(const Head& head, const QueryRows& rows, std::span<const int> keys,
             const Scratch& scratch, double* output, double* lse, std::uint8_t* sees_no_key) {
  const int count = static_cast<int>(rows.row.size()), columns = head.q.columns;
  const bool ssmax = !rows.log_count.empty();
  const ConstMatrixMap Q(load_rows(head.q, rows.row, scratch.q), count, columns);
  MatrixMap O(output, count, columns);
  O.setZero();
  std::array<RowState, row_tile> states{};

  const KeyRange seen = places(keys, seen_by_any(rows.visible));
  for (int first = seen.begin; first < seen.end; first += key_tile) {
    const int n = std::min(key_tile, seen.end - first);
    const std::span<const int> tile_keys = keys.subspan(first, n);
    const ConstMatrixMap K(load_rows(head.k, tile_keys, scratch.k), n, columns);
    MatrixMap S(scratch.tile[0], count, n);
    S.noalias() = head.scale * (Q * K.transpose());
    if (head.bias) head.bias->add_to({rows.position, tile_keys, rows.visible}, S.data());
    for (int r = 0; r < count; ++r) {
      ArrayMap s = row_of(S.data(), r, n);
      if (ssmax) s *= rows.ssmax_scale * rows.log_count[r];
      const double rescale =
          exponentials(s, tile_keys, rows.visible[r], head.document, rows.position[r], states[r]);
      if (rescale != 1.0) O.row(r) *= rescale;
    }
    const ConstMatrixMap V(load_rows(head.v, tile_keys, scratch.v), n, columns);
    O.noalias() += S * V;
  }
  for (int r = 0; r < count; ++r) {
    const RowState& state = states[r];
    sees_no_key[r] = !state.started;
    lse[r] = state.started ? state.largest + std::log(state.total) : 0.0;
    if (state.started) O.row(r) /= state.total;
  }
}

}  // namespace plumbline::reference::blocked::simd
