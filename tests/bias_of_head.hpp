// SPDX-License-Identifier: Apache-2.0
// Biases of the offset and numbers of the head, for kernels of the tests: written from
// plumbline_kernel.h alone.
#pragma once

#include <array>
#include <cmath>
#include <stdexcept>

#include "kernel_abi/plumbline_kernel.h"

namespace plumbline::test {

/// b of offset i - j, and its derivatives in the method's parameters, in the order of the table of
/// methods.
template <class Real>
struct BiasOfHead {
  Real value;
  std::array<Real, 3> derivatives{};
};

/// @param number the head's parameters, in that order.
/// @throws std::invalid_argument for a bias of another kind.
template <class Real>
BiasOfHead<Real> bias_of_head(int bias, const double* options, const std::array<Real, 3>& number,
                              int offset) {
  const Real x = static_cast<Real>(std::abs(offset));
  switch (bias) {
    case PLUMBLINE_GGD: {
      const auto& [alpha, beta, mu] = number;
      const Real factor = std::exp(alpha), shift = std::exp(mu) - std::exp(-mu);
      const Real from = static_cast<Real>(-offset) - shift;
      const Real base = std::abs(from) + static_cast<Real>(options[PLUMBLINE_EPSILON]);
      const Real b = -factor * std::pow(base, beta);
      const Real sign = from > 0 ? Real(1) : from < 0 ? Real(-1) : Real(0);
      return {b,
              {b, b * std::log(base),
               factor * beta * std::pow(base, beta - 1) * sign * (std::exp(mu) + std::exp(-mu))}};
    }
    case PLUMBLINE_KERPLE_LOG: {
      const Real p = number[0], a = number[1], logarithm = std::log1p(a * x);
      return {-p * logarithm, {-logarithm, -p * x / (1 + a * x)}};
    }
    case PLUMBLINE_KERPLE_POWER: {
      if (offset == 0) return {0};
      const Real p = number[0], a = number[1], power = std::pow(x, p);
      return {-a * power, {-a * power * std::log(x), -power}};
    }
    case PLUMBLINE_SANDWICH: {
      Real sum = 0;
      for (int k = 1; k <= 64; ++k) {
        sum += std::cos(x * std::pow(Real(10000), -static_cast<Real>(k) / 64));
      }
      const Real b = (sum - 64) / number[0];
      return {b, {-b / number[0]}};
    }
  }
  throw std::invalid_argument("no bias of the head that tests/bias_of_head.hpp has");
}

}  // namespace plumbline::test
