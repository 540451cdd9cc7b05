// SPDX-License-Identifier: Apache-2.0
// Biases that depend on the distance of query and key alone: the equation is evaluated once for
// each distance, and gradients are summed for each distance before they go to the parameters.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/bias.hpp"
#include "reference/bias/nope.hpp"
#include "reference/bias/of_heads.hpp"
#include "reference/bias/t5.hpp"
#include "reference/blocked/kernels.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference::blocked {

/// Whether b_ij depends on j - i alone, as those of of_heads.hpp do.
template <class B>
inline constexpr bool depends_on_distance = requires {
  B::parameters;
};
template <>
inline constexpr bool depends_on_distance<Alibi<double>> = true;
template <class Row>
inline constexpr bool depends_on_distance<RelativeTable<double, Row>> = true;

template <DifferentiableBias<double> B>
requires depends_on_distance<B>
class DistanceBias final : public DifferentiableTileBias<typename B::Grad> {
 public:
  using Grad = typename B::Grad;

  /// Evaluates the bias for every distance that the mask lets a row see.
  /// @throws std::invalid_argument for a shape of no attention, or a negative window.
  DistanceBias(B bias, const AttentionShape& shape, const Mask& mask)
      : bias_(std::move(bias)), keys_(shape.keys) {
    check_shape(shape);
    require(keys_ <= 1 << 30, "keys", keys_, "at most 2^30");  // the table has an int's places
    reference::check(mask.window);
    first_ = -farthest(keys_, mask.window.left);
    last_ = mask.causal ? 0 : farthest(keys_, mask.window.right);
    table_.assign(2 * keys_ - 1, 0.0);
    for (int offset = first_; offset <= last_; ++offset) {
      table_[keys_ - 1 + offset] = bias_(std::max(0, -offset), std::max(0, offset));
    }
  }

  void check(const AttentionShape& shape, const Mask& mask) const override {
    require(keys_ >= shape.keys, "keys of the bias", keys_, "at least those of the problem");
    require(-first_ >= farthest(shape.keys, mask.window.left), "distance of the bias", -first_,
            "as far as the mask shows keys");
    require(mask.causal || last_ >= farthest(shape.keys, mask.window.right),
            "distance of the bias to later keys", last_, "as far as the mask shows them");
  }

  void add_to(const Tile& tile, double* scores) const override {
    kernels().add_table(tile, table_.data() + keys_ - 1, scores);
  }

  std::unique_ptr<BiasSums> zero_sums() const override {
    return std::make_unique<Sums>(has_parameters ? table_.size() : 0);
  }
  void accumulate(const Tile& tile, const double* grad, BiasSums& sums) const override {
    if (!has_parameters) return;
    kernels().accumulate_table(tile, grad, static_cast<Sums&>(sums).table.data() + keys_ - 1);
  }
  void merge(BiasSums& sums, const BiasSums& more) const override {
    std::vector<double>& table = static_cast<Sums&>(sums).table;
    const std::vector<double>& other = static_cast<const Sums&>(more).table;
    for (std::size_t n = 0; n < table.size(); ++n) table[n] += other[n];
  }

  Grad grad(const BiasSums& sums) const override {
    Grad result = bias_.zero_grad();
    if (!has_parameters) return result;
    const std::vector<double>& table = static_cast<const Sums&>(sums).table;
    for (int offset = first_; offset <= last_; ++offset) {
      bias_.accumulate_grad(result, std::max(0, -offset), std::max(0, offset),
                            table[keys_ - 1 + offset]);
    }
    return result;
  }

 private:
  static int farthest(int keys, int limit) {
    return limit < 0 ? keys - 1 : std::min(limit, keys - 1);
  }

  static constexpr bool has_parameters = !std::is_empty_v<Grad>;
  struct Sums final : BiasSums {
    explicit Sums(std::size_t size) : table(size, 0.0) {}
    std::vector<double> table;
  };

  B bias_;
  int keys_, first_ = 0, last_ = 0;
  std::vector<double> table_;  ///< [2 keys - 1]: that of j - i is table_[keys - 1 + j - i]
};

}  // namespace plumbline::reference::blocked
