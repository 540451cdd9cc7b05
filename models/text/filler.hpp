// SPDX-License-Identifier: Apache-2.0
// What stands around the thing to be found: sentences, and names and values that do not repeat. All
// words are our own; results compare within Plumbline, not with runs on other texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/permutation.hpp"
#include "support/draw.hpp"

namespace plumbline::text {

/// The same few sentences again and again are the easiest haystack.
inline constexpr std::string_view noise_sentence =
    "The river is wide. The field is empty. The wind is cold. A cart goes by. The day goes on.";

/// English sentence `n` of a text that says nothing in particular; a function of (draw, n).
std::string essay_sentence(const Draw& draw, std::uint64_t n);

/// A text's sentences: cut behind '.', '!' and '?' where a blank or a line's end follows; line ends
/// become blanks. Empty ones are left out.
std::vector<std::string> sentences_of(std::string_view text);

/// Names and values of one prompt; the n-th differs from all others of its kind.
class Secrets {
 public:
  explicit Secrets(std::uint64_t seed);

  /// Three words such as "quiet-copper-harbour". @throws BadInput beyond 65536 of them.
  std::string words(std::int64_t n) const;
  /// Seven digits, the first not 0. @throws BadInput beyond 9,000,000 of them.
  std::string number(std::int64_t n) const;
  /// A random UUID (RFC 4122, version 4); 122 random bits each, so that equal ones do not occur.
  std::string uuid(std::int64_t n) const;

 private:
  Permutation words_, numbers_;
  Draw uuids_;
};

}  // namespace plumbline::text
