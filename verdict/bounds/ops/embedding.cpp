// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/ops/embedding.hpp"

#include <cstddef>

namespace plumbline::op_bounds {

double embedding_limit(const std::vector<Computed>& parts, const Storage& storage) {
  Computed total = parts.at(0);
  for (std::size_t n = 1; n < parts.size(); ++n) total = total + parts[n];
  return stored_error(total, storage);
}

std::vector<double> embedding_grad_limits(int rows, int width, const std::vector<int>& ids,
                                          const std::vector<double>& grad_x,
                                          const std::vector<double>& previous,
                                          const std::function<int(int)>& chain) {
  std::vector<std::vector<std::size_t>> tokens(rows);
  for (std::size_t token = 0; token < ids.size(); ++token) tokens.at(ids[token]).push_back(token);
  std::vector<double> limits;
  for (int row = 0; row < rows; ++row) {
    for (int c = 0; c < width; ++c) {
      std::vector<Computed> terms;
      for (const std::size_t token : tokens[row]) terms.push_back({grad_x[token * width + c], 0.0});
      if (!previous.empty())
        terms.push_back({previous[static_cast<std::size_t>(row) * width + c], 0.0});
      // A single term is copied: no other number of fp32 is that near, the oracle's rounding is.
      if (terms.size() == 1)
        limits.push_back(0x1p-40 * terms[0].magnitude());
      else
        limits.push_back(
            stored_error(sum(terms, chain(static_cast<int>(tokens[row].size()))), stored_fp32));
    }
  }
  return limits;
}

double sinusoidal_limit(double angle, double amplitude, double value) {
  constexpr double u = 0x1p-53;
  // The frequency: a quotient in the exponent (times ln base, at most 12) and a power, 14u; the
  // angle's product, u; the sine and the product with the amplitude, 3u.
  const double in_double =
      std::fabs(amplitude) * (std::fabs(angle) * 15 * u + 3 * u) + u * std::fabs(value);
  return (1.0 + 0x1p-20) * (in_double + unit_roundoff * (std::fabs(value) + in_double) + underflow);
}

}  // namespace plumbline::op_bounds
