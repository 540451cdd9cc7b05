// SPDX-License-Identifier: Apache-2.0
// What becomes of one key's weight as the context grows: Lemmas 3 and 4, Theorem 4, fading.
#include <fmt/format.h>

#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/pictures/sampling.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/attention/ssmax.hpp"

namespace plumbline::proofs_checks::pictures {
namespace {

/// The weight of the farthest of d + 1 keys, whose content exceeds the others' by `gain`.
template <class Bias>
double farthest(const Bias& bias, double distance, double gain = 0.0) {
  const int n = static_cast<int>(distance);
  return bam::weight_of_farthest(
      reference::Vector<double>(reference::Vector<double>::Constant(n, -gain)), bias);
}

Picture decay_picture(const char* name, const char* title) {
  Picture picture;
  picture.name = name;
  picture.title = title;
  picture.x = {"distance of the farthest key", 1, 1024, true};
  picture.y = {"its weight", 1e-8, 1, true};
  return picture;
}

}  // namespace

Picture alibi_decay() {
  Picture picture = decay_picture("alibi_decay", "Lemma 3: the farthest key under ALiBi");
  picture.description =
      "The weight of the farthest key by its distance, slope 1/16; the context grows with the "
      "distance. With equal contents, and with a content that exceeds the others' by 4, it falls "
      "at least as fast as e^(8 - m d), the rate for contents within 4. A content that grows as "
      "the bias does, f = m d, keeps it above 0.05 at every length: without a bound on the "
      "content the lemma is false.";
  const bam::LaplaceBias<double> bias{0.0625};
  picture.curves = {
      curve("equal contents", distances(256), [=](double d) { return farthest(bias, d); }),
      curve("4 more for this key", distances(256),
            [=](double d) { return farthest(bias, d, 4.0); }),
      curve(
          "rate for |f| ≤ 4", distances(512),
          [](double d) { return reference::exp(8.0 - 0.0625 * d); }, Curve::Mark::dashes),
      curve("unbounded: f = m d", distances(1024),
            [=](double d) { return farthest(bias, d, -bias(static_cast<int>(d))); })};
  return picture;
}

Picture ggd_decay() {
  Picture picture = decay_picture("ggd_decay", "Lemma 4: the farthest key under GGD, beta > 0");
  picture.description =
      "The weight of the farthest key by its distance, equal contents, alpha = 1, mu = 0. For "
      "every beta > 0 it tends to 0; the smaller beta, the closer it stays to 1/n, the weight "
      "without a positional score. With beta = 1/100 it can hardly be told from it up to 1024 "
      "keys.";
  picture.curves.push_back(curve(
      "no position: 1/n", distances(1024), [](double d) { return 1.0 / (d + 1.0); },
      Curve::Mark::dashes));
  for (const double beta : {0.01, 0.25, 0.5, 1.0}) {
    const bam::GgdBias<double> bias{1.0, beta};
    picture.curves.push_back(curve(fmt::format("β = {:g}", beta), distances(beta < 1 ? 1024 : 16),
                                   [=](double d) { return farthest(bias, d); }));
  }
  return picture;
}

Picture negative_beta_decay() {
  Picture picture =
      decay_picture("negative_beta_decay", "Theorem 4: the farthest key with beta < 0");
  picture.description =
      "The weight of the farthest of n keys besides the query's own, equal contents, alpha = 1. "
      "For beta = -1 and beta = -1/4 it falls like 1/n, as it does without a positional score: "
      "the limit is 0, which Theorem 4 denies. What stays above 0 is the factor e^b, which tends "
      "to 1.";
  picture.y = {"its weight", 0.0005, 2, true};
  const auto weight = [](double beta) {
    return [beta](double n) {
      const int keys = static_cast<int>(n);
      const bam::GgdBias<double> bias{1.0, beta};
      const auto f = reference::zeros<double>(keys + 1);
      return reference::exp(bias(keys)) / bam::mass(f, bias, 1, keys + 1);
    };
  };
  picture.curves = {curve("β = −1", distances(1024), weight(-1.0)),
                    curve("β = −1/4", distances(1024), weight(-0.25)),
                    curve(
                        "no position: 1/n", distances(1024), [](double n) { return 1.0 / n; },
                        Curve::Mark::dashes),
                    curve("factor e^b, β = −1", distances(1024), [](double n) {
                      return reference::exp(bam::GgdBias<double>{1.0, -1.0}(static_cast<int>(n)));
                    })};
  return picture;
}

Picture fading() {
  Picture picture;
  picture.name = "fading";
  picture.title = "The weight of one key that stands out, as the context grows";
  picture.description =
      "One key exceeds n - 1 equal ones by a margin of 2. Under softmax its weight fades like "
      "1/n. Under scalable softmax, which multiplies the scores by s ln n, it tends to 1 for s "
      "times the margin above 1, stays at 1/2 where that is 1, and fades all the same below 1.";
  picture.x = {"number of keys n", 2, 65536, true};
  picture.y = {"weight of the key", 0, 1};
  const auto peak = [](double scale) {
    return [scale](double n) {
      const double factor =
          scale == 0 ? 1.0 : reference::ssmax_factor<double>(scale, static_cast<int>(n));
      return 1.0 / (1.0 + (n - 1.0) * reference::exp(-2.0 * factor));
    };
  };
  std::vector<double> n = powers_of_2(16);
  n.erase(n.begin());
  picture.curves = {curve("softmax", n, peak(0)), curve("SSMax, s = 0.75", n, peak(0.75)),
                    curve("SSMax, s = 0.5", n, peak(0.5)), curve("SSMax, s = 0.25", n, peak(0.25))};
  return picture;
}

}  // namespace plumbline::proofs_checks::pictures
