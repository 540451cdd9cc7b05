// SPDX-License-Identifier: Apache-2.0
// The order in which the gradients of an update's parts are added, and which rank has which part.
// Host code.
#pragma once

#include <vector>

namespace plumbline::gpu {

/// Parts begin, ..., end - 1 of an update.
struct PartRange {
  int begin = 0, end = 0;

  int size() const { return end - begin; }
  bool holds(const PartRange& other) const { return begin <= other.begin && other.end <= end; }
};

/// A rank's parts: contiguous, and as many as any other's or one more.
PartRange parts_of(int rank, int ranks, int parts);
/// The rank that has a part.
int rank_of(int part, int ranks, int parts);

/// One addition: the sum over parts begin, ..., middle - 1, plus that over middle, ..., end - 1.
struct Addition {
  int begin = 0, middle = 0, end = 0;
};

/// A binary tree over the parts, children before their parent: parts 2j and 2j + 1 first, then
/// those sums by twos, and so on; what has no partner waits for the next level. Floating-point
/// additions in this order give the same bits wherever each of them is made. Neighbouring parts
/// share most of the tree, so that a rank makes most of its own additions alone.
std::vector<Addition> additions(int parts);

}  // namespace plumbline::gpu
