// SPDX-License-Identifier: Apache-2.0
// BAM's priors over positions.
#include <fmt/format.h>

#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/pictures/sampling.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/bias/ggd.hpp"

namespace plumbline::proofs_checks::pictures {
namespace {

constexpr int keys = 64;

/// softmax(b_ij) over j = 1..i for the query i = keys; the bias is given by distance.
template <class Bias>
Curve prior(const std::string& label, const Bias& bias) {
  reference::Vector<double> logits(keys);
  for (int j = 1; j <= keys; ++j) logits[j - 1] = bias(keys - j);
  return {label, integers(1, keys), values_of(reference::softmax(logits).probability)};
}

}  // namespace

Picture prior_curves() {
  Picture picture;
  picture.name = "prior_curves";
  picture.title = "Four priors over the 64 positions that the last query sees";
  picture.description =
      "The weight softmax(b) of every position j for the query i = 64, without content. Uniform: "
      "1/64 everywhere. ALiBi with slope 1/8 (a Laplace prior) falls geometrically away from the "
      "query. GGD with beta = 1/2 falls from a higher peak and keeps more weight far away. GGD "
      "with beta = -1 and alpha = 16 is 0 at the query and rises, ever more slowly, with the "
      "distance: not sharply concentrated at the far end.";
  picture.x = {"position j of the key", 1, keys};
  picture.y = {"prior weight", 1e-5, 1, true};
  picture.curves = {prior("uniform (causal mask)", [](int) { return 0.0; }),
                    prior("ALiBi, m = 1/8", bam::LaplaceBias<double>{0.125}),
                    prior("GGD, β = 1/2, α = 2", bam::GgdBias<double>{2.0, 0.5}),
                    // Its own key has the bias minus infinity: weight 0.
                    prior("GGD, β = −1, α = 16", [](int d) {
                      return d == 0 ? -1e300 : bam::GgdBias<double>{16.0, -1.0}(d);
                    })};
  return picture;
}

Picture ggd_shapes() {
  Picture picture;
  picture.name = "ggd_shapes";
  picture.title = "The generalized Gaussian e^(-|x/alpha|^beta) for five exponents";
  picture.description =
      "All curves meet at x = alpha, where they are 1/e. Beyond it a larger beta falls faster; "
      "before it a larger beta is flatter, so that beta = 8 is nearly a box. With beta near 0 the "
      "curve is close to 1/e everywhere but at its peak.";
  picture.x = {"x / α", 0, 3};
  picture.y = {"relative weight p(x) / p(0)", 0, 1};
  for (const double beta : {0.05, 0.5, 1.0, 2.0, 8.0}) {
    const auto weight = [beta](double x) {
      return x == 0 ? 1.0 : reference::exp(-reference::power(x, beta));
    };
    picture.curves.push_back(curve(fmt::format("β = {:g}", beta), linear(0, 3, 121), weight));
  }
  return picture;
}

Picture laplace_sum() {
  Picture picture;
  picture.name = "laplace_sum";
  picture.title = "What the Laplace density sums to over the integers";
  picture.description =
      "The sum of (m/2) e^(-m |k|) over all integers k, by summation, for slopes m from 1/128 to "
      "4. It is (m/2) coth(m/2): close to 1 for small slopes, 1.08 at m = 1, above 2 at m = 4; a "
      "distribution would have 1.";
  picture.x = {"slope m", 0, 4};
  picture.y = {"sum over the integers", 0.9, 2.2};
  const auto total = [](double m) {
    double sum = m / 2;
    for (int k = 20000; k >= 1; --k) sum += m * reference::exp(-m * k);
    return sum;
  };
  picture.curves = {curve("Laplace density summed", linear(0.0078125, 4, 80), total),
                    curve(
                        "a distribution", {0, 4}, [](double) { return 1.0; }, Curve::Mark::dashes)};
  return picture;
}

Picture figure_5_bias() {
  Picture picture;
  picture.name = "figure_5_bias";
  picture.title = "The bias of Figure 5 as drawn, and of section 2.3";
  picture.description =
      "Both for alpha = 4, beta = 1/2 and mu = -2, by j - i. As drawn, |(j - i)/alpha|^beta - mu, "
      "the bias grows with the distance and mu lifts it as a whole; as defined, -|(j - i - "
      "mu)/alpha|^beta, it is at most 0 and has its peak at j - i = mu = -2.";
  picture.x = {"j − i", -32, 0};
  picture.y = {"bias", -3, 5};
  const double mu = -2;
  picture.curves = {
      curve("as drawn in Figure 5", integers(-32, 0),
            [mu](double x) { return (x == 0 ? 0.0 : reference::power(-x / 4.0, 0.5)) - mu; }),
      curve("as defined in section 2.3", integers(-32, 0), [mu](double x) {
        return x == mu ? 0.0 : -reference::power(reference::absolute((x - mu) / 4.0), 0.5);
      })};
  return picture;
}

Picture own_key_weight() {
  Picture picture;
  picture.name = "own_key_weight";
  picture.title = "The own key beside its neighbour, with epsilon = 10^-5";
  picture.description =
      "The weight of the query's own key over that of the nearest one, equal contents, "
      "theta_alpha = 0, mu = 0, by theta_beta. Theorem 3 has 0 for every negative value; with "
      "epsilon the ratio is 0.46 at -0.05 and falls below 1/100 only from about -0.15 on.";
  picture.x = {"θβ", -0.4, 0};
  picture.y = {"p(own) / p(nearest)", 0, 1};
  picture.curves = {curve("with appendix C's ε", linear(-0.4, 0, 81),
                          [](double beta) {
                            const reference::Ggd<double> bias(0.0, beta, 0.0, 1e-5);
                            return reference::exp(bias(1, 1) - bias(1, 0));
                          }),
                    curve(
                        "Theorem 3", {-0.4, 0}, [](double) { return 0.0; }, Curve::Mark::dashes)};
  return picture;
}

}  // namespace plumbline::proofs_checks::pictures
