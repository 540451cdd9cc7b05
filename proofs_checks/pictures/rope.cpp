// SPDX-License-Identifier: Apache-2.0
// RoPE's scores, which are not additive at any distance.
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/pictures/sampling.hpp"
#include "proofs_checks/rope_score.hpp"

namespace plumbline::proofs_checks::pictures {

Picture rope_mixed_difference() {
  Picture picture;
  picture.name = "rope_mixed_difference";
  picture.title = "What keeps RoPE's score from being additive, by distance";
  picture.description =
      "[s(k, d) - s(k', d)] - [s(k, d + 1) - s(k', d + 1)] for q = (1, 0), k = (1, 0), k' = (0, 1) "
      "in one plane with frequency 1. A score f(k) + g(d) has 0 everywhere. The values swing "
      "between "
      "about -1.36 and 1.36 with the period 2 pi, at distances near 1000 as near 0: nothing "
      "decays.";
  picture.x = {"distance d", 1000, 1040};
  picture.y = {"mixed difference", -1.6, 1.6};
  reference::Vector<double> q(2), k(2), other(2);
  q << 1, 0;
  k << 1, 0;
  other << 0, 1;
  const auto score = [&](const reference::Vector<double>& key, double d) {
    return rope_score(q, static_cast<int>(d), key, 0);
  };
  picture.curves = {
      curve("RoPE", integers(1000, 1040),
            [&](double d) {
              return (score(k, d) - score(other, d)) - (score(k, d + 1) - score(other, d + 1));
            }),
      curve(
          "an additive score", {1000, 1040}, [](double) { return 0.0; }, Curve::Mark::dashes)};
  return picture;
}

}  // namespace plumbline::proofs_checks::pictures
