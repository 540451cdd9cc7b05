// SPDX-License-Identifier: Apache-2.0
#include "verdict/report/error_places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace plumbline::verdict {
namespace {

std::string plural(const std::string& axis) {
  return axis == "query" ? "queries" : axis == "batch" ? "batches" : axis + "s";
}

std::string ordinal(int n) {
  const int tens = n % 100 / 10, ones = n % 10;
  const char* ending = tens == 1 || ones == 0 || ones > 3 ? "th"
                       : ones == 1                        ? "st"
                       : ones == 2                        ? "nd"
                                                          : "rd";
  return fmt::format("{}{}", n, ending);
}

/// " (64 = 1 x 64)": the largest power of two from 16 to 128 that divides an index at which a tile
/// may begin; nothing where none does, or at an end of the axis, where errors end anyway.
std::string tile_of(int edge, int size) {
  for (const int tile : {128, 64, 32, 16}) {
    if (edge > 0 && edge < size - 1 && edge % tile == 0)
      return fmt::format(" ({} = {} x {})", edge, edge / tile, tile);
  }
  return "";
}

/// The distance of indices that are evenly spaced and as many as there are room for; 0 for others.
int period_of(const std::vector<int>& indices, int size) {
  if (indices.size() < 3) return 0;
  const int period = indices[1] - indices[0];
  if (period < 2 || indices.front() >= period || indices.back() + period < size) return 0;
  for (std::size_t n = 1; n < indices.size(); ++n) {
    if (indices[n] - indices[n - 1] != period) return 0;
  }
  return period;
}

constexpr std::size_t most_places_listed = 4;

/// Some indices, not all, of an axis with `size` ones.
std::string in_words(const std::string& axis, const std::vector<int>& indices, int size) {
  const int first = indices.front(), last = indices.back();
  const bool run = last - first + 1 == static_cast<int>(indices.size());
  if (indices.size() == 1) {
    if (last == size - 1 && size > 2 && axis != "head" && axis != "batch") {
      return fmt::format("the last {} ({})", axis, last);
    }
    return fmt::format("{} {}", axis, first);
  }
  if (run && last == size - 1)
    return fmt::format("{} from {} on{}", plural(axis), first, tile_of(first, size));
  if (run) {
    // Either end may be the tile's.
    const std::string tile =
        tile_of(last + 1, size).empty() ? tile_of(first, size) : tile_of(last + 1, size);
    return fmt::format("{} {} to {}{}", plural(axis), first, last, tile);
  }
  if (const int period = period_of(indices, size)) {
    return fmt::format("every {} {} from {} on", ordinal(period), axis, first);
  }
  if (indices.size() <= most_places_listed) {
    std::string list;
    for (std::size_t n = 0; n < indices.size(); ++n) {
      list += (n == 0 ? "" : n + 1 == indices.size() ? " and " : ", ") + std::to_string(indices[n]);
    }
    return plural(axis) + " " + list;
  }
  return fmt::format("{} of {} {}, between {} and {}", indices.size(), size, plural(axis), first,
                     last);
}

}  // namespace

std::string where_it_fails(const OutputJudgement& output) {
  const std::size_t axes = output.shape.size();
  std::vector<std::vector<bool>> fails(axes);
  for (std::size_t axis = 0; axis < axes; ++axis) fails[axis].assign(output.shape[axis], false);
  for (std::size_t n = 0; n < output.ratios.size(); ++n) {
    if (!(output.ratios[n] > 1)) continue;
    std::size_t rest = n;
    for (std::size_t axis = axes; axis-- > 0;) {
      fails[axis][rest % output.shape[axis]] = true;
      rest /= output.shape[axis];
    }
  }
  std::string words;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::vector<int> indices;
    for (int index = 0; index < output.shape[axis]; ++index) {
      if (fails[axis][index]) indices.push_back(index);
    }
    if (indices.empty() || static_cast<int>(indices.size()) == output.shape[axis]) continue;
    words += (words.empty() ? "" : "; ") + in_words(output.axes[axis], indices, output.shape[axis]);
  }
  return words;
}

}  // namespace plumbline::verdict
