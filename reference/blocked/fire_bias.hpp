// SPDX-License-Identifier: Apache-2.0
// FIRE at real size: logarithms once for each distance and each query, the network over tiles.
#pragma once

#include <utility>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/bias/fire.hpp"
#include "reference/blocked/kernels.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference::blocked {

class FireBias final : public DifferentiableTileBias<FireParameters<double>> {
 public:
  FireBias(Fire<double> bias, const AttentionShape& shape);

  void check(const AttentionShape& shape, const Mask& mask) const override;
  void add_to(const Tile& tile, double* scores) const override;
  std::unique_ptr<BiasSums> zero_sums() const override;
  void accumulate(const Tile& tile, const double* grad, BiasSums& sums) const override;
  void merge(BiasSums& sums, const BiasSums& more) const override;
  FireParameters<double> grad(const BiasSums& sums) const override;

 private:
  struct Sums final : BiasSums {
    explicit Sums(FireParameters<double> zero) : grad(std::move(zero)) {}
    FireParameters<double> grad;  ///< c and L: before the signs of c and L L0
  };
  FireArguments arguments() const;

  Fire<double> bias_;
  std::vector<double> log_distance_, distance_rate_;           ///< [keys], by distance
  std::vector<double> divisor_, reach_rate_, threshold_rate_;  ///< [keys], by position
};

}  // namespace plumbline::reference::blocked
