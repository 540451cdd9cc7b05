// SPDX-License-Identifier: Apache-2.0
// Masks as index sets: a key that is not visible is not there. No infinity stands in for it.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "reference/core/preconditions.hpp"

namespace plumbline::reference {

/// A sliding window: i - j <= left and j - i <= right. -1: no limit on that side.
struct Window {
  int left = -1, right = -1;

  Window() = default;
  Window(int both) : left(both), right(both) {}
  Window(int before, int after) : left(before), right(after) {}
  bool hides() const { return left != -1 || right != -1; }
  bool operator==(const Window&) const = default;
};

/// @throws std::invalid_argument for a side below -1.
inline void check(const Window& window) {
  require(window.left >= -1, "window (left)", window.left, "at least 0, or -1 for none");
  require(window.right >= -1, "window (right)", window.right, "at least 0, or -1 for none");
}

/// Which keys a query sees. A default Mask shows every key (bidirectional attention).
struct Mask {
  bool causal = false;              ///< key j <= query position i
  Window window = {};               ///< i - j <= window.left, j - i <= window.right
  std::vector<int> lengths = {};    ///< [batch], or empty; i < lengths[b] and j < lengths[b]
  std::vector<int> documents = {};  ///< [batch * keys], or empty; equal ids of positions i and j
  /// And whatever else must hold of sequence b, query head h, position i and key j; or empty.
  std::function<bool(int b, int h, int i, int j)> also = {};
};

/// Neighbouring keys, from `begin` to before `end`; none where begin = end.
struct KeyRange {
  int begin = 0, end = 0;
};

/// The keys that causality, window and lengths let a query at `position` of sequence `batch` see.
/// Document ids and `also` may hide some of them besides. A position below 0 sees none: a sequence
/// has fewer tokens than rows. One beyond the keys is that of a query which is no key.
/// @throws std::invalid_argument as visible_keys.
inline KeyRange visible_range(const Mask& mask, int batch, int position, int keys) {
  require(keys >= 1, "keys", keys, "at least 1");
  require(batch >= 0, "batch", batch, "at least 0");
  check(mask.window);
  const bool ragged = !mask.lengths.empty();
  const bool documents = !mask.documents.empty();
  require(!ragged || batch < static_cast<int>(mask.lengths.size()), "batch", batch,
          "a sequence that has a length");
  require(!documents || mask.documents.size() % keys == 0, "documents.size()",
          mask.documents.size(), "a multiple of keys");
  require(!documents || batch < static_cast<int>(mask.documents.size() / keys), "batch", batch,
          "a sequence that has document ids");
  require(!documents || position < keys, "position", position, "below keys, with documents");
  if (position < 0) return {0, 0};

  const auto& [left, right] = mask.window;
  int begin = 0, end = keys;
  if (mask.causal && position < keys) end = position + 1;
  if (left >= 0 && left < position) begin = std::min(position - left, keys);
  if (right >= 0 && right < keys - position) end = std::min(end, position + right + 1);
  if (ragged) end = position < mask.lengths[batch] ? std::min(end, mask.lengths[batch]) : 0;
  return {begin, std::max(begin, end)};
}

/// The keys j in [0, keys) that the query at `position` of sequence `batch` sees, ascending: those
/// for which every condition that the mask names holds. Empty where the row sees nothing. Of `head`
/// only `also` may depend.
/// Source: kernel_abi/plumbline_kernel.h.
/// @throws std::invalid_argument if keys < 1, a side of the window is below -1, batch is not in the
/// lengths or documents, documents is not a whole number of sequences, or the position is beyond
/// them.
inline std::vector<int> visible_keys(const Mask& mask, int batch, int position, int keys,
                                     int head = 0) {
  const KeyRange range = visible_range(mask, batch, position, keys);
  const int* document = mask.documents.empty()
                            ? nullptr
                            : mask.documents.data() + static_cast<std::ptrdiff_t>(batch) * keys;
  std::vector<int> visible;
  for (int j = range.begin; j < range.end; ++j) {
    if (document && document[j] != document[position]) continue;
    if (!mask.also || mask.also(batch, head, position, j)) visible.push_back(j);
  }
  return visible;
}

}  // namespace plumbline::reference
