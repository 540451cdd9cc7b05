// SPDX-License-Identifier: Apache-2.0
// What is drawn of a claim, by support/pictures/.
#pragma once

#include "support/pictures/picture.hpp"

namespace plumbline::proofs_checks {

using plumbline::pictures::Axis;
using plumbline::pictures::Curve;
using plumbline::pictures::Map;

/// A type of its own, so that claim.hpp can name it without this header.
struct Picture : plumbline::pictures::Picture {};

}  // namespace plumbline::proofs_checks
