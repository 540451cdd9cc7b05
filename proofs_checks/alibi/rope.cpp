// SPDX-License-Identifier: Apache-2.0
// The comparison with RoPE.
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/rope_score.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

template <class R>
Vector<R> rotate(const Vector<R>& x, const R& angle) {
  const R c = cos(angle), s = sin(angle);
  return Vector<R>{{c * x[0] - s * x[1], s * x[0] + c * x[1]}};
}

}  // namespace

void claims_of_rope(Claims& claims) {
  const auto mixed_difference = equals_zero<"q", "k", "k'", "m">(
      []<class R>(const Vector<R>& q, const Vector<R>& k, const Vector<R>& other, R m, bool rope) {
        const reference::Alibi<R> bias{m};
        const auto score = [&](const Vector<R>& key, int d) {
          return rope ? R(rope_score<R>(q, 7, key, 7 - d)) : R(dot(q, key) + bias(7, 7 - d));
        };
        return at_each("d = 0, d'", {1, 3, 7}, [&](int d) {
          return R(score(k, 0) - score(other, 0) - (score(k, d) - score(other, d)));
        });
      });
  const Samples contents_and_slopes = {
      {{"q", {1, 0, 0, 1}}, {"k", {0, 1, 1, 1}}, {"k'", {1, 1, 1, 1}}, {"m", 0.5}},
      {{"q", {0.5, -2, 1, 3}}, {"k", {-1, 0.25, 2, 0.5}}, {"k'", {1, 0, 0, 2}}, {"m", 0x1p-8}}};
  claims["alibi/leaves_content_alone"] = Claim({
      .title = "ALiBi leaves the content alone, RoPE does not",
      .source = source("Introduction, last paragraph; comparison with RoPE, at a high level"),
      .statement =
          "\"Instead of encoding position by rotating the Q and K vectors themselves, it leaves "
          "the "
          "content vectors unchanged\": how much one key's score exceeds another's at the same "
          "distance does not depend on the distance, s(k, d) - s(k', d) = s(k, d') - s(k', d').",
      .hypotheses = {definition("A score is q . k plus the bias of the distance.",
                                "It is what is said of ALiBi.")},
      .implicit = {definition("Content acts through the difference of two keys' scores.",
                              "It says how a change of it would be seen.")},
      .proof =
          holds("Both sides are q . k - q . k', the bias cancels. Under RoPE the difference is "
                "<R_i q, R_j (k - k')>, which turns with the distance."),
      .checks = check("[s(k, 0) - s(k', 0)] - [s(k, d') - s(k', d')] = 0", mixed_difference(false),
                      contents_and_slopes),
      .mutant = {"So does RoPE.", check("[s(k, 0) - s(k', 0)] - [s(k, d') - s(k', d')] = 0, RoPE",
                                        mixed_difference(true), contents_and_slopes)},
  });

  // Re[q conj(k) e^(i angle)] of the complex numbers q_0 + i q_1 and k_0 + i k_1.
  const auto complex_product =
      equals_zero<"q", "k">([]<class R>(const Vector<R>& q, const Vector<R>& k, bool of_the_sum) {
        return at_each("i = 7, j", {0, 3, 7}, [&](int j) {
          const R angle(of_the_sum ? 7 + j : 7 - j);
          const R product =
              (q[0] * k[0] + q[1] * k[1]) * cos(angle) - (q[1] * k[0] - q[0] * k[1]) * sin(angle);
          return R(rope_score<R>(q, 7, k, j) - product);
        });
      });
  const auto keeps_length = equals_zero<"q">([]<class R>(const Vector<R>& q) {
    return at_each("position", {0, 1, 7, 1000},
                   [&](int i) { return R(rope_score<R>(q, i, q, i) - dot(q, q)); });
  });
  const Samples plane_vectors = {{{"q", {1, 0}}, {"k", {0, 1}}},
                                 {{"q", {0.5, -2}}, {"k", {3, 0.25}}}};
  claims["alibi/rope_complex_plane"] = Claim({
      .title = "RoPE rotates query and key in a complex plane",
      .source = source("Comparison with RoPE, at a high level, second item"),
      .statement =
          "RoPE \"modifies the query and key vectors themselves by rotating them in a complex "
          "plane "
          "using sinusoidal functions of position\": a pair of components as a complex number, "
          "times e^(i theta position), so <R_i q, R_j k> = Re[q conj(k) e^(i theta (i - j))], and "
          "lengths stay as they are.",
      .implicit = {definition("One pair of components, with theta = 1, the first of the "
                              "frequencies.",
                              "Every pair has such a plane, with a frequency of its own.")},
      .proof = holds("(q e^(i theta i)) conj(k e^(i theta j)) = q conj(k) e^(i theta (i - j)), and "
                     "|e^(i x)| = 1."),
      .checks = {check("<R_i q, R_j k> - Re[q conj(k) e^(i (i - j))] = 0", complex_product(false),
                       plane_vectors),
                 check("|R_i q|^2 - |q|^2 = 0", keeps_length, plane_vectors)},
      .mutant = {"The score turns with i + j.",
                 check("<R_i q, R_j k> - Re[q conj(k) e^(i (i + j))] = 0", complex_product(true),
                       plane_vectors)},
  });

  const auto rotated = equals_zero<"phi", "q", "k">(
      []<class R>(R phi, const Vector<R>& q, const Vector<R>& k, bool key_rotates) {
        const R none(0.0);
        const auto q_0 = rotate(q, none), k_0 = rotate(k, none);
        const auto q_phi = rotate(q, phi), k_phi = rotate(k, key_rotates ? phi : none);
        return at_each("i = 7, j", {0, 3, 7}, [&](int j) {
          return rope_score<R>(q_phi, 7, k_phi, j) - rope_score<R>(q_0, 7, k_0, j);
        });
      });
  const Samples vectors = {{{"q", {1, 0}}, {"k", {0, 1}}, {"phi", 1}},
                           {{"q", {0.5, -2}}, {"k", {3, 0.25}}, {"phi", -0.75}}};
  claims["alibi/rope_rotation_invariance"] = Claim({
      .title = "RoPE preserves rotation invariance within its planes",
      .source = source("Comparison with RoPE, practical trade-offs, third item"),
      .statement =
          "RoPE preserves certain geometric properties, such as rotation invariance "
          "within 2D subspaces: rotating query and key by one angle in the plane of a pair "
          "leaves all scores as they are.",
      .implicit = {needed_as_the_mutant_shows(
          "One angle for each pair of components, the same for query and key.",
          "Rotating one of them changes the angle between them.")},
      .proof = holds_under_condition(
          "Rotations of a plane commute: <R_i R_phi q, R_j R_phi k> = <R_phi R_i q, "
          "R_phi R_j k> = <R_i q, R_j k>."),
      .theorem = "other_methods.rope_rotation_invariance",
      .checks = check("<R_i R_phi q, R_j R_phi k> - <R_i q, R_j k> = 0", rotated(true), vectors),
      .mutant = {"Rotating the query alone leaves them as well.",
                 check("<R_i R_phi q, R_j k> - <R_i q, R_j k> = 0", rotated(false), vectors)},
  });

  const auto table_of_positions = product({"positions", "width"}, "learned numbers");
  const auto positions_of = numbers_of({"positions", "width", "learned numbers"});
  claims["alibi/adoption"] = Claim({
      .title = "ALiBi appears in BLOOM, MPT and StarCoder",
      .source = source("Comparison with RoPE, practical trade-offs, fourth item; conclusion"),
      .statement =
          "\"ALiBi appears in models such as BLOOM, MPT, and StarCoder.\" Checked through a "
          "consequence: a model with ALiBi has no table of learned positions, 0 numbers.",
      .implicit =
          {"StarCoder is the model of 15.5B parameters of 2023.",
           "A model that learns a vector for each position does not have ALiBi in its place."},
      .correction = "BLOOM and MPT have it. StarCoder learns 8,192 positions of width 6,144.",
      .proof = refuted(
          "StarCoder has the architecture of GPT-2 with multi-query attention: learned absolute "
          "positions, 8192 x 6144 = 49,152 x 1024 = 50,331,648 numbers, and none beyond 8192. "
          "StarCoder2 has RoPE. "
          "That RoPE is in GPT-NeoX, LLaMA and ChatGLM is right."),
      .checks = {check("StarCoder: positions x width = 0", table_of_positions,
                       {positions_of(8192, 6144, 0)}),
                 correction(
                     "StarCoder: 8 x 6144 - 49,152 = 0, in units of 1024 numbers",
                     product({"positions/1024", "width"}, "learned numbers/1024"),
                     {{{"positions/1024", 8}, {"width", 6144}, {"learned numbers/1024", 49152}}}),
                 correction("BLOOM and MPT: positions x width = 0", table_of_positions,
                            {positions_of(0, 14336, 0), positions_of(0, 4096, 0)})},
      .mutant = {"StarCoder's predecessor SantaCoder has none.",
                 check("SantaCoder: positions x width = 0", table_of_positions,
                       {positions_of(2048, 2048, 0)})},
  });
}

}  // namespace plumbline::proofs_checks::alibi
