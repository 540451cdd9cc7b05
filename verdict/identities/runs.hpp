// SPDX-License-Identifier: Apache-2.0
// The runs that identities compare, and the comparisons.
#pragma once

#include <string>
#include <vector>

#include "verdict/identities/bounds.hpp"
#include "verdict/identities/identities.hpp"

namespace plumbline::verdict {

/// A run that gave no outputs: the identity fails with this as its reason.
struct RunFailed {
  std::string why;
};

/// What all identities of a spec share.
struct IdentityRuns {
  const Kernel& kernel;
  const cases::Case& base;
  const cases::Outputs& of_base;
  const RunStarts& starts;
  std::vector<Identity>& results;

  const Contract& contract() const { return kernel.contract(base.spec.format); }
  /// @throws RunFailed.
  cases::Outputs run(const cases::Case& c) const;
};

/// Tells whether |difference| is within a bound, element by element.
class Within {
 public:
  explicit Within(Identity& identity) : identity_(identity) {}
  void element(const char* output, std::size_t index, double got, double expected, double bound);

 private:
  Identity& identity_;
};

/// Whether `got` has the bits of `factor` times `expected`, but for differences below twice the
/// smallest subnormal of its format, or below 2^-96: what underflows may.
void same_bits(Identity& identity, const char* output, const std::vector<float>& got,
               const std::vector<float>& expected, float factor, double smallest);

/// Runs `check` for one identity and keeps what came of it. @param not_asked as in Identity.
template <class Check>
void ask(const IdentityRuns& runs, const char* name, const char* says, const std::string& not_asked,
         const Check& check) {
  Identity identity{name, says, not_asked};
  if (not_asked.empty()) {
    if (runs.starts) runs.starts(name);
    try {
      check(identity);
    } catch (const RunFailed& failed) {
      identity.outcome = Outcome::fail;
      identity.where = failed.why;
    }
  }
  runs.results.push_back(identity);
}

/// The largest R of a row.
double most_rescales(const IdentityRuns& runs);

/// Why a comparison of bits is not asked of this kernel.
std::string no_bits(const IdentityRuns& runs);
/// The same where the work may be shared out differently.
std::string no_bits_elsewhere(const IdentityRuns& runs);

void forward_identities(const IdentityRuns& runs);
void gradient_identities(const IdentityRuns& runs);
void nan_identities(const IdentityRuns& runs);

}  // namespace plumbline::verdict
