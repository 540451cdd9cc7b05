// SPDX-License-Identifier: Apache-2.0
// What the judge asks of a method, pair by pair and row by row. verdict/bias/NAME.hpp answers for
// the methods of that name:
//   struct M : Unanswered {
//     template <class R> static auto reading(const HeadOf<R>&);      the bias of reference/bias
//     static double error(const Pair&, double bias);                 of a correct fp32 kernel
//   and perhaps
//     template <class R> static auto prepare(const cases::Case&);    once a case; reading takes it
//                                                                    by of.prepared<T>()
//     static constexpr ZeroQuery of_zero_query;                      where q = 0
//     static constexpr bool has_sizes = true;                        for the identities
//     static BiasSizes sizes(const Query&, const Contract&);         (docs/identities.md)
//     static std::function<double(int)> plain(const Query&);         b_ij, where it is cheap
//   };
// and derivatives(const DerivativeRow&, const reference::M<RunningError>&) beside it, where the
// method has parameters.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "reference/core/real.hpp"
#include "verdict/bounds/bias_error.hpp"
#include "verdict/bounds/roundoff.hpp"
#include "verdict/cases/case.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {
template <reference::Real R>
class HeadOf;  // case_reading.hpp: the numbers of a head, for a query
}  // namespace plumbline::verdict

namespace plumbline::verdict::bias {

/// A query and a key.
struct Pair {
  const cases::Case& the_case;
  const Contract& contract;
  const BiasError& sums;
  int batch, head, i, j;

  double parameter(plumbline_parameter p) const { return double{the_case.of_head(p, batch, head)}; }
  double option(plumbline_option o) const { return the_case.options[o]; }
  double gain() const { return sums.gain(batch, head, i); }
  BiasError::Distance distance() const { return sums.distance(batch, head, i, j); }
  BiasError::Distance weighted_distance() const {
    return sums.weighted_distance(batch, head, i, j);
  }
};

/// A query of a case.
struct Query {
  const cases::Case& the_case;
  int batch, head, query;

  int position() const { return the_case.position(batch, query); }
  std::size_t head_row() const {
    return static_cast<std::size_t>(batch) * the_case.spec.heads + head;
  }
  double parameter(plumbline_parameter p) const { return double{the_case.of_head(p, batch, head)}; }
  double gain() const {
    const auto& gain = the_case[PLUMBLINE_GAIN];
    return gain.empty() ? 1.0 : gain[head_row() * the_case.spec.queries + query];
  }
};

/// When a query of zeros has no score but 0, whatever the parameters are.
enum class ZeroQuery { always, with_its_own_key_alone, never };

/// What a head's bias may be.
struct BiasSizes {
  double largest = 0;      ///< of |b| at the query's own position, and of any b above 0
  double constant = 0;     ///< of its error: beta <= constant + relative |b|
  double relative = 0;     ///< the same
  double of_products = 0;  ///< and of tau |q| |k|: what RoPE's rotation adds
};

inline double largest_size(const std::vector<float>& values, std::size_t begin, std::size_t count) {
  double largest = 0;
  for (std::size_t n = begin; n < begin + count; ++n) {
    largest = std::max(largest, std::abs(double{values[n]}));
  }
  return largest;
}

struct Unanswered {
  static constexpr ZeroQuery of_zero_query = ZeroQuery::never;
  static constexpr bool has_sizes = false;
  static BiasSizes sizes(const Query&, const Contract&) { return {}; }
  static std::function<double(int)> plain(const Query&) { return {}; }
};

}  // namespace plumbline::verdict::bias
