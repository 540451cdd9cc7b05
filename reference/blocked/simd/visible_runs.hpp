// SPDX-License-Identifier: Apache-2.0
// Masks as index sets, inside a tile.
#pragma once

#include <algorithm>
#include <span>

#include "reference/core/mask.hpp"

namespace plumbline::reference::blocked::simd {

/// The places in `keys`, which ascend, of the keys in a range.
inline KeyRange places(std::span<const int> keys, KeyRange range) {
  const int count = static_cast<int>(keys.size());
  if (keys.back() - keys.front() == count - 1) {  // neighbours: no search
    const int begin = std::clamp(range.begin - keys.front(), 0, count);
    return {begin, std::max(begin, std::clamp(range.end - keys.front(), 0, count))};
  }
  const auto at = [&](int position) {
    return static_cast<int>(std::ranges::lower_bound(keys, position) - keys.begin());
  };
  const int begin = at(range.begin);
  return {begin, std::max(begin, at(range.end))};
}

/// Calls run(begin, end) for each run of places in `keys` that the row at `position` sees,
/// ascending. `document` is by position, or null.
template <class Run>
void for_each_run(std::span<const int> keys, KeyRange visible, const int* document, int position,
                  const Run& run) {
  const KeyRange range = places(keys, visible);
  if (!document) {
    if (range.begin < range.end) run(range.begin, range.end);
    return;
  }
  const int own = document[position];
  for (int begin = range.begin, n = range.begin; n <= range.end; ++n) {
    if (n < range.end && document[keys[n]] == own) continue;
    if (begin < n) run(begin, n);
    begin = n + 1;
  }
}

/// The keys that at least one of the rows may see.
inline KeyRange seen_by_any(std::span<const KeyRange> visible) {
  KeyRange all{0, 0};
  bool any = false;
  for (const KeyRange& range : visible) {
    if (range.begin >= range.end) continue;
    all = any ? KeyRange{std::min(all.begin, range.begin), std::max(all.end, range.end)} : range;
    any = true;
  }
  return all;
}

}  // namespace plumbline::reference::blocked::simd
