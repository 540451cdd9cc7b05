// SPDX-License-Identifier: Apache-2.0
// What the page is put together from.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "proofs_checks/report.hpp"

namespace plumbline::proofs_checks {

/// The verdicts in the order in which a reader needs them: what is wrong first.
inline constexpr Verdict verdicts_in_order[] = {Verdict::refuted, Verdict::holds_under_condition,
                                                Verdict::undecided, Verdict::not_mathematical,
                                                Verdict::holds};

/// "holds under a condition", for people.
std::string_view in_words(Verdict);

/// "bam" of "bam/theorem_1".
std::string paper_of(const std::string& id);

/// Texts of claims as HTML, with links to the claims of this page.
class Texts {
 public:
  explicit Texts(const ClaimsReport&);
  std::string operator()(std::string_view text) const;

 private:
  std::set<std::string> ids_;
};

/// Heading, counts, and the claims by verdict with what to know of each in a sentence.
std::string overview(const ClaimsReport&, const Texts&);
/// The controls: what is shown, in which colours.
std::string controls(const ClaimsReport&);
/// Links to all claims, beside the text on a wide screen.
std::string side(const ClaimsReport&, const Texts&);

/// A claim in full. A picture that an earlier claim has is linked, not drawn again: `drawn` has
/// where each stands.
std::string article(const ClaimResult&, const Texts&, std::map<std::string, std::string>& drawn);

/// Quantities with all digits, one a row.
std::string numbers_table(const Sample&, const Texts&);
/// The checks of a claim or of a hypothesis: a row for each statement, a column for each reading.
std::string checks_table(const std::vector<Check>&, const Texts&);

std::string style();
extern const char* const script;

}  // namespace plumbline::proofs_checks
