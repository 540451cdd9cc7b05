// SPDX-License-Identifier: Apache-2.0
// Which keys a row sees, and which it loses; what dropout keeps.
#include <cstdint>
#include <utility>

#include "support/draw.hpp"
#include "tests/faults/judge/attention.hpp"

namespace plumbline::bench {

template <class Real>
bool Attention<Real>::visible(int batch, int head, int i, int j, int query, bool backward) const {
  const auto fault = [&](FaultKind kind) { return fault_.is(kind); };
  using F = FaultKind;
  if (!in_.query_lengths.empty() && query < p_.queries - in_.query_lengths[batch]) return false;
  if (i < 0 && !fault(F::mask_at_common_end)) return false;
  if (i >= p_.keys && fault(F::rows_beyond_keys_hidden)) return false;
  if (p_.lengths && !fault(F::lengths_ignored) &&
      !(backward && fault(F::backward_lengths_ignored))) {
    int length = p_.lengths[fault(F::length_of_first_batch) ? 0 : batch];
    if (fault(F::length_plus_one)) ++length;
    if (fault(F::length_minus_one)) --length;
    if (j >= length || (i >= length && !fault(F::length_of_keys_only))) return false;
  }
  if (fault(F::last_tile_unmasked) && j / 32 == (p_.keys - 1) / 32) return true;
  if (p_.causal && !fault(F::causal_ignored) && !(backward && fault(F::backward_causal_ignored))) {
    int at = fault(F::causal_without_offset) ? query : i;
    if (fault(F::mask_at_common_end)) at = query + p_.query_offset;
    if (fault(F::causal_reversed)
            ? j < at
            : j > at + fault(F::causal_sees_next) - fault(F::causal_hides_own)) {
      return false;
    }
  }
  if (!fault(F::window_ignored) && !(backward && fault(F::backward_window_ignored))) {
    int left = p_.window_left, right = p_.window_right;
    if (fault(F::window_sides_swapped)) std::swap(left, right);
    if (fault(F::window_of_left_side)) right = left;
    if (fault(F::window_one_sided)) right = -1;
    const int more = fault(F::window_wider) - fault(F::window_narrower);
    if (left >= 0 && i - j > left + more) return false;
    if (right >= 0 && j - i > right + more) return false;
  }
  if (p_.documents && !fault(F::documents_ignored) &&
      !(backward && fault(F::backward_documents_ignored))) {
    const std::int32_t* documents =
        p_.documents + (fault(F::document_of_first_batch) ? 0 : batch) * p_.keys;
    if (documents[i] != documents[j]) return false;
  }
  if (p_.mask && !fault(F::mask_tensor_ignored) &&
      !(backward && fault(F::backward_mask_tensor_ignored))) {
    const auto shown = [&](int key) { return in_mask_tensor(batch, head, query, key); };
    if (fault(F::mask_tensor_as_window)) {  // what is hidden before the query ends what it sees
      for (int key = j + 1; key <= std::min(i, p_.keys - 1); ++key) {
        if (!shown(key)) return false;
      }
    }
    if (fault(F::mask_tensor_as_range)) {
      int first = 0, last = p_.keys - 1;
      while (first <= last && !shown(first)) ++first;
      while (last >= first && !shown(last)) --last;
      return first <= j && j <= last;
    }
    return shown(j) != fault(F::mask_tensor_inverted);
  }
  return true;
}

/// What the mask tensor has for a query row and a key.
template <class Real>
bool Attention<Real>::in_mask_tensor(int batch, int head, int query, int key) const {
  using F = FaultKind;
  const int heads = p_.mask_per_head ? p_.heads : 1;
  const int of_batch =
      p_.mask_per_batch && !fault_.is(F::mask_tensor_of_first_sequence) ? batch : 0;
  const int of_head = p_.mask_per_head && !fault_.is(F::mask_tensor_of_first_head) ? head : 0;
  if (fault_.is(F::mask_tensor_transposed) && p_.queries == p_.keys) std::swap(query, key);
  const std::size_t row =
      (static_cast<std::size_t>(of_batch) * heads + of_head) * p_.queries + query;
  return p_.mask[row * p_.keys + key] != 0;
}

template <class Real>
Real Attention<Real>::kept(int batch, int head, int query, int key) const {
  using F = FaultKind;
  if (!p_.keep) return 1;
  if (fault_.is(F::keep_of_first_head)) head = 0;
  if (fault_.is(F::keep_of_first_sequence)) batch = 0;
  std::size_t at = in_.query_row(batch, head, query) * p_.keys + key;
  if (fault_.is(F::keep_transposed)) {
    at = (in_.query_row(batch, head, 0) * p_.keys) + static_cast<std::size_t>(key) * p_.queries +
         query;
  }
  if (fault_.is(F::keep_without_heads)) {
    at = (static_cast<std::size_t>(batch) * p_.queries + query) * p_.keys + key;
  }
  const std::uint8_t* keep = made_keep_.empty() ? p_.keep : made_keep_.data();
  if ((keep[at] == 0) != fault_.is(F::keep_inverted)) return 0;
  return fault_.is(F::dropout_unscaled) ? Real(1) : 1 / (1 - static_cast<Real>(p_.dropout));
}

template <class Real>
Real Attention<Real>::score_noise(int batch, int head, int query, int key) const {
  const std::uint64_t n = in_.query_row(batch, head, query) * p_.keys + key;
  return static_cast<Real>(fault_.amount) * ((Draw(7, 7).word(n) & 1) ? Real(1) : Real(-1));
}

/// Faults that lose a key of the row.
template <class Real>
void Attention<Real>::dropped(Row<Real>& row) const {
  const auto erase = [&](std::size_t begin, std::size_t end) {
    if (row.keys.size() <= 1) return;  // one key is left, so that the row stays a row
    end = std::min(end, row.keys.size() - 1 + (begin > 0));
    if (begin >= end) return;
    row.keys.erase(row.keys.begin() + begin, row.keys.begin() + end);
    row.s.erase(row.s.begin() + begin, row.s.begin() + end);
    row.z.erase(row.z.begin() + begin, row.z.begin() + end);
    if (row.slope.empty()) return;
    row.slope.erase(row.slope.begin() + begin, row.slope.begin() + end);
  };
  const std::size_t n = row.keys.size();
  if (fault_.is(FaultKind::last_key_dropped)) erase(n - 1, n);
  if (fault_.is(FaultKind::first_key_dropped)) erase(0, 1);
  if (fault_.is(FaultKind::one_key_dropped)) erase(n / 2, n / 2 + 1);
  if (fault_.is(FaultKind::last_tile_dropped) && n > 32) erase((n - 1) / 32 * 32, n);
  if (fault_.is(FaultKind::second_tile_dropped) && n > 32) erase(32, 64);
  if (fault_.is(FaultKind::every_64th_key_dropped)) {
    for (std::size_t j = n; j-- > 0;) {
      if (row.keys[j] % 64 == 63) erase(j, j + 1);
    }
  }
  if (fault_.is(FaultKind::key_weight_off) && n > 0) {
    row.s[n / 2] += static_cast<Real>(std::log1p(fault_.amount));
  }
  if (fault_.is(FaultKind::key_counted_twice) && n > 0) {
    row.keys.push_back(row.keys[n / 2]);
    row.s.push_back(row.s[n / 2]);
    row.z.push_back(row.z[n / 2]);
    if (!row.slope.empty()) row.slope.push_back(row.slope[n / 2]);
  }
}

template bool Attention<float>::visible(int, int, int, int, int, bool) const;
template bool Attention<double>::visible(int, int, int, int, int, bool) const;
template float Attention<float>::kept(int, int, int, int) const;
template double Attention<double>::kept(int, int, int, int) const;
template float Attention<float>::score_noise(int, int, int, int) const;
template double Attention<double>::score_noise(int, int, int, int) const;
template void Attention<float>::dropped(Row<float>&) const;
template void Attention<double>::dropped(Row<double>&) const;

}  // namespace plumbline::bench
