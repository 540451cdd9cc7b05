// SPDX-License-Identifier: Apache-2.0
// Masks as index sets: a key that is not visible is not there. No infinity stands in for it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <vector>

#include "reference/core/preconditions.hpp"

namespace plumbline::reference {

/// Which keys a query sees. A default Mask shows every key (bidirectional attention).
struct Mask {
  bool causal = false;              ///< key j <= query position i
  std::optional<int> window = {};   ///< |i - j| <= window: window + 1 keys on a side, i among them
  std::vector<int> lengths = {};    ///< [batch], or empty; i < lengths[b] and j < lengths[b]
  std::vector<int> documents = {};  ///< [batch * keys], or empty; equal ids of positions i and j
  /// And whatever else must hold of sequence b, position i and key j; or empty.
  std::function<bool(int b, int i, int j)> also = {};
};

/// Neighbouring keys, from `begin` to before `end`; none where begin = end.
struct KeyRange {
  int begin = 0, end = 0;
};

/// The keys that causality, window and lengths let the query at `position` of sequence `batch` see.
/// Document ids and `also` may hide some of them besides.
/// @throws std::invalid_argument as visible_keys.
inline KeyRange visible_range(const Mask& mask, int batch, int position, int keys) {
  require(keys >= 1, "keys", keys, "at least 1");
  require(0 <= position && position < keys, "position", position, "a position in [0, keys)");
  require(batch >= 0, "batch", batch, "at least 0");
  require(!mask.window || *mask.window >= 0, "window", mask.window.value_or(0), "at least 0");
  const bool ragged = !mask.lengths.empty();
  const bool documents = !mask.documents.empty();
  require(!ragged || batch < static_cast<int>(mask.lengths.size()), "batch", batch,
          "a sequence that has a length");
  require(!documents || mask.documents.size() % keys == 0, "documents.size()",
          mask.documents.size(), "a multiple of keys");
  require(!documents || batch < static_cast<int>(mask.documents.size() / keys), "batch", batch,
          "a sequence that has document ids");

  int begin = 0, end = keys;
  if (mask.causal) end = position + 1;
  if (mask.window) {
    begin = std::max(begin, *mask.window < position ? position - *mask.window : 0);
    if (*mask.window < keys - position) end = std::min(end, position + *mask.window + 1);
  }
  if (ragged) end = position < mask.lengths[batch] ? std::min(end, mask.lengths[batch]) : 0;
  return {begin, std::max(begin, end)};
}

/// The keys j in [0, keys) that the query at `position` of sequence `batch` sees, ascending: those
/// for which every condition that the mask names holds. Empty where the row sees nothing.
/// Source: kernel_abi/plumbline_kernel.h. Positions are those of keys (query row + query offset).
/// @throws std::invalid_argument if keys < 1, position is not in [0, keys), window < 0, batch is
/// not in the lengths or documents, or documents is not a whole number of sequences.
inline std::vector<int> visible_keys(const Mask& mask, int batch, int position, int keys) {
  const KeyRange range = visible_range(mask, batch, position, keys);
  const int* document = mask.documents.empty()
                            ? nullptr
                            : mask.documents.data() + static_cast<std::ptrdiff_t>(batch) * keys;
  std::vector<int> visible;
  for (int j = range.begin; j < range.end; ++j) {
    if (document && document[j] != document[position]) continue;
    if (!mask.also || mask.also(batch, position, j)) visible.push_back(j);
  }
  return visible;
}

}  // namespace plumbline::reference
