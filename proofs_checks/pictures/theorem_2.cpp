// SPDX-License-Identifier: Apache-2.0
// BAM's Theorem 2: GGD beside ALiBi.
#include <fmt/format.h>

#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/pictures/sampling.hpp"
#include "reference/attention/softmax.hpp"

namespace plumbline::proofs_checks::pictures {
namespace {

constexpr double m = 0.25, beta = 0.5;

/// Weights by distance over `keys` keys of equal content.
template <class Bias>
std::vector<double> weights(const Bias& bias, int keys) {
  reference::Vector<double> logits(keys);
  for (int d = 0; d < keys; ++d) logits[d] = bias(d);
  return values_of(reference::softmax(logits).probability);
}

/// The part of the weights at distance w and beyond, for every w.
std::vector<double> mass_from(const std::vector<double>& weights) {
  std::vector<double> mass = weights;
  for (std::size_t w = mass.size() - 1; w-- > 0;) mass[w] += mass[w + 1];
  return mass;
}

}  // namespace

Picture theorem_2_ratio() {
  Picture picture;
  picture.name = "theorem_2_ratio";
  picture.title = "The ratio of Theorem 2, with the alpha of its proof";
  picture.description =
      "B_ij / A_ij by distance for mu = 0 and alpha = m^(-1/beta), which makes it d^(beta - 1), m "
      "= 1/4. At distance 1 it is 1 for every beta, not below 1; beyond, it falls for 0 < beta < "
      "1 and stays 1 for beta = 1. For beta = 0, which \"beta < 1\" includes, it is 1/(m d) "
      "whatever the scale is: above 1 for d < 1/m = 4.";
  picture.x = {"distance |j − i|", 1, 1024, true};
  picture.y = {"B / A", 0.0009765625, 8, true};
  for (const double exponent : {0.25, 0.5, 0.75, 1.0}) {
    const bam::PowerBias<double> ggd{m, exponent};
    const bam::LaplaceBias<double> alibi{m};
    picture.curves.push_back(
        curve(fmt::format("β = {:g}", exponent), powers_of_2(10),
              [=](double d) { return ggd(static_cast<int>(d)) / alibi(static_cast<int>(d)); }));
  }
  picture.curves.push_back(curve(
      "β = 0: 1/(m d)", powers_of_2(10),
      [](double d) { return -1.0 / bam::LaplaceBias<double>{m}(static_cast<int>(d)); },
      Curve::Mark::dashes));
  return picture;
}

Picture theorem_2_weights() {
  Picture picture;
  picture.name = "theorem_2_weights";
  picture.title = "A smaller bias, yet less weight on near keys";
  picture.description =
      "Attention weights by distance over 64 keys of equal content, m = 1/4: ALiBi, and GGD with "
      "beta = 1/2 and alpha = m^(-1/beta). From distance 2 on the GGD's bias is smaller in size, "
      "but up to distance 8 its keys get less weight, since the far keys take more of the whole.";
  picture.x = {"distance |j − i|", 0, 40};
  picture.y = {"weight", 0, 0.24};
  picture.curves = {
      {"ALiBi, m = 1/4", integers(0, 63), weights(bam::LaplaceBias<double>{m}, 64)},
      {"GGD, β = 1/2", integers(0, 63), weights(bam::PowerBias<double>{m, beta}, 64)}};
  return picture;
}

Picture theorem_2_mass() {
  Picture picture;
  picture.name = "theorem_2_mass";
  picture.title = "How much of the attention lies beyond a window";
  picture.description =
      "The sum of the weights at distance w and beyond over 256 keys of equal content, m = 1/4. "
      "Under GGD with beta = 1/2 and the same m it is never less than under ALiBi: what Theorem 2 "
      "should say.";
  picture.x = {"window w", 1, 200, true};
  picture.y = {"weight at distance w and beyond", 0, 1};
  picture.curves = {
      {"ALiBi, m = 1/4", integers(0, 255), mass_from(weights(bam::LaplaceBias<double>{m}, 256))},
      {"GGD, β = 1/2", integers(0, 255), mass_from(weights(bam::PowerBias<double>{m, beta}, 256))}};
  for (Curve& curve : picture.curves) {  // no logarithm of 0
    curve.x.erase(curve.x.begin());
    curve.y.erase(curve.y.begin());
  }
  return picture;
}

}  // namespace plumbline::proofs_checks::pictures
