// SPDX-License-Identifier: Apache-2.0
// CABLE's biases beside the others.
#include "reference/bias/cable.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/pictures/sampling.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/ggd.hpp"
#include "reference/bias/k_cable.hpp"

namespace plumbline::proofs_checks::pictures {
namespace {

constexpr int tokens = 20;

/// Increments as a ReLU leaves them: runs of zeros, and a few tokens that separate what is before
/// them from what comes after.
reference::Vector<double> increments() {
  reference::Vector<double> f(tokens);
  f << 0.25, 0, 0.5, 0.25, 0, 2, 0, 0.25, 0.25, 0, 0, 0.5, 3, 0, 0.25, 0, 0.5, 0, 0.25, 0.25;
  return f;
}

reference::Vector<double> gains() {
  reference::Vector<double> g(tokens);
  for (int i = 0; i < tokens; ++i) g[i] = i % 5 == 3 ? 1.5 : 0.75;
  return g;
}

template <class Bias>
Map map_of(const std::string& label, const Bias& bias, bool causal = true) {
  Map map{label, {}};
  for (int i = 0; i < tokens; ++i) {
    map.rows.emplace_back();
    for (int j = 0; j < (causal ? i + 1 : tokens); ++j) map.rows.back().push_back(bias(i, j));
  }
  return map;
}

Picture maps(const char* name, const char* title) {
  Picture picture;
  picture.name = name;
  picture.title = title;
  picture.x.label = "key j";
  picture.y.label = "query i";
  return picture;
}

}  // namespace

Picture bias_maps() {
  Picture picture = maps("bias_maps", "The bias b_ij that each method adds");
  picture.description =
      "Twenty queries by twenty keys under a causal mask; dark is low. ALiBi with slope 1/4 falls "
      "evenly with the distance, the same in every row. CABLE with the sign of the published code "
      "falls in steps where tokens have large increments (tokens 5 and 12), and faster in rows "
      "whose weight is large. CABLE as printed is the same with the other sign: the farthest keys "
      "have the largest bias. GGD with theta_beta = 1/2 falls at once near the query and slowly "
      "beyond.";
  const auto sums = reference::prefix_sum(increments());
  picture.maps = {map_of("ALiBi, m = 1/4", reference::Alibi<double>{0.25}),
                  map_of("CABLE, published code", reference::Cable<double>{sums, gains()}),
                  map_of("CABLE, as printed", reference::CablePaper<double>{sums, gains()}),
                  map_of("GGD, θβ = 1/2, θα = 0", reference::Ggd<double>(0.0, 0.5, 0.0, 1e-5))};
  return picture;
}

Picture bidirectional_maps() {
  Picture picture = maps("bidirectional_maps", "CABLE without a causal mask");
  picture.description =
      "The same twenty tokens, all keys visible. -g_i (S_i - S_j) is a penalty before the query "
      "and a reward after it; with |S_i - S_j|, as the published code has it, both sides are "
      "penalised.";
  const auto sums = reference::prefix_sum(increments());
  const reference::CablePaper<double> printed{sums, gains()};
  picture.maps = {map_of(
                      "−gᵢ (Sᵢ − Sⱼ)", [&](int i, int j) { return -printed(i, j); }, false),
                  map_of("−gᵢ |Sᵢ − Sⱼ|", reference::Cable<double>{sums, gains()}, false)};
  return picture;
}

Picture k_cable_kernel() {
  Picture picture;
  picture.name = "k_cable_kernel";
  picture.title = "CABLE's penalty b, and K-CABLE's ln(1 + b^2)";
  picture.description =
      "Both are 0 at b = 0. The kernel is never above b, touches slope 1 at b = 1 and flattens: "
      "3.3 at b = 5, 4.6 at b = 10, where CABLE's penalty is 5 and 10.";
  picture.x = {"b = Sᵢ − Sⱼ", 0, 10};
  picture.y = {"penalty", 0, 10};
  picture.curves = {curve("CABLE: b", linear(0, 10, 101), [](double b) { return b; }),
                    curve("K-CABLE: ln(1 + b²)", linear(0, 10, 101),
                          [](double b) { return reference::log_kernel(b); })};
  return picture;
}

Picture k_cable_window() {
  Picture picture;
  picture.name = "k_cable_window";
  picture.title = "The attention that lies beyond a window, CABLE and K-CABLE";
  picture.description =
      "The last of 256 queries over keys of equal content, every increment 1/4 and every weight "
      "1: the sum of the weights at distance W and beyond. Under K-CABLE it is never less, and it "
      "falls like a power of W where CABLE's falls geometrically.";
  picture.x = {"window W", 1, 200, true};
  picture.y = {"weight at distance W and beyond", 1e-6, 1, true};
  const int keys = 256;
  const reference::Vector<double> steps = reference::Vector<double>::Constant(keys, 0.25),
                                  ones = reference::Vector<double>::Constant(keys, 1.0);
  const auto sums = reference::prefix_sum(steps);
  const auto beyond = [&](const auto& bias) {
    reference::Vector<double> logits(keys);
    for (int d = 0; d < keys; ++d) logits[d] = bias(keys - 1, keys - 1 - d);
    std::vector<double> mass = values_of(reference::softmax(logits).probability);
    for (std::size_t w = mass.size() - 1; w-- > 0;) mass[w] += mass[w + 1];
    mass.erase(mass.begin());
    return mass;
  };
  picture.curves = {
      {"CABLE", integers(1, keys - 1), beyond(reference::Cable<double>{sums, ones})},
      {"K-CABLE", integers(1, keys - 1), beyond(reference::KCable<double>{sums, ones})}};
  return picture;
}

}  // namespace plumbline::proofs_checks::pictures
