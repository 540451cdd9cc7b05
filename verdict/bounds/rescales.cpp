// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/rescales.hpp"

#include <algorithm>
#include <vector>

namespace plumbline::verdict {
namespace {

/// How often the running maximum grows while the keys are read in this order.
int rescales_in_order(std::span<const double> score) {
  int rescales = 0;
  double maximum = score[0];
  for (const double s : score) {
    if (s > maximum) {
      maximum = s;
      ++rescales;
    }
  }
  return rescales;
}

/// The longest rise of any selection of the keys, read in this order: where a kernel leaves keys
/// out, those that it reads may hold more records than all of them do.
int rescales_of_a_selection(std::span<const double> score) {
  std::vector<double> ends;  // ends[n]: the lowest score that a rise of n + 1 keys can end with
  for (const double s : score) {
    const auto place = std::lower_bound(ends.begin(), ends.end(), s);
    if (place == ends.end()) {
      ends.push_back(s);
    } else {
      *place = s;
    }
  }
  return static_cast<int>(ends.size());
}

}  // namespace

int rescales(std::span<const double> score, int splits, bool keys_left_out) {
  const std::size_t n = score.size();
  const std::vector<double> reversed(score.rbegin(), score.rend());
  const int merges = static_cast<int>(std::min<std::size_t>(splits, n)) - 1;
  if (keys_left_out) {
    return std::max(rescales_of_a_selection(score), rescales_of_a_selection(reversed)) + merges;
  }
  int most = std::max(rescales_in_order(score), rescales_in_order(reversed));
  if (splits <= 1) return most;
  // A split is some range of the keys, and its records are at most those from its first key to the
  // last one: 1 for the next larger key, and those from there on.
  for (const auto& keys : {std::span<const double>(score), std::span<const double>(reversed)}) {
    std::vector<std::size_t> larger;  // the records that lie ahead, nearest last
    for (std::size_t j = n; j-- > 0;) {
      while (!larger.empty() && keys[larger.back()] <= keys[j]) larger.pop_back();
      most = std::max(most, static_cast<int>(larger.size()));
      larger.push_back(j);
    }
  }
  return most + merges;
}

}  // namespace plumbline::verdict
