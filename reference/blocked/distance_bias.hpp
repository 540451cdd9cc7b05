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
#include "reference/bias/ggd.hpp"
#include "reference/bias/kerple.hpp"
#include "reference/bias/nope.hpp"
#include "reference/bias/t5.hpp"
#include "reference/blocked/kernels.hpp"

namespace plumbline::reference::blocked {

/// Whether b_ij depends on j - i alone.
template <class B>
inline constexpr bool depends_on_distance = false;
template <>
inline constexpr bool depends_on_distance<Alibi<double>> = true;
template <>
inline constexpr bool depends_on_distance<KerpleLog<double>> = true;
template <>
inline constexpr bool depends_on_distance<KerplePower<double>> = true;
template <>
inline constexpr bool depends_on_distance<Ggd<double>> = true;
template <class Row>
inline constexpr bool depends_on_distance<RelativeTable<double, Row>> = true;

template <DifferentiableBias<double> B>
requires depends_on_distance<B>
class DistanceBias final : public DifferentiableTileBias<typename B::Grad> {
 public:
  using Grad = typename B::Grad;

  /// Evaluates the bias for every distance that the mask lets a row see.
  DistanceBias(B bias, const AttentionShape& shape, const Mask& mask)
      : bias_(std::move(bias)), keys_(shape.keys), table_(2 * shape.keys - 1, 0.0) {
    const int farthest = std::min(mask.window.value_or(keys_ - 1), keys_ - 1);
    first_ = -farthest;
    last_ = mask.causal ? 0 : farthest;
    for (int offset = first_; offset <= last_; ++offset) {
      table_[keys_ - 1 + offset] = bias_(std::max(0, -offset), std::max(0, offset));
    }
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
