// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/fire_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {
FireErrors::FireErrors(const cases::Case& the_case, const Contract& contract, int head, int i,
                       int j) {
  const auto& hidden_weight = the_case[PLUMBLINE_HIDDEN_WEIGHT];
  const auto& hidden_bias = the_case[PLUMBLINE_HIDDEN_BIAS];
  const std::size_t width = hidden_weight.size();
  const float* output_weight = the_case[PLUMBLINE_OUTPUT_WEIGHT].data() + head * width;
  const double output_bias = the_case[PLUMBLINE_OUTPUT_BIAS][head];
  const double c = std::abs(the_case[PLUMBLINE_C][0]);
  const double L0 = the_case.options[PLUMBLINE_L0];
  const double threshold = std::abs(the_case[PLUMBLINE_L][0] * L0);
  const double x = std::abs(i - j), m = std::max<double>(i, threshold);

  const double N = std::log1p(c * x);
  const auto of_log = [&](double log) { return contract.log_error * std::max(1.0, log); };
  const double N_error = x == 0 ? 0.0 : u * c * x / (1 + c * x) + u + 4 * u * N + of_log(N);
  const double log_m = std::log1p(c * m), M = log_m + the_case.options[PLUMBLINE_EPSILON];
  const double M_error =
      4 * u * c * m / (1 + c * m) + u + 4 * u * log_m + of_log(log_m) + 2 * u * M;
  if (!(M > M_error)) {
    bias_error = c_error = L_error = y_error = std::numeric_limits<double>::infinity();
    hidden.assign(width, 0.0);
    hidden_error.assign(width, y_error);
    kink.assign(width, true);
    return;
  }
  y = N / M;
  y_error = (N_error + y * M_error) / (M - M_error) + u * y;
  if (N > 0 && M > 0x1p125) y_error += (N + 1) * 0x1p-150;

  double slope = 0, slope_size = 0, slope_error = 0, size = std::abs(output_bias),
         bias = output_bias;
  for (std::size_t w = 0; w < width; ++w) {
    const double weight = hidden_weight[w], v = output_weight[w];
    const double before = weight * y + hidden_bias[w];
    const double product = std::abs(weight) * (y + y_error);
    const double error =
        std::abs(weight) * y_error + u * product + u * (product + std::abs(hidden_bias[w]));
    hidden.push_back(std::max(before, 0.0));
    hidden_error.push_back(before < -error ? 0.0 : error);
    kink.push_back(error > 0 && std::abs(before) <= error);
    bias += v * hidden[w];
    bias_error += std::abs(v) * hidden_error[w];
    size += std::abs(v) * (hidden[w] + hidden_error[w]);
    const double share = v * weight;
    if (before > 0) slope += share;
    if (before > 0 || kink[w]) slope_size += std::abs(share);
    if (kink[w]) slope_error += std::abs(share);
  }
  const double sum = gamma(static_cast<double>(width) + 1, contract.unit_roundoff);
  bias_error += sum * size + 2 * u * std::abs(bias);
  slope_error += (sum + u) * slope_size;

  // Of c and L: quotients of numbers known within a few u, and of y and M.
  const double of_slope = std::abs(slope) + slope_error, least_M = M - M_error;
  const double first = x / (1 + c * x), second = y * m / (1 + c * m);
  const double difference = std::abs(first - second);
  const double difference_error =
      4 * u * first + 8 * u * second + y_error * m / (1 + c * m) * (1 + 8 * u) + u * difference;
  c_error = slope_error * difference / M +
            of_slope * (difference_error + difference * (M_error / M + 4 * u)) / least_M;
  const double by_m = c / (1 + c * m) * L0;
  const bool either_side = std::abs(i - threshold) <= 4 * u * threshold;
  if (either_side) {
    L_error = of_slope * (y + y_error) * by_m * (1 + 16 * u) / least_M;
  } else if (i < threshold) {
    L_error = slope_error * y * by_m / M +
              of_slope * by_m * (y_error + y * (M_error / M + 12 * u)) / least_M;
  }
}

}  // namespace plumbline::verdict
