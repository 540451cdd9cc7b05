// SPDX-License-Identifier: Apache-2.0
// Where an axis has its numbers.
#pragma once

#include <string>
#include <vector>

#include "proofs_checks/pictures/picture.hpp"

namespace plumbline::proofs_checks {

/// 3 to 7 round values within the axis: multiples of 1, 2 or 5 times a power of ten; powers of ten
/// on a logarithmic axis, every second, third, ... of them where they are many.
std::vector<double> ticks(const Axis&);

/// "0.25", "10⁻³" on a logarithmic axis, "−2".
std::string tick_text(double value, const Axis&);

/// Where the value lies on the axis: 0 at `from`, 1 at `to`.
double position(double value, const Axis&);

}  // namespace plumbline::proofs_checks
