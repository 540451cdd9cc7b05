// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/settings.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// H T additions of the cumulative sums, less all else that CABLE computes: 2 T C H multiplications
/// of the two linear maps and H T^2 of the weight. For the correction `share` times all else less
/// the sums.
template <bool correction>
struct SumsAreMost {
  static constexpr Relation relation = Relation::at_least_zero;
  double share = 1.0;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &T = in.number("T"), &C = in.number("C"), &H = in.number("H");
    const R sums = H * T, rest = R(2.0) * T * C * H + H * T * T;
    return {correction ? rest * R(share) - sums : sums - rest};
  }
};

std::vector<Sample> sizes_of_cumulative_sum_cost() {
  std::vector<Sample> samples;
  for (double T : {1024, 1, 8192}) {
    samples.push_back(Sample{}.with("T", {T}).with("C", {768}).with("H", {12}));
    samples.push_back(Sample{}.with("T", {T}).with("C", {1024}).with("H", {16}));
    samples.push_back(Sample{}.with("T", {T}).with("C", {512}).with("H", {8}));
  }
  return samples;
}

}  // namespace

Claim cumulative_sum_cost() {
  Claim claim;
  claim.id = "cable/cumulative_sum_cost";
  claim.title = "The overhead is primarily that of the cumulative sum";
  claim.source = source("Section 5.2");
  claim.statement =
      "\"The overhead of our method is primarily related to the cumulative sum operation in our "
      "computations\": of the operations that CABLE adds to a layer, most are its additions.";
  claim.hypotheses = {"Two linear maps C -> H, cumulative sums for H heads, T tokens."};
  claim.implicit = {
      "The count of operations stands for the overhead; time on an accelerator is "
      "another matter, as a cumulative sum runs along the tokens.",
      "The differences S_i - S_j and their addition to the scores are left out, which "
      "ALiBi has as well."};
  claim.correction = "The sums are less than a thousandth of the rest: 1/(2 C + T) of it.";
  claim.derivation =
      "H T additions against 2 T C H multiplications of the maps and H T^2 of the weight: the "
      "quotient is 1/(2 C + T), 1/2560 for Small at T = 1024.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement, "H T - (2 T C H + H T^2) >= 0", SumsAreMost<false>{},
                             sizes_of_cumulative_sum_cost()),
                     for_all(Role::correction, "(2 T C H + H T^2)/1024 - H T >= 0",
                             SumsAreMost<true>{1.0 / 1024}, sizes_of_cumulative_sum_cost())});
  };
  claim.mutant = "They are less than a hundred-thousandth.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "(2 T C H + H T^2)/2^17 - H T >= 0", SumsAreMost<true>{0x1p-17},
                   sizes_of_cumulative_sum_cost());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
