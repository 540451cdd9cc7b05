// SPDX-License-Identifier: Apache-2.0
// What the page is put together from.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "proofs_checks/report.hpp"

namespace plumbline::proofs_checks {

/// A verdict in words, and the heading of the claims with it.
struct Shown {
  Verdict verdict;
  const char *words, *heading;
};
/// In the order in which a reader needs them: what is wrong first.
inline constexpr Shown verdicts[] = {
    {Verdict::refuted, "refuted", "What is refuted, and what is true instead"},
    {Verdict::holds_under_condition, "holds under a condition", "What holds under a condition"},
    {Verdict::undecided, "undecided", "What is undecided"},
    {Verdict::not_mathematical, "not mathematical", "What cannot be checked"},
    {Verdict::holds, "holds", "What holds"}};
std::string_view in_words(Verdict);

/// "bam" of "bam/theorem_1".
std::string paper_of(const std::string& id);
/// "BAM: Bayesian attention mechanism" of "bam".
std::string paper_in_words(const std::string& paper);
/// "Theorem 2" of "Theorem 2, section 2.3, and appendix B.5".
std::string short_place(const Claim&);

/// Texts of claims as HTML, with links to the claims of this page.
using Texts = std::function<std::string(std::string_view)>;

/// A link to the claim: its place in the paper, and its title.
std::string titled_link(const ClaimResult&, const Texts&);

inline constexpr const char* page_title = "Claims of the papers, checked";

/// Heading, counts, and the claims by verdict with what to know of each in a sentence.
std::string overview(const ClaimsReport&, const Texts&);
/// The controls: what is shown, in which colours.
std::string controls(const ClaimsReport&);
/// CSS that hides what the controls leave out.
std::string rules(const ClaimsReport&);
/// Links to all claims, beside the text on a wide screen.
std::string side(const ClaimsReport&, const Texts&);

/// A claim in full. A picture that an earlier claim has is linked, not drawn again: `drawn` has
/// the ids of those that stand on the page.
std::string article(const ClaimResult&, const Texts&, std::set<std::string>& drawn);

}  // namespace plumbline::proofs_checks
