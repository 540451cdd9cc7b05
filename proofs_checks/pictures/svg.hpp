// SPDX-License-Identifier: Apache-2.0
// A picture as SVG for a page.
#pragma once

#include <string>

#include "proofs_checks/pictures/picture.hpp"

namespace plumbline::proofs_checks {

/// An <svg> element with <title> and <desc>. Colours are left to the page: curve k has the class
/// "ck", axes "axis", the grid "grid", a shade of a map "q0" (lowest) to "q8"; curves differ in
/// their dashes and marks too. A part of a curve outside of the axes is cut off; a number that is
/// not finite ends the line.
/// @throws std::logic_error for a picture without numbers, curves of unequal x and y, a logarithmic
/// axis from 0 or below, or an axis without extent.
std::string svg(const Picture&);

}  // namespace plumbline::proofs_checks
