// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge/gradient_drift.hpp"

#include <algorithm>
#include <cmath>

#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {
namespace {

/// @param y a pair's number; @param error of the kernel's as an operand, rounding included.
void set(const Contract& contract, double y, double error, double unnormalised,
         double underflow_factor, double& random, double& systematic) {
  const double size = std::abs(y);
  const ProbabilityRounding p = probability_rounding(contract);
  const double rounded = p.relative * size + p.absolute * std::max(1.0, underflow_factor);
  const OperandRounding rounding = operand_rounding(contract, size, unnormalised, underflow_factor);
  random = rounding.random;
  systematic = std::max(0.0, error - rounded) + rounding.systematic;
}

}  // namespace

PairRoundings roundings_of_p(const Contract& contract, const HeadPairs& pairs) {
  PairRoundings result{pairs.p, pairs.p};
  for (Eigen::Index n = 0; n < pairs.p.size(); ++n) {
    const double p = pairs.p.data()[n];
    set(contract, p, pairs.p_error.data()[n], p, 1.0, result.random.data()[n],
        result.systematic.data()[n]);
  }
  return result;
}

PairRoundings roundings_of_z(const Contract& contract, const HeadPairs& pairs) {
  PairRoundings result{pairs.z, pairs.z};
  for (Eigen::Index i = 0; i < pairs.z.rows(); ++i) {
    for (Eigen::Index j = 0; j < pairs.z.cols(); ++j) {
      set(contract, pairs.z(i, j), pairs.z_error(i, j), 0.0, pairs.underflow_factor[i],
          result.random(i, j), result.systematic(i, j));
    }
  }
  return result;
}

Numbers drift_weights(cases::Format format, int rows, int columns,
                      const std::vector<bool>& left_out, OracleNumber* elements) {
  Numbers weights = Numbers::Zero(rows, columns);
  for (int r = 0; r < rows; ++r) {
    for (int d = 0; d < columns && !left_out[r]; ++d) {
      OracleNumber& element = elements[r * columns + d];
      element.weight = weights(r, d) = drift_weight(element.value, element.bound, format);
    }
  }
  return weights;
}

Drift drift_of_sums(const Contract& contract, cases::Format format, const Numbers& weights,
                    const Numbers& values, const Numbers& magnitude,
                    std::span<const double> additions) {
  Drift drift;
  const double stored = rounds_at_random(format) ? unit_roundoff(format) : 0.0;
  for (Eigen::Index r = 0; r < weights.rows(); ++r) {
    const double sum = gamma(additions[r], contract.unit_roundoff) + 4 * u;
    for (Eigen::Index d = 0; d < weights.cols(); ++d) {
      const double weight = std::abs(weights(r, d));
      if (weight == 0) continue;
      drift.allowance += weight * (sum * magnitude(r, d) + 2 * u * std::abs(values(r, d)) +
                                   4 * additions[r] * result_underflow(contract));
      const double rounding = weight * stored * std::abs(values(r, d));
      drift.variance += rounding * rounding;
    }
  }
  return drift;
}

Drift drift_of_pairs(const PairRoundings& roundings, const Numbers& A, const Numbers& B,
                     double scale) {
  Drift drift;
  const Numbers by_rounding = A * B.transpose();
  const Numbers at_most = A.cwiseAbs() * B.cwiseAbs().transpose();
  drift.variance = scale * scale * roundings.random.cwiseProduct(by_rounding).squaredNorm();
  drift.allowance = std::abs(scale) * roundings.systematic.cwiseProduct(at_most).sum();
  return drift;
}

}  // namespace plumbline::verdict
