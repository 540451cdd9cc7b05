// SPDX-License-Identifier: Apache-2.0
// The inside of a picture of curves, and of one of maps; `svg` puts the frame around them.
#pragma once

#include <string>

#include "proofs_checks/pictures/picture.hpp"

namespace plumbline::proofs_checks {

inline constexpr double picture_width = 460.0;

struct Drawing {
  std::string elements;
  double height;
};

Drawing draw_curves(const Picture&);
Drawing draw_maps(const Picture&);

}  // namespace plumbline::proofs_checks
