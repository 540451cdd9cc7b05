// SPDX-License-Identifier: Apache-2.0
// The inside of a picture of curves, of one of maps and of a heat map; svg.cpp puts the frame
// around them.
#pragma once

#include <string>

#include "support/pictures/picture.hpp"

namespace plumbline::pictures {

inline constexpr double picture_width = 460.0;
inline constexpr int shades = 9;

struct Drawing {
  std::string elements;
  double height;
};

Drawing draw_curves(const Picture&);
Drawing draw_maps(const Picture&);
Drawing draw_heat_map(const HeatMap&);

/// The shade of a value between two others, from 0 to shades - 1.
int shade_of(double value, double lowest, double highest);
/// "0.25", "−3.1e-05".
std::string number_text(double value);
/// The shades from the lowest value to the highest in `width`, with both.
std::string draw_scale(double lowest, double highest, double x, double y, double width);

}  // namespace plumbline::pictures
