// SPDX-License-Identifier: Apache-2.0
// Any bias of the equations, one call a score: right for each of them, and slow.
#pragma once

#include <utility>

#include "reference/bias/bias.hpp"
#include "reference/blocked/prefix_bias.hpp"
#include "reference/blocked/tile_bias.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference::blocked {

template <DifferentiableBias<double> B>
class ScalarBias final : public DifferentiableTileBias<typename B::Grad> {
 public:
  explicit ScalarBias(B bias) : bias_(std::move(bias)) {}

  void check(const AttentionShape& shape, const Mask&) const override {
    check_positions(bias_, shape);
  }

  void add_to(const Tile& tile, double* scores) const override {
    for_each_visible(tile, [&](std::size_t place, int i, int j) { scores[place] += bias_(i, j); });
  }

  std::unique_ptr<BiasSums> zero_sums() const override {
    return std::make_unique<Sums>(bias_.zero_grad());
  }
  void accumulate(const Tile& tile, const double* grad, BiasSums& sums) const override {
    for_each_visible(tile, [&](std::size_t place, int i, int j) {
      bias_.accumulate_grad(static_cast<Sums&>(sums).grad, i, j, grad[place]);
    });
  }
  /// Nothing is known of Grad, so its numbers cannot be added.
  bool can_merge() const override { return false; }
  void merge(BiasSums&, const BiasSums&) const override {}

  typename B::Grad grad(const BiasSums& sums) const override {
    return static_cast<const Sums&>(sums).grad;
  }

 private:
  struct Sums final : BiasSums {
    explicit Sums(typename B::Grad zero) : grad(std::move(zero)) {}
    typename B::Grad grad;
  };

  template <class F>
  static void for_each_visible(const Tile& tile, const F& f) {
    for (std::size_t r = 0; r < tile.query.size(); ++r) {
      for (std::size_t n = 0; n < tile.key.size(); ++n) {
        const int j = tile.key[n];
        if (tile.visible[r].begin <= j && j < tile.visible[r].end) {
          f(r * tile.key.size() + n, tile.query[r], j);
        }
      }
    }
  }

  B bias_;
};

}  // namespace plumbline::reference::blocked
