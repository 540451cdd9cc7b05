// SPDX-License-Identifier: Apache-2.0
// BAM's Z (Theorem 1 and appendix K).
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/pictures/sampling.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/attention/softmax.hpp"

namespace plumbline::proofs_checks::pictures {
namespace {

/// Theorem 1's quantities at one pair of score vectors.
struct Pair {
  reference::Softmax<double> content, position, joint;

  Pair(const reference::Vector<double>& f, const reference::Vector<double>& g)
      : content(reference::softmax(f)),
        position(reference::softmax(g)),
        joint(reference::softmax(reference::Vector<double>(f + g))) {}

  double overlap() const { return reference::dot(content.probability, position.probability); }
  double ratio() const { return reference::exp(content.lse + position.lse - joint.lse); }
  double cosine() const {
    return overlap() / reference::sqrt(reference::dot(content.probability, content.probability) *
                                       reference::dot(position.probability, position.probability));
  }
};

Pair pair_of(const Sample& sample) {
  const auto vector = [&](std::size_t k) {
    const std::vector<double>& values = sample.quantities.at(k).lower;
    return reference::Vector<double>(
        Eigen::Map<const reference::Vector<double>>(values.data(), values.size()));
  };
  return {vector(0), vector(1)};
}

}  // namespace

Picture z_random_pairs() {
  Picture picture;
  picture.name = "z_random_pairs";
  picture.title = "The two expressions that appendix K prints for Z, at random scores";
  picture.description =
      "Each point is a pair of score vectors f and g of 2 to 9 keys, planted and random ones: "
      "across, the sum of p_cont p_pos, which is what Theorem 1 divides by; up, Z_cont Z_pos / "
      "Z_joint. Printed as equal they would lie on the rising line; they lie on the falling one: "
      "one is the reciprocal of the other.";
  picture.x = {"Σ p(cont) p(pos)", 1e-5, 10, true};
  picture.y = {"Z(cont) Z(pos) / Z(joint)", 0.1, 1e5, true};
  Curve pairs{"pairs of score vectors", {}, {}, Curve::Mark::points};
  for (const Sample& sample : score_pairs(false)) {
    const Pair pair = pair_of(sample);
    pairs.x.push_back(pair.overlap());
    pairs.y.push_back(pair.ratio());
  }
  picture.curves = {
      pairs, curve("equal, as printed", {0.1, 10}, [](double x) { return x; }),
      curve(
          "reciprocal", {1e-5, 10}, [](double x) { return 1.0 / x; }, Curve::Mark::dashes)};
  return picture;
}

Picture overlap_of_mixtures() {
  Picture picture;
  picture.name = "overlap_of_mixtures";
  picture.title = "The overlap is not largest where the two distributions coincide";
  picture.description =
      "p = softmax(1, 0) is fixed and q = softmax(t, 0) goes from uniform to one-hot. Where they "
      "coincide, at t = 1, the overlap is 0.61, and it rises on towards 0.73, the largest entry of "
      "p. The cosine of the two vectors is largest, 1, at t = 1.";
  picture.x = {"t, where q = softmax(t, 0)", 0, 6};
  picture.y = {"overlap, cosine", 0.4, 1.05};
  const auto at = [](double t) { return pair_of(scores({1, 0}, {t, 0})); };
  picture.curves = {
      curve("overlap Σ p q", linear(0, 6, 121), [=](double t) { return at(t).overlap(); }),
      curve("cosine", linear(0, 6, 121), [=](double t) { return at(t).cosine(); }),
      curve(
          "q = p", {1.0}, [=](double t) { return at(t).overlap(); }, Curve::Mark::points)};
  return picture;
}

}  // namespace plumbline::proofs_checks::pictures
