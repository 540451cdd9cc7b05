// SPDX-License-Identifier: Apache-2.0
// MathML's elements, and which sign a token is.
#pragma once

#include <string>

#include "proofs_checks/formula/tokens.hpp"

namespace plumbline::proofs_checks::formula {

using Text = std::string;

Text element(const Text& tag, const Text& content);
Text row(const Text& content);
/// As a printer has it: "<=" is one sign, "-" a minus, "in" membership; escaped.
Text sign(const Text& text);
/// A bracket; it grows with its content where that is a fraction. `form`: prefix or postfix.
Text fence(const Token&, const char* form, bool grows);

/// The name of a quantity, in italics, or of a function, upright; with its primes.
Text name(Text text);
/// Letters of a subscript: indices in italics, words upright.
Text index(const Text& text);

bool relation(const Token&);
bool additive(const Token&);

}  // namespace plumbline::proofs_checks::formula
