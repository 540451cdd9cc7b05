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

std::string Reading<ClaimInterval>::name() {
  const ClaimInterval x(reference::Interval(0.0));
  return "interval, " + std::to_string(mpfi_get_prec(x.value().backend().data())) + " bits";
}

Enclosure Reading<ClaimInterval>::enclosure(const ClaimInterval& x) {
  const reference::MpReal lower = reference::lower(x.value()), upper = reference::upper(x.value());
  reference::MpReal width;
  mpfr_sub(width.backend().data(), upper.backend().data(), lower.backend().data(), MPFR_RNDU);
  return {mpfr_get_d(lower.backend().data(), MPFR_RNDD),
          mpfr_get_d(upper.backend().data(), MPFR_RNDU),
          mpfr_get_d(width.backend().data(), MPFR_RNDU)};
}

}  // namespace plumbline::proofs_checks
