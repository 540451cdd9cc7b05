// SPDX-License-Identifier: Apache-2.0
// What a positional bias is to blocked attention: a whole tile of scores at once.
#pragma once

#include <memory>
#include <span>

#include "reference/core/mask.hpp"

namespace plumbline::reference {
struct AttentionShape;
}

namespace plumbline::reference::blocked {

/// Query rows and keys whose scores are computed together, by their positions.
struct Tile {
  std::span<const int> query;
  std::span<const int> key;           ///< ascending
  std::span<const KeyRange> visible;  ///< [query]: a row's keys; documents may hide more

  bool keys_are_neighbours() const {
    return key.back() - key.front() == static_cast<int>(key.size()) - 1;
  }
};

/// Where a bias adds up gradients of its parameters. Each unit of work has its own.
struct BiasSums {
  virtual ~BiasSums() = default;
};

/// The bias of one head. Scores and gradients are row-major, [queries of the tile, keys of the
/// tile]. An element that its row does not see may get any finite number, and has gradient 0.
class TileBias {
 public:
  virtual ~TileBias() = default;

  /// @throws std::invalid_argument if it does not reach over the shape's positions or over all that
  /// the mask shows of them: the other functions may then read what is not theirs.
  virtual void check(const AttentionShape& shape, const Mask& mask) const = 0;

  /// scores += b_ij.
  virtual void add_to(const Tile& tile, double* scores) const = 0;

  virtual std::unique_ptr<BiasSums> zero_sums() const = 0;
  /// Adds the parameters' gradients to the sums; grad is the loss's derivative in b_ij.
  virtual void accumulate(const Tile& tile, const double* grad, BiasSums& sums) const = 0;
  /// sums += more. Not called unless can_merge.
  virtual void merge(BiasSums& sums, const BiasSums& more) const = 0;
  /// Whether sums of different keys can be added. If not, one unit of work takes all keys.
  virtual bool can_merge() const { return true; }
};

/// A bias whose parameters' gradients are a `Grad`.
template <class Grad>
class DifferentiableTileBias : public TileBias {
 public:
  virtual Grad grad(const BiasSums& sums) const = 0;
};

}  // namespace plumbline::reference::blocked
