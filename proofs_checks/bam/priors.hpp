// SPDX-License-Identifier: Apache-2.0
// One query and the keys before it: positional scores by distance d = i - j, and weights that
// depend on the content through differences of scores only, so that boxes of scores give tight
// enclosures.
#pragma once

#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::proofs_checks::bam {

/// ALiBi's a = -m d.
template <class R>
struct LaplaceBias {
  R m;
  R operator()(int d) const { return -(m * R(d)); }
};

/// b = -|(-d - mu)/alpha|^beta of section 2.3, for a key that does not stand at mu exactly, or,
/// with mu = 0 and beta > 0, for any key: the query's own has b = 0.
template <class R>
struct GgdBias {
  R alpha, beta, mu = R(0.0);
  bool own_key_at_peak = true;  ///< mu = 0
  R operator()(int d) const {
    if (d == 0 && own_key_at_peak) return R(0.0);
    return -reference::power(reference::absolute((R(d) + mu) / alpha), beta);
  }
};

/// The GGD with which the proof of Theorem 2 works: mu = 0, alpha = m^(-1/beta), so b = -m d^beta.
template <class R>
struct PowerBias {
  R m, beta;
  R operator()(int d) const {
    if (d == 0) return R(0.0);
    return -(m * reference::power(R(d), beta));
  }
};

template <class R>
int integer(const Inputs<R>& in, const std::string& name) {
  return static_cast<int>(reference::representative(in.number(name)));
}

/// The weight of the key at distance n = delta.size(), where delta[z] = f_z - f_n is the content of
/// the key at distance z less that of this one: 1 / (1 + sum_{z < n} e^(delta_z + b_z - b_n)).
template <class R, class Bias>
R weight_of_farthest(const reference::Vector<R>& delta, const Bias& bias) {
  const int n = static_cast<int>(delta.size());
  const R far = bias(n);
  reference::Vector<R> terms(n);
  for (int z = 0; z < n; ++z) terms[z] = reference::exp(delta[z] + (bias(z) - far));
  return R(1.0) / (R(1.0) + reference::sum(terms));
}

/// sum_d e^(f_d + b_d) over first <= d < last.
template <class R, class Bias>
R mass(const reference::Vector<R>& f, const Bias& bias, int first, int last) {
  reference::Vector<R> terms(last - first);
  for (int d = first; d < last; ++d) terms[d - first] = reference::exp(f[d] + bias(d));
  return reference::sum(terms);
}

/// All contents of n + 1 keys with scores in [-F, F], by the differences that weights depend on.
inline Sample contents_within(double F, int n) {
  return Sample{}.with("F", {F}).within("delta", -2 * F, 2 * F, static_cast<std::size_t>(n));
}

}  // namespace plumbline::proofs_checks::bam
