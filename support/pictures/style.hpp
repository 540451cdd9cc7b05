// SPDX-License-Identifier: Apache-2.0
// The pictures' looks, as CSS.
#pragma once

#include <string>

namespace plumbline::pictures {

/// Curves tell eight colours apart; the ninth has the first again.
inline constexpr int colour_count = 8;

/// Rules for the classes of svg.hpp. Their colours are the variables below.
extern const char* const rules;

/// --paper, --ink, --soft, --line and --c0 to --c7 on light and on dark paper, in a style sheet's
/// syntax; the numbered ones are told apart by readers who are colour-blind (after Okabe and Ito's
/// palette), and 3:1 against the paper at least.
extern const char* const light_colours;
extern const char* const dark_colours;

/// The rules with every variable replaced by its value, once for light and, under a media query,
/// once for dark surroundings: complete, and readable by programs that know no variables.
std::string style_of_files();

}  // namespace plumbline::pictures
