// SPDX-License-Identifier: Apache-2.0
// Pictures as SVG: for a page, and as files.
#pragma once

#include <string>

#include "support/pictures/picture.hpp"

namespace plumbline::pictures {

/// An <svg> element with <title> and <desc> for a page that has style.hpp's rules: curve k has the
/// class "ck", axes "axis", the grid "grid", a shade of a map "q0" (lowest) to "q8"; curves differ
/// in their dashes and marks too. A part of a curve outside of the axes is cut off; a number that
/// is not finite ends the line. Axes without a finite number between them say so.
/// @throws std::logic_error for curves and maps at once, curves of no or of unequal x and y, a
/// logarithmic axis from 0 or below, or an axis without extent.
std::string svg(const Picture&);
/// The same of a heat map, whose values above the limit have the class "q9".
/// @throws std::logic_error for values that are not as many as rows and columns, or a range without
/// extent.
std::string svg(const HeatMap&);

/// A file of its own: the same with its title above it, a background, and colours for light and
/// dark surroundings. Throws as svg.
std::string svg_file(const Picture&);
std::string svg_file(const HeatMap&);

}  // namespace plumbline::pictures
