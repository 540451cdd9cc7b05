// SPDX-License-Identifier: Apache-2.0
// Where an axis has its numbers.
#pragma once

#include <string>
#include <vector>

#include "support/pictures/picture.hpp"

namespace plumbline::pictures {

/// axis.at, or 3 to 7 round values within the axis: multiples of 1, 2 or 5 times a power of ten;
/// powers of ten on a logarithmic axis, every second, third, ... of them where they are many, and 2
/// and 5 times those where they are fewer than three.
std::vector<double> ticks(const Axis&);

/// "0.25", "10⁻³" on a logarithmic axis, "−2".
std::string tick_text(double value, const Axis&);

/// Where the value lies on the axis: 0 at `from`, 1 at `to`.
double position(double value, const Axis&);

/// An axis that holds the finite ones of all values, and those above 0 if it is logarithmic; a
/// twentieth of its extent is free at both ends. Linear if no value is above 0; 0 to 1 if none is
/// finite.
Axis axis_over(std::string label, const std::vector<double>& values, bool logarithmic = false);

}  // namespace plumbline::pictures
