// SPDX-License-Identifier: Apache-2.0
// The claims' text cut into words, names, numbers and signs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plumbline::proofs_checks::formula {

enum class Kind {
  word,    ///< prose
  claim,   ///< the id of a claim, bam/theorem_1
  code,    ///< a name from a program, get_alibi_slopes
  name,    ///< of a quantity or a function: p, theta, softmax; primes included
  number,  ///< 512, 9,000, 0.5
  sign,    ///< = <= -> + / ^ _ ...
  open,    ///< ( [ { and the opening ones of | || <
  close,   ///< their partners
  comma,   ///< , and ; between brackets of a formula; prose elsewhere
  stop,    ///< . : ? ! and quotes
};

struct Token {
  Kind kind;
  std::string text;
  bool space = false;  ///< white space stands before it
};

/// How a name is printed, "theta" as the letter; empty for what is not known.
std::string_view greek(std::string_view name);
/// ln, softmax, lim, ...: upright, and applied to what follows.
bool is_function(std::string_view name);

/// Every character of the text, but white space, belongs to one token, in order.
/// Which words are quantities is decided by their neighbours: "a" before a word is an article, "a"
/// before "> 0" is a number.
std::vector<Token> tokens(std::string_view text);

}  // namespace plumbline::proofs_checks::formula
