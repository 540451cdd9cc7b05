// SPDX-License-Identifier: Apache-2.0
// One query and the keys before it: positional scores by distance d = i - j, and weights that
// depend on the content through differences of scores only, so that boxes of scores give tight
// enclosures.
#pragma once

#include "proofs_checks/bam/source.hpp"

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
  R operator()(int d) const {
    if (d == 0 && reference::representative(mu) == 0) return R(0.0);
    return -power(absolute((R(d) + mu) / alpha), beta);
  }
};

/// The GGD with which the proof of Theorem 2 works: mu = 0, alpha = m^(-1/beta), so b = -m d^beta.
template <class R>
struct PowerBias {
  R m, beta;
  R operator()(int d) const {
    if (d == 0) return R(0.0);
    return -(m * power(R(d), beta));
  }
};

/// The weight of the key at distance n = delta.size(), where delta[z] = f_z - f_n is the content of
/// the key at distance z less that of this one: 1 / (1 + sum_{z < n} e^(delta_z + b_z - b_n)).
template <class R, class Bias>
R weight_of_farthest(const Vector<R>& delta, const Bias& bias) {
  const int n = static_cast<int>(delta.size());
  const R far = bias(n);
  Vector<R> terms(n);
  for (int z = 0; z < n; ++z) terms[z] = exp(delta[z] + (bias(z) - far));
  return R(1.0) / (R(1.0) + sum(terms));
}

/// sum_d e^(f_d + b_d) over first <= d < last.
template <class R, class Bias>
R mass(const Vector<R>& f, const Bias& bias, int first, int last) {
  Vector<R> terms(last - first);
  for (int d = first; d < last; ++d) terms[d - first] = exp(f[d] + bias(d));
  return sum(terms);
}

/// softmax(f + b): the weights with contents f[d].
template <class R, class Bias>
Vector<R> weights(const Vector<R>& f, const Bias& bias) {
  Vector<R> logits = f;
  for (int d = 0; d < f.size(); ++d) logits[d] += bias(d);
  return softmax(logits).probability;
}

/// All contents of n + 1 keys with scores in [-F, F], by the differences that weights depend on.
inline Sample contents_within(double F, int n) {
  return {{"F", F}, within("delta", -2 * F, 2 * F, static_cast<std::size_t>(n))};
}

/// The same for every F with every n.
inline Samples bounded_contents(std::initializer_list<double> Fs, std::initializer_list<int> ns) {
  Samples samples;
  for (double F : Fs) {
    for (int n : ns) samples.push_back(contents_within(F, n));
  }
  return samples;
}

/// One list of samples after the other.
inline Samples joined(std::initializer_list<Samples> lists) {
  Samples samples;
  for (const auto& list : lists) samples.insert(samples.end(), list.begin(), list.end());
  return samples;
}

/// e^(2 F + alpha^|beta|) / n - p of the farthest of n keys, for every content within [-F, F]: with
/// beta < 0, where the query's own key has weight 0, so that the others stand at 1, ..., n.
inline Statement far_weight_below_rate() {
  return at_least_zero<"F", "delta", "alpha", "beta">(
      []<class R>(R F, const Vector<R>& delta, R alpha, R beta) {
        const GgdBias<R> bias{alpha, beta};
        const R one(1.0);
        const int n = static_cast<int>(delta.size()) + 1;
        R others(0.0);
        for (int d = 1; d < n; ++d) others += exp(delta[d - 1] + (bias(d) - bias(n)));
        return exp(F + F - bias(1)) / R(n) - one / (one + others);
      });
}

}  // namespace plumbline::proofs_checks::bam
