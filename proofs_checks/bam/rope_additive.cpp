// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The logit of RoPE for head width 2, base frequency 1: q = (1, 0) and a key (1, 0) or (0, 1) at
/// distance d, cos d or sin d.
template <class R>
R logit(int key, const R& d) {
  return key == 0 ? reference::cos(d) : reference::sin(d);
}

/// What an additive score f(key) + g(d) leaves at 0: the mixed difference of the two keys between
/// the distances d and d + step.
template <class R>
R mixed_difference(const R& d, int step) {
  const R next = d + R(step);
  return (logit(0, d) - logit(1, d)) - (logit(0, next) - logit(1, next));
}

/// 1/2 less the largest mixed difference, either sign, over the steps 1..3 from `from`: it falls
/// below 1/2 at large distances.
template <int halves>
struct BecomesAdditive {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    R largest(0.0);
    for (int step = 1; step <= 3; ++step) {
      const R size = reference::absolute(mixed_difference(in.number("from"), step));
      largest = reference::maximum(largest, size);
    }
    return {R(halves / 2.0) - largest};
  }
};

/// The largest mixed difference less 1/2.
struct NeverBecomesAdditive {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {-BecomesAdditive<1>{}(in)[0]};
  }
};

/// Every phase that a distance can have, in 128 boxes from 0 to 6.2832 > 2 pi.
std::vector<Sample> phases() {
  std::vector<Sample> samples;
  for (int k = 0; k < 128; ++k) {
    samples.push_back(Sample{}.within("from", k * 0.0490875, (k + 1) * 0.0490875));
  }
  return samples;
}

std::vector<Sample> distances_of_rope_additive() {
  std::vector<Sample> samples;
  for (double d : {512.0, 0x1p15, 0x1p20, 0x1p40}) samples.push_back(Sample{}.with("from", {d}));
  return samples;
}

}  // namespace

Claim rope_additive() {
  Claim claim;
  claim.id = "bam/rope_additive";
  claim.title = "RoPE approximates an additive score as the context grows";
  claim.source = source("Section 4, \"Rotary Position Embedding\", last sentence");
  claim.statement =
      "RoPE asymptotically disentangles content and position in additive components of the logits; "
      "\"RoPE asymptotically approximates BAM as the context length increases\". So the mixed "
      "difference [s(k, d) - s(k', d)] - [s(k, d') - s(k', d')], which an additive score f(k) + "
      "g(d) "
      "has at 0, vanishes at large distances.";
  claim.hypotheses = {"The logit is q^T R(d) k with rotations R(d)."};
  claim.implicit = {
      "It is said of RoPE, not of particular trained queries and keys. What the cited work "
      "measures "
      "on trained models is not examined here."};
  claim.correction =
      "For q = (1, 0) and the keys (1, 0), (0, 1) of a head of width 2 the largest mixed "
      "difference "
      "over the steps 1 to 3 exceeds 1/2 at every distance: it is periodic and does not decay.";
  claim.derivation =
      "s(k, d) - s(k', d) = cos d - sin d = sqrt(2) cos(d + pi/4), whose changes over one, two and "
      "three steps are not all small at any phase: the change over s steps is 2 sqrt(2) "
      "|sin(s/2) sin(d + s/2 + pi/4)|, and the three phases are half a radian apart. A wider head "
      "adds more frequencies, on which q and k may be 0.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement,
                             "q = (1, 0), k = (1, 0), k' = (0, 1), one pair of frequency 1: 1/2 - "
                             "the largest |(cos d - sin d) - (cos(d + s) - sin(d + s))|, d = from, "
                             "s = 1, 2, 3 > 0 at a large distance",
                             BecomesAdditive<1>{}, distances_of_rope_additive()),
                     for_all(Role::correction, "largest mixed difference - 1/2 > 0 at every phase",
                             NeverBecomesAdditive{}, phases())});
  };
  claim.pictures = {pictures::rope_mixed_difference};
  claim.mutant = "The largest mixed difference is below 3/2 everywhere.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "3/2 - largest mixed difference > 0", BecomesAdditive<3>{},
                   phases());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
