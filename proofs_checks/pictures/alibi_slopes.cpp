// SPDX-License-Identifier: Apache-2.0
// ALiBi's slopes, and what a slope does.
#include "proofs_checks/claims.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/pictures/sampling.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::pictures {

Picture slopes_of_12_heads() {
  Picture picture;
  picture.name = "slopes_of_12_heads";
  picture.title = "The slopes of twelve heads";
  picture.description =
      "By head, on a logarithmic axis: the official slopes are 2^-1 to 2^-8 and then 2^-0.5, "
      "2^-1.5, 2^-2.5, 2^-3.5, so the sequence jumps up after the eighth head; the article's "
      "formula 2^(-8 h/12) is one straight line; 1/2^h, which the first eight official slopes "
      "follow, falls to 1/4096.";
  picture.x = {"head h", 0.5, 12.5};
  picture.y = {"slope", 0.0001, 1, true};
  picture.curves = {
      {"official", integers(1, 12), reference::alibi_slopes<double>(12), Curve::Mark::points},
      {"article: 2^(−8 h/12)", integers(1, 12), reference::alibi_slopes_geometric<double>(12),
       Curve::Mark::points},
      curve(
          "1/2^h", integers(1, 12), [](double h) { return std::exp2(-h); }, Curve::Mark::points)};
  return picture;
}

Picture steep_and_gentle() {
  Picture picture;
  picture.name = "steep_and_gentle";
  picture.title = "How far the steepest and the gentlest of eight heads look";
  picture.description =
      "The sum of the weights of the nearest keys over 2048 keys of equal content. With slope 1/2 "
      "ten keys have more than 99 percent; with slope 1/256 they have 4 percent, and 1171 keys "
      "are needed. At a distance of 256 that head's weight has fallen to 37 percent of the "
      "nearest one's.";
  picture.x = {"number of nearest keys", 1, 2048, true};
  picture.y = {"their part of the attention", 0, 1};
  for (const auto& [label, slope] : {std::pair{"m = 1/2", 0.5}, std::pair{"m = 1/16", 0.0625},
                                     std::pair{"m = 1/256", 0.00390625}}) {
    const reference::Alibi<double> bias{slope};
    const auto weights = softmax_of<double>(2048, [&](int d) { return bias(d, 0); });
    Curve part{label, integers(1, 2048), {}};
    double sum = 0;
    for (int d = 0; d < 2048; ++d) part.y.push_back(sum += weights[d]);
    picture.curves.push_back(part);
  }
  return picture;
}

Picture exponential_weights() {
  Picture picture;
  picture.name = "exponential_weights";
  picture.title = "ALiBi: the bias falls in a straight line, the factor on the weight does not";
  picture.description =
      "For slope 1/8: the bias -m d goes to minus infinity in equal steps; e^(-m d), the factor "
      "by which it multiplies a key's weight, falls by the same factor each step and approaches 0.";
  picture.x = {"distance d", 0, 32};
  picture.y = {"bias, and factor", -4, 1};
  const reference::Alibi<double> bias{0.125};
  picture.curves = {
      curve("bias −m d", integers(0, 32), [=](double d) { return bias(static_cast<int>(d), 0); }),
      curve("factor e^(−m d)", integers(0, 32),
            [=](double d) { return reference::exp(bias(static_cast<int>(d), 0)); })};
  return picture;
}

}  // namespace plumbline::proofs_checks::pictures
