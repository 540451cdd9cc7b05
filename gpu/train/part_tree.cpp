// SPDX-License-Identifier: Apache-2.0
#include "train/part_tree.hpp"

#include <algorithm>

namespace plumbline::gpu {

namespace {

/// Below the node of `width` leaves, a power of 2, that begins at a part.
void append(int begin, int width, int parts, std::vector<Addition>& all) {
  if (width == 1) return;
  const int middle = begin + width / 2;
  append(begin, width / 2, parts, all);
  if (middle >= parts) return;
  append(middle, width / 2, parts, all);
  all.push_back({begin, middle, std::min(begin + width, parts)});
}

/// The first part of a rank. 64 bits, as the product may not fit into 32.
int first_part(int rank, int ranks, int parts) {
  return static_cast<int>(static_cast<long long>(parts) * rank / ranks);
}

}  // namespace

PartRange parts_of(int rank, int ranks, int parts) {
  return {first_part(rank, ranks, parts), first_part(rank + 1, ranks, parts)};
}

int rank_of(int part, int ranks, int parts) {
  int rank = 0;
  while (first_part(rank + 1, ranks, parts) <= part) ++rank;
  return rank;
}

std::vector<Addition> additions(int parts) {
  int width = 1;
  while (width < parts) width *= 2;
  std::vector<Addition> all;
  append(0, width, parts, all);
  return all;
}

}  // namespace plumbline::gpu
