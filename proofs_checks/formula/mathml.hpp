// SPDX-License-Identifier: Apache-2.0
// A formula's tokens as presentation MathML, which browsers set without help.
#pragma once

#include <span>
#include <string>

#include "proofs_checks/formula/tokens.hpp"

namespace plumbline::proofs_checks::formula {

/// <math> elements: one, or, of a long formula, several with places between them where a line may
/// end (before relations and signs outside of brackets), since browsers do not break one.
///
///   formula  = term { (relation | + | - | ,) term }
///   term     = factors of which " / " makes a fraction and "/" a solidus
///   factor   = (name | number | bracket | function) { ^ exponent | _ subscript | call }
///
/// What does not fit these rules is set as it stands; nothing is left out.
std::string mathml(std::span<const Token>);

}  // namespace plumbline::proofs_checks::formula
