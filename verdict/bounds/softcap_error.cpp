// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/softcap_error.hpp"

#include <algorithm>
#include <cmath>

#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {

SoftcapErrors softcap_errors(const Contract& contract, double cap, double x, double x_error) {
  const StoredRounding stored = stored_rounding(contract, contract.score_format);
  const bool keeps = contract.score_format != PLUMBLINE_FP32;
  // q.k, x and x / cap, where scores are kept in 16 bits.
  double of_argument = 0.0;
  if (keeps) {
    of_argument = stored.of(std::abs(x) + x_error);
    of_argument += stored.of(std::abs(x) + x_error + of_argument);
    const double size = std::abs(x) + x_error + of_argument;
    of_argument += cap * stored.of(size / cap);
  }
  // The cap as a float, and a division or a reciprocal and a product.
  of_argument += 3 * u * (std::abs(x) + x_error + of_argument);
  const double lost = result_underflow(contract);
  const double exact = std::tanh(x / cap);

  SoftcapErrors errors;
  const double least = std::max(0.0, std::abs(x) - x_error - of_argument);
  const double secant = 1 / std::cosh(least / cap);
  errors.slope = secant * secant;
  if (!(x_error + of_argument < infinity)) {
    errors.slope = 1;
    errors.added = infinity;
    errors.derivative = 1 - exact * exact;
    errors.derivative_error = 1;
    return errors;
  }
  const double moved = errors.slope * (x_error + of_argument) / cap;  // of T, by the argument
  const double size = std::min(1.0, std::abs(exact) + moved);
  double of_tanh = 4 * u * size + contract.tanh_error;
  if (keeps) of_tanh += stored.of(size);
  // The cap as a float, its product, and one more for a factor log2 e.
  errors.added =
      errors.slope * of_argument + cap * of_tanh + 3 * u * cap * size + (3 * cap + 1) * lost;

  // 1 - T^2 of such a T, or of A / cap: a square, a difference, and two roundings of A and one of
  // the quotient before.
  const double off = moved + of_tanh + 3 * u * size;
  errors.derivative = 1 - exact * exact;
  errors.derivative_error = std::min(1.0, (2 * std::abs(exact) + off) * off + 2 * u);
  return errors;
}

}  // namespace plumbline::verdict
