// SPDX-License-Identifier: Apache-2.0
// What captions and the text say of what the figures show.
#include <algorithm>

#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
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

  // The encodings by figure, from Figure 8 on, as the captions name them.
  const std::vector<std::string> additive_in_figures = {
      "CABLE", "DAPEv2+CABLE", "Kerple", "DAPEv2+Kerple", "ALiBi", "Fire", "T5-bias"};
  const auto figures = numbers_of({"figures before", "encodings", "last figure"});
  const auto count_of_figures = total({"figures before", "encodings"}, "last figure");
  claims["cable/counts_of_figures"] = Claim({
      .title = "Figures 8 to 14 show seven additive encodings",
      .source = source("Appendix A.3; captions of Figures 8 to 15"),
      .statement = "Figures 8 to 14 show Cable, DAPEv2+Cable, Kerple, DAPEv2+Kerple, ALiBi, Fire "
                   "and T5-bias, one figure each, and Figure 15 RoPE.",
      .implicit = {definition("One figure for each method.", "It says what is counted.")},
      .proof = holds("7 + 7 = 14 and 7 + 8 = 15: seven figures follow Figure 7, then one for RoPE, "
                     "and the captions have the methods in the order of the list."),
      .checks = {check("7 + 7 - 14 = 0, with RoPE 7 + 8 - 15 = 0", count_of_figures,
                       {figures(7, additive_in_figures.size(), 14),
                        figures(7, additive_in_figures.size() + 1, 15)})},
      .mutant = {"Figures 8 to 14 are six.",
                 check("7 + 6 - 14 = 0", count_of_figures, {figures(7, 6, 14)})},
  });

  // The methods of Tables 1 and 2, and how many figures of the appendix each has.
  std::vector<std::string> examined;
  Sample figures_of_methods;
  for (const Table& table : {table_1_fineweb, table_2}) {
    for (const auto& [method, numbers] : table.columns) {
      if (std::ranges::count(examined, method) > 0) continue;
      examined.push_back(method);
      const auto shown = std::ranges::count(additive_in_figures, method);
      figures_of_methods.with({method, method == "RoPE" ? 1.0 : 1.0 * shown});
    }
  }
  const auto examined_but = [=](const std::vector<std::string>& left_out) {
    std::vector<std::string> methods = examined;
    std::erase_if(methods, [&](const std::string& method) {
      return std::ranges::count(left_out, method) > 0;
    });
    return methods;
  };
  const auto one_figure =
      equals_zero([]<class R>(const Inputs<R>& in, const std::vector<std::string>& methods) {
        std::vector<Placed<R>> residuals;
        for (const std::string& method : methods) {
          residuals.push_back({in.number(method) - R(1.0), method});
        }
        return residuals;
      });
  claims["cable/all_methods_shown"] = Claim({
      .title = "Appendix A.3 shows all examined methods",
      .source = source("Section 5.4, against appendix A.3 and Tables 1 and 2"),
      .statement =
          "\"Appendix A.3 presents the complete set of visualizations for all attention "
          "heads across all examined methods\": each method of Tables 1 and 2 has a figure "
          "in the appendix, 8 to 15.",
      .implicit = {"The examined methods are the columns of Tables 1 and 2: nine, and DAPEv2+CABLE "
                   "and DAPEv2+Kerple."},
      .correction = "Eight of the eleven have one: all but Learnable, Sinusoidal and CABLE_NW.",
      .proof = refuted(
          "Eleven methods, eight figures: CABLE, DAPEv2+CABLE, Kerple, DAPEv2+Kerple, ALiBi, Fire, "
          "T5-bias and RoPE. Learnable and Sinusoidal add nothing to the scores that could be "
          "drawn; CABLE_NW does. (K-CABLE, which only Figure 5 has, would be a twelfth.)"),
      .checks = {check("figures of a method - 1 = 0, Tables 1 and 2", one_figure(examined),
                       {figures_of_methods}),
                 correction("figures of a method - 1 = 0, all but Learnable, Sinusoidal, CABLE_NW",
                            one_figure(examined_but({"Learnable", "Sinusoidal", "CABLE_NW"})),
                            {figures_of_methods})},
      .mutant = {"All but Learnable and Sinusoidal have one.",
                 check("figures of a method - 1 = 0, all but Learnable, Sinusoidal",
                       one_figure(examined_but({"Learnable", "Sinusoidal"})),
                       {figures_of_methods})},
  });
}

}  // namespace plumbline::proofs_checks::cable
