// SPDX-License-Identifier: Apache-2.0
// What a case's outputs should be, and how far a correct kernel may be from that.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "verdict/cases/case.hpp"
#include "verdict/judge/contract.hpp"
#include "verdict/judge/drift.hpp"

namespace plumbline::verdict {

/// One number of the oracle. |value - exact| <= radius; a kernel within the contract's numerics is
/// within `bound` of the exact value.
struct OracleNumber {
  double value = 0, radius = 0, bound = 0;
  double weight = 0;  ///< in the sum of the statistics gate (drift.hpp)
  /// Of o: bound of the result's error before it is rounded to the format (is_rounded_from).
  double before_storing = std::numeric_limits<double>::infinity();
  /// The random part of a correct kernel's error, of which `bound` has a multiple, and all else;
  /// random 0: not known apart (ErrorSize).
  double random = 0, beside_random = 0;
  bool not_judged = false;  ///< the contract leaves it out
};

struct OracleRow {
  bool sees_no_key = false;  ///< then o and lse are as the contract's empty_rows says
  bool left_out = false;     ///< by the contract: some of it is not judged
  bool ill_conditioned = false;
  std::vector<OracleNumber> o;  ///< [head_dim]
  OracleNumber lse;
  Drift o_drift;
  std::array<double, trend_count> lse_along{};  ///< derivatives of lse; used where lse.random > 0
};

struct BoundedRow;
class RowBounds;
/// What of a row is beyond what the kernel is made for: all of it where a score is beyond the
/// contract's largest_score or what its score_format holds, o where its sums are beyond
/// output_sum_format, lse where it is beyond lse_format. No gradient that reads such a row is
/// judged.
struct LeftOut {
  bool o = false, lse = false;

  bool any() const { return o || lse; }
};
LeftOut left_out(const Contract& contract, const BoundedRow& row);

/// A row's lse with a contract that has it to base 2 (lse_base_2), and with another as it is. A
/// kernel may take its logarithm to base 2, or multiply a natural one by log2 e: that constant, the
/// product and the sum with the maximum are rounded, 3u of it.
void to_declared_base(const Contract& contract, OracleRow& row);

/// The mean of v over all keys of a key head, which a row without a visible key may have: exact,
/// with the bound of a kernel's.
OracleNumber mean_of_values(const cases::Case& the_case, const Contract& contract,
                            cases::Format o_format, int batch, int head, int query, int component);

/// Whether a row without a visible key has its sink, and then nothing of `empty_rows` holds but
/// "not mine".
inline bool sees_its_sink(const Contract& contract, const cases::Spec& spec) {
  return spec.sinks && contract.empty_rows != PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE;
}

/// What the contract says of a row that sees no key; one that packed sequences do not have counts
/// as 0.
inline std::int32_t empty_rows_of(const Contract& contract, const cases::Case& the_case, int batch,
                                  int query) {
  return the_case.has_row(batch, query) ? contract.empty_rows
                                        : std::int32_t{PLUMBLINE_EMPTY_ROWS_ARE_ZERO};
}

/// A row that sees its sink alone: o = 0, lse = the sink. @param bounds of the same case.
OracleRow row_of_sink(const Contract& contract, const RowBounds& bounds,
                      const cases::Case& the_case, int head);

/// The equations of reference/, read with a running error bound; a row whose rounding error in
/// double is too large to judge by is read again as intervals of 50 digits.
class Oracle {
 public:
  /// @param the_case must outlive the oracle. @param o_format in which o is stored.
  Oracle(const cases::Case& the_case, const Contract& contract, cases::Format o_format);
  ~Oracle();

  /// Safe to call from several threads.
  OracleRow row(int batch, int head, int query) const;

 private:
  OracleRow natural_row(int batch, int head, int query) const;

  struct Prepared;
  std::unique_ptr<const Prepared> prepared_;
};

/// All numbers of a case: o like [batch, heads, queries, head_dim], lse like [batch, heads,
/// queries].
struct OracleNumbers {
  std::vector<double> o, o_radius, o_bound, lse, lse_radius, lse_bound;
};
OracleNumbers oracle_numbers(const cases::Case& the_case, const Contract& contract, int threads);

/// The oracle's own error must be at most this part of the bound, or the element is undecided.
inline constexpr double largest_radius = 0x1p-10;

}  // namespace plumbline::verdict
