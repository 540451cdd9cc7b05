// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/readings.hpp"

#include <cmath>
#include <limits>

namespace plumbline::proofs_checks {

Enclosure Reading<reference::RunningError>::enclosure(const reference::RunningError& x) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (x.error() == 0) return {x.value(), x.value(), 0.0};
  return {std::nextafter(x.value() - x.error(), -infinity),
          std::nextafter(x.value() + x.error(), infinity), std::nextafter(2 * x.error(), infinity)};
}

std::string Reading<reference::Interval>::name() {
  return "interval, " + std::to_string(mpfi_get_prec(reference::Interval().backend().data())) +
         " bits";
}

Enclosure Reading<reference::Interval>::enclosure(const reference::Interval& x) {
  const reference::MpReal lower = reference::lower(x), upper = reference::upper(x);
  reference::MpReal width;
  mpfr_sub(width.backend().data(), upper.backend().data(), lower.backend().data(), MPFR_RNDU);
  return {mpfr_get_d(lower.backend().data(), MPFR_RNDD),
          mpfr_get_d(upper.backend().data(), MPFR_RNDU),
          mpfr_get_d(width.backend().data(), MPFR_RNDU)};
}

}  // namespace plumbline::proofs_checks
