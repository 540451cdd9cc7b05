// SPDX-License-Identifier: Apache-2.0
// What captions and the text say of what the figures show.
#include <algorithm>

#include "proofs_checks/cable/source.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/fire.hpp"
#include "reference/bias/kerple.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_figures(Claims& claims) {
  const auto fire_shifts = equals_zero<"i", "s", "c", "L">([]<class R>(int i, int s, R c, R L) {
    const Vector<R> one = Vector<R>::Constant(1, R(1.0)), zero = zeros<R>(1);
    const reference::Fire<R> bias({one, zero, one, R(0.0), c, R(1.0)}, L);
    return at_each("j", 0, i + 1, [&](int j) { return bias(i + s, j + s) - bias(i, j); });
  });
  const auto others_shift =
      equals_zero<"i", "s", "c", "r">([]<class R>(int i, int s, R c, const Vector<R>& r) {
        const reference::Alibi<R> alibi{c};
        const reference::KerpleLog<R> kerple(c, c);
        const int K = static_cast<int>(r.size()) - 1;
        const auto t5 = [&](int query, int key) { return r[std::min(query - key, K)]; };
        std::vector<Placed<R>> residuals;
        for (int j = 0; j <= i; ++j) {
          const std::string place = "j = " + std::to_string(j);
          residuals.push_back({alibi(i + s, j + s) - alibi(i, j), "ALiBi, " + place});
          residuals.push_back({kerple(i + s, j + s) - kerple(i, j), "Kerple, " + place});
          residuals.push_back({t5(i + s, j + s) - t5(i, j), "T5-bias, " + place});
        }
        return residuals;
      });
  const auto shifted = [](double L) {
    return grid({{"i", {1, 3, 7}}, {"s", {1, 8, 100}}, {"c", {0.125, 1}}, {"L", L}});
  };
  claims["cable/uniform_patterns"] = Claim({
      .title = "The biases of Kerple, ALiBi, Fire and T5-bias are uniform across tokens",
      .source = source("Captions of Figures 10, 12, 13 and 14; section 2"),
      .statement =
          "\"The uniform patterns across tokens highlight the context-independent nature of\" "
          "Kerple, ALiBi, Fire and T5-bias: for the same distance the bias is the same "
          "wherever the pair stands, b(i + s, j + s) = b(i, j).",
      .implicit = {definition("Uniform across tokens: one number for each distance. (All four are "
                              "independent of the context in that b(i, j) has no tokens in it.)",
                              "It says what a uniform pattern is."),
                   definition("FIRE with f the identity, one ReLU with weights 1; j <= i.",
                              "It says which FIRE is looked at.")},
      .condition = "For FIRE, no query stands beyond the threshold: i + s <= L.",
      .proof = holds_under_condition(
          "-r |i - j|, -r_1 ln(1 + r_2 |i - j|) and r_min(i - j, K) are functions of i - j. FIRE's "
          "psi(i - j)/psi(max(L, i)) is divided by psi(i) for i > L: with c = 1 and L = 4 the "
          "distance 1 has ln 2/ln 5 at i = 1 and ln 2/ln 102 at i = 101."),
      .checks = {check("ALiBi, Kerple, T5-bias: b(i + s, j + s) - b(i, j) = 0", others_shift,
                       with(shifted(4), {{{"r", {0, -1, -1.5, -3}}}})),
                 check("FIRE: b(i + s, j + s) - b(i, j) = 0, L = 4", fire_shifts, shifted(4)),
                 condition("FIRE: b(i + s, j + s) - b(i, j) = 0, L = 128", fire_shifts,
                           shifted(128)),
                 condition("ALiBi, Kerple, T5-bias: b(i + s, j + s) - b(i, j) = 0, at all i",
                           others_shift, with(shifted(4), {{{"r", {0, -1, -1.5, -3}}}}))},
      .mutant = {"FIRE's is uniform up to queries at 107 with L = 100.",
                 check("FIRE: b(i + s, j + s) - b(i, j) = 0, L = 100", fire_shifts, shifted(100))},
  });

  const auto figures = numbers_of({"before", "shown", "last"});
  const auto count_of_figures = total({"before", "shown"}, "last");
  claims["cable/counts_of_figures"] = Claim({
      .title = "Figures 8 to 14 show seven additive encodings, Figure 4 three heads",
      .source = source("Appendix A.3; section 5.4; captions of Figures 4 and 8 to 15"),
      .statement =
          "Figures 8 to 14 show Cable, DAPEv2+Cable, Kerple, DAPEv2+Kerple, ALiBi, Fire "
          "and T5-bias, one figure each, and Figure 15 RoPE; the \"three different heads\" "
          "of section 5.4 are the \"left three panels\" of Figure 4.",
      .implicit = {definition("One panel for each head, one figure for each method.",
                              "It says what is counted.")},
      .proof = holds("7 + 7 = 14 and 7 + 8 = 15: seven figures follow Figure 7, then one for RoPE, "
                     "and the captions have the methods in the order of the list. Three heads, "
                     "three panels."),
      .checks = {check("7 + 7 - 14 = 0, 7 + 8 - 15 = 0, 0 + 3 - 3 = 0", count_of_figures,
                       {figures(7, 7, 14), figures(7, 8, 15), figures(0, 3, 3)})},
      .mutant = {"Figures 8 to 14 are six.",
                 check("7 + 6 - 14 = 0", count_of_figures, {figures(7, 6, 14)})},
  });

  const auto methods = numbers_of({"methods", "shown"});
  const auto all_are_shown = equals_zero<"methods", "shown">(
      []<class R>(R examined, R shown) { return examined - shown; });
  claims["cable/all_methods_shown"] = Claim({
      .title = "Appendix A.3 shows all examined methods",
      .source = source("Section 5.4, against appendix A.3 and Tables 1 and 2"),
      .statement = "\"Appendix A.3 presents the complete set of visualizations for all attention "
                   "heads across all examined methods\": the methods of Tables 1 and 2 are as many "
                   "as the figures of the appendix, 8 to 15.",
      .implicit = {definition("The examined methods are the columns of Tables 1 and 2: nine, and "
                              "DAPEv2+CABLE and DAPEv2+Kerple.",
                              "It says what is counted.")},
      .condition = "Learnable, Sinusoidal and CABLE_NW are not counted.",
      .proof = holds_under_condition(
          "Eleven methods, eight figures: CABLE, DAPEv2+CABLE, Kerple, DAPEv2+Kerple, ALiBi, Fire, "
          "T5-bias and RoPE. Learnable and Sinusoidal add nothing to the scores that could be "
          "drawn; CABLE_NW does. (K-CABLE, which only Figure 5 has, would be a twelfth.)"),
      .checks = {check("11 - 8 = 0", all_are_shown, {methods(11, 8)}),
                 condition("8 - 8 = 0", all_are_shown, {methods(8, 8)})},
      .mutant = {"CABLE_NW is shown as well.", check("9 - 8 = 0", all_are_shown, {methods(9, 8)})},
  });
}

}  // namespace plumbline::proofs_checks::cable
