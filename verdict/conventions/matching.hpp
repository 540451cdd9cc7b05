// SPDX-License-Identifier: Apache-2.0
// Which other convention outputs match, by what they are in several cases.
#pragma once

#include <memory>
#include <vector>

#include "verdict/conventions/convention.hpp"
#include "verdict/judge/judge.hpp"

namespace plumbline::verdict {

/// A case, a kernel's outputs for it, and what they were judged to be.
struct Evidence {
  cases::Case the_case;
  cases::Outputs outputs;
  Judgement judgement;
};

/// Chance alone must not explain a match: a convention whose bounds let anything pass matches
/// anything. Where what it gives is t away from the right number, and t is above both bounds
/// together, b, an element that is within its bound of the convention's cannot be right; and of all
/// numbers that are wrong by up to t, to either side, at most the part b / t is as near. It counts
/// log2(t / b) bits, an element that does not tell the two apart none. One element counts in each
/// row, for those of a row share their probabilities, and 24 bits at most, a float's. One match in
/// a million would be by chance.
inline constexpr double enough_bits = 20;
inline constexpr double most_bits_of_row = 24;

/// Of an element, the bits by which the convention's number is told from the right one. Neither
/// depends on what the kernel returned.
double bits_apart(const OracleNumber& of_convention, const OracleNumber& right);

/// More conventions than this at once say nothing.
inline constexpr std::size_t most_matches = 3;

class GradientSearch;

/// The conventions that explain every output of a kernel in one case after the other: of the
/// forward pass where o or lse fails in the first case, else of the backward pass. Every element
/// must be within the bounds of what the convention gives, and the elements that fail must be
/// enough to tell it from chance. Of large cases some rows are read, the worst ones among them.
class ConventionSearch {
 public:
  /// @param threads for the gradients' oracle.
  ConventionSearch(const Contract& contract, int threads);
  ~ConventionSearch();

  /// A case that fails first, then any.
  void consider(const Evidence& evidence);
  /// Whether there is a convention that more cases could refute.
  bool any_left() const;
  /// Where none explains both o and lse, those that explain o. None where they are more than
  /// most_matches.
  std::vector<Match> matches() const;

 private:
  struct Forward;
  Contract contract_;
  int threads_;
  std::unique_ptr<Forward> forward_;
  std::unique_ptr<GradientSearch> gradients_;
};

}  // namespace plumbline::verdict
