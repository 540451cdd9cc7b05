// SPDX-License-Identifier: Apache-2.0
#include "reference/blocked/fire_bias.hpp"

#include <cmath>

namespace plumbline::reference::blocked {

FireBias::FireBias(Fire<double> bias, const AttentionShape& shape) : bias_(std::move(bias)) {
  const double c = std::fabs(bias_.parameters().c);
  for (int n = 0; n < shape.keys; ++n) {
    const double d = n, m = bias_.reach(n);
    log_distance_.push_back(std::log1p(c * d));
    distance_rate_.push_back(d / (1.0 + c * d));
    divisor_.push_back(bias_.divisor(n));
    reach_rate_.push_back(m / (1.0 + c * m));
    threshold_rate_.push_back(d > bias_.threshold() ? 0.0 : c / (1.0 + c * m));
  }
}

FireArguments FireBias::arguments() const {
  const FireParameters<double>& of = bias_.parameters();
  return {static_cast<int>(of.hidden_weight.size()),
          of.hidden_weight.data(),
          of.hidden_bias.data(),
          of.output_weight.data(),
          of.output_bias,
          log_distance_.data(),
          distance_rate_.data(),
          divisor_.data(),
          reach_rate_.data(),
          threshold_rate_.data()};
}

void FireBias::check(const AttentionShape& shape, const Mask&) const {
  require(static_cast<int>(divisor_.size()) >= shape.keys, "keys of the bias", divisor_.size(),
          "at least those of the problem");
}

void FireBias::add_to(const Tile& tile, double* scores) const {
  kernels().add_fire(tile, arguments(), scores);
}

std::unique_ptr<BiasSums> FireBias::zero_sums() const {
  return std::make_unique<Sums>(bias_.zero_grad());
}

void FireBias::accumulate(const Tile& tile, const double* grad, BiasSums& sums) const {
  FireParameters<double>& to = static_cast<Sums&>(sums).grad;
  kernels().accumulate_fire(tile, arguments(), grad,
                            {to.hidden_weight.data(), to.hidden_bias.data(),
                             to.output_weight.data(), &to.output_bias, &to.c, &to.L});
}

void FireBias::merge(BiasSums& sums, const BiasSums& more) const {
  FireParameters<double>& to = static_cast<Sums&>(sums).grad;
  const FireParameters<double>& from = static_cast<const Sums&>(more).grad;
  to.hidden_weight += from.hidden_weight;
  to.hidden_bias += from.hidden_bias;
  to.output_weight += from.output_weight;
  to.output_bias += from.output_bias;
  to.c += from.c;
  to.L += from.L;
}

FireParameters<double> FireBias::grad(const BiasSums& sums) const {
  FireParameters<double> grad = static_cast<const Sums&>(sums).grad;
  grad.c *= sign(bias_.parameters().c);
  grad.L *= bias_.threshold_rate();
  return grad;
}

}  // namespace plumbline::reference::blocked
