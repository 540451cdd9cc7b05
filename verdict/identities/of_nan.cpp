// SPDX-License-Identifier: Apache-2.0
// What a NaN among the inputs may reach, and what it must: docs/exact-rows.md.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "verdict/identities/runs.hpp"

namespace plumbline::verdict {
namespace {

using cases::Outputs;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// What became of the first element that is not as it should be.
void fail(Identity& identity, const char* output, std::size_t index, float got, const char* why) {
  if (identity.outcome == Outcome::pass) {
    identity.where = fmt::format("{}, element {}: {:.9g}, {}", output, index, got, why);
  }
  identity.outcome = Outcome::fail;
  identity.worst += 1;
}

class NanRuns {
 public:
  explicit NanRuns(const IdentityRuns& runs) : runs_(runs), s_(runs.base.spec) {}

  /// Rows of sequence 0 whose heads share key head 0 are those that the NaN may reach.
  bool may_be_reached(std::size_t row) const {
    return row < static_cast<std::size_t>(s_.heads / s_.kv_heads) * s_.queries;
  }

  /// Every o of these rows is no finite number; rows of other sequences and key heads have the bits
  /// of the case itself.
  template <class Reached>
  void check(Identity& identity, const cases::Case& c, const Reached& reached) const {
    const Outputs got = runs_.run(c);
    const std::size_t dim = s_.head_dim;
    for (std::size_t row = 0; row < got.lse.size(); ++row) {
      for (std::size_t d = 0; d < dim; ++d) {
        const std::size_t n = row * dim + d;
        if (reached(row, d)) {
          if (std::isfinite(got.o[n])) fail(identity, "o", n, got.o[n], "for a NaN");
        } else if (!may_be_reached(row) && runs_.kernel.deterministic()) {
          unchanged(identity, "o", n, got.o[n], runs_.of_base.o[n]);
        }
      }
      if (!may_be_reached(row) && runs_.kernel.deterministic()) {
        unchanged(identity, "lse", row, got.lse[row], runs_.of_base.lse[row]);
      }
    }
  }

 private:
  static void unchanged(Identity& identity, const char* output, std::size_t n, float got,
                        float expected) {
    if (std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(expected)) return;
    fail(identity, output, n, got, "changed by a NaN of another sequence or key head");
  }

  const IdentityRuns& runs_;
  const cases::Spec& s_;
};

}  // namespace

void nan_identities(const IdentityRuns& runs) {
  const NanRuns nan_runs(runs);
  const auto& base = runs.base;
  const std::size_t dim = base.spec.head_dim, queries = base.spec.queries;
  // The key at the position of the first query: every query sees it.
  const std::size_t seen = static_cast<std::size_t>(base.spec.query_offset) * dim;
  // DAPE's network mixes the scores of all heads.
  const bool mixes = base.spec.bias.dape_taps() > 0;
  const std::string why = mixes                              ? "the method mixes heads"
                          : runs.contract().skipped_mass > 0 ? "keys may be skipped"
                                                             : "";
  ask(runs, "nan_in_query", "a NaN in one query: no finite o in its row, all else as it was", why,
      [&](Identity& identity) {
        auto c = base;
        c.q[dim / 2] = nan;
        nan_runs.check(identity, c, [](std::size_t row, std::size_t) { return row == 0; });
      });
  ask(runs, "nan_in_key", "a NaN in one key: no finite o where it is seen, all else as it was", why,
      [&](Identity& identity) {
        auto c = base;
        c.k[seen + dim / 2] = nan;
        nan_runs.check(identity, c,
                       [&](std::size_t row, std::size_t) { return nan_runs.may_be_reached(row); });
      });
  ask(runs, "nan_in_value", "a NaN in one value: no finite o in its component, all else as it was",
      why, [&](Identity& identity) {
        auto c = base;
        c.v[seen + dim / 2] = nan;
        // At distance 0 its weight is no zero.
        nan_runs.check(identity, c, [&](std::size_t row, std::size_t d) {
          return nan_runs.may_be_reached(row) && row % queries == 0 && d == dim / 2;
        });
      });
}

}  // namespace plumbline::verdict
