// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/rope_score.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

/// The weight of the key at each distance 0..keys-1, of equal contents.
template <class R>
Vector<R> weights_by_distance(const R& slope, int keys) {
  const reference::Alibi<R> bias{slope};
  return softmax_of<R>(keys, [&](int d) { return bias(d, 0); });
}

/// The weights of the keys 0..keys-1 for a query among them.
template <class R>
Vector<R> weights_for(int query, const R& slope, int keys) {
  const reference::Alibi<R> bias{slope};
  return softmax_of<R>(keys, [&](int j) { return bias(query, j); });
}

/// The share of the ten nearest keys less 99 percent.
template <class R>
R share_of_the_nearest(const Vector<R>& p) {
  R near(0.0);
  for (int d = 0; d < 10; ++d) near += p[d];
  return near - R(99.0) / R(100.0);
}

template <class R>
Vector<R> rotate(const Vector<R>& x, const R& angle) {
  const R c = cos(angle), s = sin(angle);
  return Vector<R>{{c * x[0] - s * x[1], s * x[0] + c * x[1]}};
}

/// What the bias does to a sentence, and what it takes from training.
void claims_of_sentences(Claims& claims) {
  // The output at the verb, of keys in front of it and, if it sees them, after it.
  const auto exchange = above_zero<"words", "m", "before", "after">(
      []<class R>(const Vector<R>& word, R m, int before, int after, bool causal) {
        const reference::Alibi<R> bias{m};
        const auto at_the_verb = [&](const R& first, const R& last) {
          Vector<R> keys{{first, word[1], last}};
          const auto p = softmax_of<R>(causal ? 2 : 3, [&](int j) {
            return R(keys[j] + bias(before, j == 0 ? 0 : (j == 1 ? before : before + after)));
          });
          R output(0.0);
          for (int j = 0; j < (causal ? 2 : 3); ++j) output += p[j] * keys[j];
          return output;
        };
        const R difference = at_the_verb(word[0], word[2]) - at_the_verb(word[2], word[0]);
        return absolute(difference) - R(1.0) / R(100.0);
      });
  const auto sentences = [](double before, double after, double m) {
    return grid({vectors("words", {{1, 0, -1}, {2, 1, 0.5}}),
                 {"m", m},
                 {"before", before},
                 {"after", after}});
  };
  claims["alibi/word_order"] = Claim({
      .title = "The positional mechanism tells who chased whom",
      .source = source("Introduction, second paragraph, with the formula of the bias"),
      .statement =
          "\"The dog chased the cat\" is not \"The cat chased the dog\": positional encoding, here "
          "the bias -m |i - j|, lets the model tell the order of words. Examined as: if the two "
          "nouns are exchanged, the output at the verb changes, by more than 0.01.",
      .implicit = {definition("Keys and values are the numbers 1, 0, -1 (or 2, 1, 0.5) of the "
                              "nouns and the verb; the two \"the\" are the same in both sentences "
                              "and left out of the sum.",
                              "It gives the sentence numbers.")},
      .condition = "Attention is causal, or the two words stand at different distances.",
      .proof = holds_under_condition(
          "|i - j| has no direction. Without a mask \"dog chased cat\", with both nouns one step "
          "from the verb, gives the verb the same keys with the same biases as \"cat chased dog\": "
          "a sentence and its reverse have the same outputs, reversed. With the causal mask the "
          "verb sees the first noun only. In the article's sentence the nouns stand one and two "
          "steps away, which is enough without a mask, too."),
      .checks = {check("|change of the output| - 0.01 > 0, without a mask, nouns at distances 1, 1",
                       exchange(false), sentences(1, 1, 0.5)),
                 condition("the same with the causal mask", exchange(true), sentences(1, 1, 0.5)),
                 condition("the same without a mask, distances 1 and 2", exchange(false),
                           sentences(1, 2, 0.5))},
      .mutant = {"Without a mask a bias is not needed for it: m = 0, distances 1 and 2.",
                 check("|change of the output| - 0.01 > 0 for m = 0", exchange(false),
                       sentences(1, 2, 0))},
  });

  const auto linear = equals_zero<"m">([]<class R>(R m, bool signed_offset) {
    const reference::Alibi<R> bias{m};
    const auto b = [&](int offset) { return bias(20, 20 - offset); };
    std::vector<Placed<R>> residuals;
    for (int a : {0, 1, 5, 20}) {
      for (int c : {0, 2, 7}) {
        const int second = signed_offset ? -c : c;
        residuals.push_back({b(a + second) - b(a) - b(second),
                             "distances " + std::to_string(a) + " and " + std::to_string(second)});
      }
    }
    return residuals;
  });
  const Samples slopes = {{{"m", 0.5}}, {{"m", 0.1}}, {{"m", 0x1p-8}}};
  claims["alibi/linear_in_distance"] = Claim({
      .title = "The bias is a linear function of the distance",
      .source =
          source("Technical details, last sentence; comparison with RoPE (\"a linear function "
                 "of token distance\")"),
      .statement = "\"Because the bias is a simple linear function of the distance, it is called a "
                   "Linear Bias\": b(a + c) = b(a) + b(c) for distances a, c >= 0.",
      .hypotheses = {needed_as_the_mutant_shows(
          "The distance |i - j| is its argument.",
          "As a function of i - j it has a kink at 0: on both sides it falls.")},
      .implicit = {definition("Linear: additive, with b(0) = 0.", "It says what the word means.")},
      .proof = holds("-m (a + c) = -m a - m c. The weight e^b is exponential in the distance, not "
                     "linear (cable/decay_proportional)."),
      .checks = check("b(a + c) - b(a) - b(c) = 0 for a = 0, 1, 5, 20 and c = 0, 2, 7",
                      linear(false), slopes),
      .mutant = {"So it is in i - j, before and after the query.",
                 check("b(a - c) - b(a) - b(-c) = 0", linear(true), slopes)},
  });

  const auto closer = above_zero<"m">([]<class R>(R m, bool signed_product) {
    const reference::Alibi<R> bias{m};
    const reference::AlibiSigned<R> code{m};
    return at_each("distance", 0, 8, [&](int d) {
      return signed_product ? R(code(8, 8 + d) - code(8, 9 + d))
                            : R(bias(8, 8 - d) - bias(8, 7 - d));
    });
  });
  claims["alibi/closer_is_better"] = Claim({
      .title = "The bias is monotonic: closer is better",
      .source = source("Comparison with RoPE, practical trade-offs, third item; intuition"),
      .statement =
          "ALiBi \"bakes in a very direct monotonic \"closer is better\" assumption\": the "
          "bias falls with every step, b(d) > b(d + 1).",
      .hypotheses = {needed(
          {"The slope is positive (code example: \"the positive slopes\").", "m", above(0)},
          "A slope of 0 ranks nothing.",
          check("b(d) - b(d + 1) > 0 for m = 0", closer(false), {{{"m", 0}}}))},
      .implicit = {definition("Better means a larger bias; what the content adds is another matter "
                              "(alibi/further_less_attention).",
                              "It says what is compared.")},
      .proof = holds("b(d) - b(d + 1) = m > 0. The score under RoPE has no such order "
                     "(cable/rope_need_not_decay)."),
      .checks = check("b(d) - b(d + 1) > 0", closer(false), slopes),
      .mutant = {"So it is for the code's product m (j - i), after the query.",
                 check("m d - m (d + 1) > 0", closer(true), slopes)},
  });

  const auto dimmed =
      equals_zero<"content", "m">([]<class R>(const Vector<R>& content, R m, bool renormalised) {
        const int keys = static_cast<int>(content.size());
        const reference::Alibi<R> bias{m};
        const auto plain = softmax(content).probability;
        const auto biased = softmax_of<R>(keys, [&](int d) { return R(content[d] + bias(d, 0)); });
        Vector<R> seen(keys);
        for (int d = 0; d < keys; ++d) seen[d] = plain[d] * exp(-(m * R(d)));
        const R total = renormalised ? R(sum(seen)) : R(1.0);
        return at_each("distance", 0, keys, [&](int d) { return R(biased[d] - seen[d] / total); });
      });
  const auto clear_then_opaque = at_least_zero<"m">([]<class R>(R m) {
    const auto transparency = [&](int d) { return R(exp(-(m * R(d)))); };
    return at_each("distance", 0, 8, [&](int d) { return transparency(d) - transparency(d + 1); });
  });
  const Samples contents_by_distance =
      grid({vectors("content", {{0, 0, 0}, {1, -2, 3, 0.5}}), {"m", {0.5, 0x1p-8}}});
  claims["alibi/transparency"] = Claim({
      .title = "The bias is a mask whose transparency falls with the distance",
      .source = source("Intuition, after the first figure"),
      .statement =
          "\"Think of this as applying a mask of varying transparency over the text history\", "
          "clear "
          "for recent words and more opaque further back: the weights are those without a bias, "
          "each times t(d) = e^(-m d), divided by their sum; t(0) = 1, and t falls.",
      .hypotheses = {definition("The slope is positive.", "Otherwise nothing is hidden.")},
      .implicit = {needed_as_the_mutant_shows(
          "What is seen through the mask is normalised again.",
          "Dimmed weights add up to less than 1, so near words become brighter.")},
      .proof = holds_under_condition(
          "e^(s_d - m d) = e^(s_d) e^(-m d); the sum of all is the only normaliser. So the far "
          "words do not only get darker: what they lose the near ones gain."),
      .checks = {check("p_d - t(d) p'_d / sum of t p' = 0, with p' without a bias", dimmed(true),
                       contents_by_distance),
                 check("t(d) - t(d + 1) >= 0", clear_then_opaque, slopes)},
      .mutant = {"They are the dimmed weights themselves.",
                 check("p_d - t(d) p'_d = 0", dimmed(false), contents_by_distance)},
  });

  // Of the pairs j <= i of n words, `times` those at a distance below that of the training.
  const auto pairs_seen = at_least_zero<"trained", "n">([]<class R>(R trained, R n, double times) {
    const R seen = trained * n - trained * (trained - R(1.0)) / R(2.0);
    return R(times) * seen - n * (n + R(1.0)) / R(2.0);
  });
  const auto few_pairs_seen =
      at_least_zero<"trained", "n">([]<class R>(R trained, R n, double times) {
        const R seen = trained * n - trained * (trained - R(1.0)) / R(2.0);
        return n * (n + R(1.0)) / R(2.0) - R(times) * seen;
      });
  // For equal content, the attention of word n to the words at distances from `trained` on.
  const auto unseen_mass = [](const auto& m, const auto& trained, const auto& n) {
    using R = std::decay_t<decltype(m)>;
    return R((exp(-(m * trained)) - exp(-(m * n))) / (R(1.0) - exp(-(m * n))));
  };
  const auto mass_above =
      above_zero<"m", "trained", "n">([=]<class R>(R m, R trained, R n, double share) {
        return unseen_mass(m, trained, n) - R(share);
      });
  const auto mass_below =
      above_zero<"m", "trained", "n">([=]<class R>(R m, R trained, R n, double share) {
        return R(share) - unseen_mass(m, trained, n);
      });
  const Samples short_and_long = {{{"trained", 100}, {"n", 10000}}};
  const auto of_slope = [&](double m) { return with(short_and_long, {{{"m", m}}}); };
  claims["alibi/distances_of_training"] = Claim({
      .title = "With relative distances the length of a sentence does not matter",
      .source = source("Why does this work so well, 1"),
      .statement =
          "\"Since the bias is a relative measure of distance, it does not matter if a sentence "
          "has 100 words or 10,000 words. [...] The model learns to handle attention based on "
          "these "
          "relative distances.\" Checked through a consequence: the 100 words of training have "
          "every distance of the 10,000.",
      .implicit = {"The model is trained on sentences of 100 words and reads one of 10,000.",
                   "What it learns of a distance is learned where the distance occurs."},
      .correction = "2 percent of the pairs stand at a distance that 100 words have. Of the "
                    "attention of the last word, for equal content, a slope of 1/2 gives less than "
                    "10^-21 to the unseen distances, a slope of 1/256 two thirds.",
      .proof = refuted(
          "Distances 0 to 99 occur in training, 100 to 9,999 do not. Of the 50,005,000 pairs j <= "
          "i 995,050 are no farther than 99, 2.0 percent. With the slope m the unseen distances "
          "get (e^(-100 m) - e^(-10000 m))/(1 - e^(-10000 m)): 1.9e-22 for 1/2, 0.68 for 1/256. "
          "That the bias is relative does not suffice: RoPE and T5's bias are relative, too, and "
          "the article's figure shows them fail. The equal distance has the equal bias "
          "(alibi/translation_invariance)."),
      .checks = {check("pairs at distances of training - all pairs >= 0", pairs_seen(1),
                       short_and_long),
                 correction("all pairs - 50 pairs at distances of training >= 0",
                            few_pairs_seen(50), short_and_long),
                 correction("unseen share of the attention, m = 1/256 - 0.67 > 0", mass_above(0.67),
                            of_slope(0x1p-8)),
                 correction("10^-21 - unseen share of the attention, m = 1/2 > 0",
                            mass_below(1e-21), of_slope(0.5))},
      .mutant = {"They have a tenth of the pairs.",
                 check("10 pairs at distances of training - all pairs >= 0", pairs_seen(10),
                       short_and_long)},
  });

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
}

/// The numbers of the original paper, which the article's two figures of measurements draw, on
/// WikiText-103. Appendix, Table 1: training and inference in hundreds of words per second, memory
/// of training in tenths of a gigabyte, by the training length.
struct Measured {
  std::string method;
  std::vector<int> training, inference, memory;
};
const std::vector<int> measured_lengths = {512, 1024, 3072};
const Measured measured_alibi = {"ALiBi", {283, 258, 155}, {858, 764, 422}, {153, 193, 152}};
const Measured measured_sinusoidal = {
    "Sinusoidal", {285, 260, 153}, {821, 778, 424}, {153, 192, 151}};
const Measured measured_rotary = {"Rotary", {200, 177, 115}, {434, 394, 295}, {178, 228, 178}};
const Measured measured_t5 = {"T5 bias", {144, 130, 43}, {218, 202, 49}, {169, 209, 159}};
/// Table 3: perplexities in hundredths, trained at 1024.
const Table original_perplexities = {
    {1024, 1124, 1524, 2024, 3024, 6024, 10024, 16024},
    {{"ALiBi", {1866, 1846, 1822, 1805, 1792, 1801, 1797, 1798}},
     {"Sinusoidal", {1934, 1926, 2982, 5109, 9646, 21402, 33748, 45332}},
     {"Rotary", {1933, 1918, 2259, 3117, 3567, 5478, 7770, 10699}},
     {"T5 bias", {1880, 1862, 1842, 1834, 1862, 2176, 2954, Table::missing}}}};
constexpr const char* numbers_of_the_figure =
    "The article prints no numbers; those that its figure draws are in the appendix of the "
    "original paper.";

/// "ALiBi" and "the other", at each length.
Samples side_by_side(std::vector<int> Measured::*what, const std::vector<Measured>& others) {
  Samples samples;
  for (const Measured& other : others) {
    for (std::size_t k = 0; k < measured_lengths.size(); ++k) {
      samples.push_back({{"L", static_cast<double>(measured_lengths[k])},
                         printed("ALiBi", (measured_alibi.*what)[k]),
                         printed("the other", (other.*what)[k])});
    }
  }
  return samples;
}

/// Speed, memory and perplexity: what the article says of measurements.
void claims_of_measurements(Claims& claims) {
  const auto within_percent =
      above_zero<"ALiBi", "the other">([]<class R>(const R& alibi, const R& other, double percent) {
        return R(percent) * other - R(100.0) * absolute(alibi - other);
      });
  const auto within_factor =
      above_zero<"ALiBi", "the other">([]<class R>(const R& alibi, const R& other, double factor) {
        return std::vector<Placed<R>>{{R(factor) * alibi - other, "ALiBi has less"},
                                      {R(factor) * other - alibi, "the other has less"}};
      });
  // Table 8 of BAM, in hundredths of a millisecond: with and without scalable softmax.
  Samples milliseconds;
  for (const std::string ssmax : {"", " SSMax"}) {
    const auto row = [&](const std::string& method) {
      return *std::ranges::find(bam::table_8, method + ssmax, &bam::Timing::method);
    };
    for (int size = 0; size < 3; ++size) {
      milliseconds.push_back(
          {{"million parameters", size == 0 ? 120.0 : (size == 1 ? 430.0 : 1100.0)},
           printed("ALiBi", row("ALiBi").mean[size]),
           printed("the other", row("Sinusoidal").mean[size])});
    }
  }
  claims["alibi/speed_against_sinusoidal"] = Claim({
      .title = "ALiBi is as fast as sinusoidal embeddings",
      .source = source("Why does this work so well, text after the figure of speed and memory"),
      .statement = "\"Speed differences between sinusoidal and ALiBi are negligible and do not "
                   "meaningfully affect training or inference\": they are below 5 percent.",
      .implicit = {definition("Negligible is less than 5 percent.",
                              "Without a number there is nothing to check."),
                   definition(numbers_of_the_figure, "It says which numbers are read."),
                   definition_of_printed_numbers()},
      .proof = holds("Words per second at 512, 1024 and 3072 tokens: training -0.7, -0.8 and +1.3 "
                     "percent, inference +4.5, -1.8 and -0.5. Milliseconds in Table 8 of the BAM "
                     "manuscript: -4.3 percent at 120M, +2.5 at 430M, +1.8 at 1.1B; with scalable "
                     "softmax -1.9, +1.6 and +1.0."),
      .checks = {check("training: 5 percent of Sinusoidal - |difference| > 0", within_percent(5),
                       side_by_side(&Measured::training, {measured_sinusoidal})),
                 check("inference: the same", within_percent(5),
                       side_by_side(&Measured::inference, {measured_sinusoidal})),
                 check("time in Table 8 of BAM: the same", within_percent(5), milliseconds)},
      .mutant = {"Below 2 percent.",
                 check("inference: 2 percent of Sinusoidal - |difference| > 0", within_percent(2),
                       side_by_side(&Measured::inference, {measured_sinusoidal}))},
  });

  const std::vector<Measured> three = {measured_sinusoidal, measured_rotary, measured_t5};
  claims["alibi/broadly_comparable"] = Claim({
      .title = "In speed and memory ALiBi is comparable to sinusoidal, rotary and T5 bias",
      .source = source("Why does this work so well, figure of speed and memory, and the text"),
      .statement = "\"Across batched training, inference speed, and memory use, ALiBi is broadly "
                   "comparable to sinusoidal, rotary, and T5 bias methods\": at every length "
                   "neither has 1.5 times the number of the other.",
      .implicit = {definition("Comparable is within a factor of 1.5.",
                              "Without a number there is nothing to check."),
                   definition(numbers_of_the_figure, "It says which numbers are read."),
                   definition_of_printed_numbers()},
      .condition = "It is memory that is compared, or training with sinusoidal or rotary, or "
                   "inference with sinusoidal.",
      .proof = holds_under_condition(
          "ALiBi is much faster than two of the three. Against T5 bias it trains 2.0, 2.0 and 3.6 "
          "times as many words per second at 512, 1024 and 3072 tokens, and in inference 3.9, 3.8 "
          "and 8.6 times; against rotary 1.42, 1.46 and 1.35 times in training and 1.98, 1.94 and "
          "1.43 in inference. Memory differs by less than a fifth: 15.3, 19.3 and 15.2 GB against "
          "15.1 to 22.8."),
      .checks = {check("training: 1.5 times one - the other > 0", within_factor(1.5),
                       side_by_side(&Measured::training, three)),
                 check("inference: the same", within_factor(1.5),
                       side_by_side(&Measured::inference, three)),
                 condition("memory: 1.5 times one - the other > 0", within_factor(1.5),
                           side_by_side(&Measured::memory, three)),
                 condition(
                     "training, Sinusoidal and Rotary: the same", within_factor(1.5),
                     side_by_side(&Measured::training, {measured_sinusoidal, measured_rotary})),
                 condition("inference, Sinusoidal: the same", within_factor(1.5),
                           side_by_side(&Measured::inference, {measured_sinusoidal}))},
      .mutant = {"T5 bias trains at least at two thirds of ALiBi's speed.",
                 check("training, T5 bias: 1.5 times one - the other > 0", within_factor(1.5),
                       side_by_side(&Measured::training, {measured_t5}))},
  });

  const auto steps = [](const std::string& method, int shortest, int longest) {
    return pairs(original_perplexities, method, shortest, longest);
  };
  const auto rises = above("here", {"before"});
  claims["alibi/figure_rises"] = Claim({
      .title = "Beyond the training length sinusoidal, rotary and T5 rise in perplexity",
      .source = source("Why does this work so well, text after the figure of perplexities"),
      .statement = "\"Sinusoidal, rotary, and T5 positional methods show rising perplexity as "
                   "sequences exceed training lengths\": it rises in every step beyond 1024, the "
                   "training length.",
      .implicit = {definition("The curves for models trained at 1024 tokens.",
                              "The figure has two panels, for 512 and 1024."),
                   definition(numbers_of_the_figure, "It says which numbers are read."),
                   definition_of_printed_numbers()},
      .condition = "T > 2024, about twice the training length.",
      .proof = holds_under_condition(
          "100 tokens beyond, all three are lower: 19.34 to 19.26, 19.33 to 19.18, 18.80 to 18.62. "
          "Then sinusoidal and rotary rise in every step, to 453 and 107; T5 bias falls to 18.34 "
          "at 2024 and rises after that, to 29.54 at 10,024. In Table 1 of CABLE all three rise "
          "from 1024 to 2048 and in every later step."),
      .checks = {check("Sinusoidal, T > 1024: here - before > 0 (hundredths)", rises,
                       steps("Sinusoidal", 1025, 16024)),
                 check("Rotary: the same", rises, steps("Rotary", 1025, 16024)),
                 check("T5 bias: the same", rises, steps("T5 bias", 1025, 10024)),
                 condition("Sinusoidal, steps from 2024 on", rises,
                           steps("Sinusoidal", 2025, 16024)),
                 condition("Rotary: the same", rises, steps("Rotary", 2025, 16024)),
                 condition("T5 bias: the same", rises, steps("T5 bias", 2025, 10024))},
      .mutant = {"So does ALiBi from 2024 on.",
                 check("ALiBi, steps from 2024 on: here - before > 0", rises,
                       steps("ALiBi", 2025, 16024))},
  });

  const auto lower_by_percent = above_zero([]<class R>(const Inputs<R>& in, double percent) {
    std::vector<Placed<R>> residuals;
    for (const char* other : {"Sinusoidal", "Rotary", "T5 bias", "RoPE", "T5-bias"}) {
      if (in.has(other)) {
        residuals.push_back(
            {R(100.0 - percent) * in.number(other) - R(100.0) * in.number("ALiBi"), other});
      }
    }
    return residuals;
  });
  const auto moves_less =
      above_zero<"before", "here">([]<class R>(const R& before, const R& here, double percent) {
        return R(percent) * before - R(100.0) * absolute(here - before);
      });
  const auto grows_by =
      above_zero<"before", "here">([]<class R>(const R& before, const R& here, double percent) {
        return R(100.0) * here - R(100.0 + percent) * before;
      });
  const auto since_training = [](const std::string& method, int shortest, int longest) {
    return pairs(original_perplexities, method, shortest, longest, 1024);
  };
  const std::vector<Table> cable_blocks = {cable::table_1_fineweb, cable::table_1_wikitext,
                                           cable::table_4_small,   cable::table_4_tiny,
                                           cable::table_5_medium,  cable::table_5_small};
  claims["alibi/lower_and_stable"] = Claim({
      .title = "Beyond the training length ALiBi's perplexity is markedly lower and stable",
      .source = source("Why does this work so well, text after the figure of perplexities"),
      .statement =
          "\"ALiBi's curve stays markedly lower and far more stable\": at every length "
          "beyond 1024 it is 5 percent or more below the other three, and within 5 percent "
          "of its own value at 1024.",
      .implicit = {definition("Markedly lower is by 5 percent, stable is within 5 percent.",
                              "Without numbers there is nothing to check."),
                   definition(numbers_of_the_figure, "It says which numbers are read."),
                   definition_of_printed_numbers()},
      .condition = "T >= 6024, about six times the training length.",
      .proof = holds_under_condition(
          "ALiBi is lowest at every length, but at 1124 sinusoidal is 4.3 and rotary 3.9 percent "
          "above it, and T5 bias 0.9 percent at 1124, 1.6 at 2024, 3.9 at 3024. From 6024 on the "
          "next best, T5 bias, is 21 percent above. ALiBi goes from 18.66 at 1024 to 17.98 at "
          "16,024 and is never more than 4 percent away; the others grow by half and more. In the "
          "tables of CABLE ALiBi is more than 5 percent below all three at every T > 1024."),
      .checks = {check("T > 1024: 0.95 times each of the others - ALiBi > 0", lower_by_percent(5),
                       rows(original_perplexities, 1025)),
                 check("ALiBi: 5 percent of 1024 - |change| > 0", moves_less(5),
                       since_training("ALiBi", 1025, 16024)),
                 condition("T >= 6024: 0.95 times each of the others - ALiBi > 0",
                           lower_by_percent(5), rows(original_perplexities, 6024)),
                 condition("ALiBi: 5 percent of 1024 - |change| > 0", moves_less(5),
                           since_training("ALiBi", 1025, 16024)),
                 condition("CABLE, Tables 1, 4, 5, T > 1024: 0.95 times each - ALiBi > 0",
                           lower_by_percent(5), rows(cable_blocks, 1025)),
                 condition("T5 bias at 10,024: grown by more than half", grows_by(50),
                           since_training("T5 bias", 10024, 10024)),
                 condition("Sinusoidal at 16,024: the same", grows_by(50),
                           since_training("Sinusoidal", 16024, 16024)),
                 condition("Rotary at 16,024: the same", grows_by(50),
                           since_training("Rotary", 16024, 16024))},
      .mutant = {"From 1524 on ALiBi is 5 percent below T5 bias.",
                 check("T >= 1524: 0.95 times each of the others - ALiBi > 0", lower_by_percent(5),
                       rows(original_perplexities, 1524, 2024))},
  });

  const auto at_four_times = [&](const std::string& method) {
    Samples samples;
    for (const Table& block : cable_blocks) {
      for (Sample& one : pairs(block, method, 4096, 4096, 1024)) samples.push_back(std::move(one));
    }
    return samples;
  };
  claims["alibi/lost_at_four_times"] = Claim({
      .title = "Trained on 500 words, a model can be lost in 2,000",
      .source = source("Introduction, third paragraph"),
      .statement =
          "Methods that add positions to the word embeddings \"struggled when a sentence was "
          "longer "
          "than any sentence they had seen\"; trained on 500 words, a model \"can be completely "
          "lost "
          "trying to read a 2,000-word chapter\": at four times its training length the perplexity "
          "is at least ten times as high.",
      .hypotheses = {needed_as_the_mutant_shows("Positions are added to the word embeddings.",
                                                "ALiBi's perplexity hardly changes.")},
      .implicit = {definition("Completely lost is ten times the perplexity.",
                              "Without a number there is nothing to check."),
                   definition("The sinusoidal models of CABLE's Tables 1, 4 and 5, trained at 1024 "
                              "and read at 4096; 2,000 is four times 500 as well.",
                              "The article has no numbers."),
                   definition_of_printed_numbers()},
      .proof = holds("The six factors are 61, 26, 44, 39, 21 and 27. Learned positions cannot be "
                     "applied at all (cable/learnable_ends)."),
      .checks = check("Sinusoidal: perplexity at 4096 - 10 times that at 1024 > 0", grows_by(900),
                      at_four_times("Sinusoidal")),
      .mutant = {"So is ALiBi's.", check("ALiBi: perplexity at 4096 - 10 times that at 1024 > 0",
                                         grows_by(900), at_four_times("ALiBi"))},
  });

  // ALiBi and the encodings without a bias towards near tokens, at the training length.
  Samples trained_alike;
  for (int bam::Perplexity::*data : {&bam::Perplexity::wikipedia, &bam::Perplexity::fineweb}) {
    Sample column;
    for (const bam::Perplexity& row : bam::table_2) column.with(printed(row.method, row.*data));
    trained_alike.push_back(std::move(column));
  }
  for (Sample& row : rows(cable_blocks, 1024, 1024)) trained_alike.push_back(std::move(row));
  claims["alibi/learns_more"] = Claim({
      .title = "The bias helps the model learn more effectively",
      .source = source("Why does this work so well, 3"),
      .statement = "The bias towards near tokens \"helps the model learn faster and more "
                   "effectively\": after the same training, at the training length, ALiBi's "
                   "perplexity is below that of encodings without it: sinusoidal, learned, none, "
                   "rotary.",
      .implicit = {definition(
                       "More effectively is a lower perplexity after the same training. (How "
                       "fast it falls is printed nowhere.)",
                       "It says what is compared."),
                   definition("Table 2 of the BAM manuscript and T = 1024 in CABLE's Tables 1, 4 "
                              "and 5.",
                              "The article has no numbers."),
                   definition_of_printed_numbers()},
      .condition = "The other is not rotary.",
      .proof = holds_under_condition(
          "Table 2: ALiBi 18.55 and 22.18, sinusoidal 18.93 and 22.36, none 19.86 and 23.79. In "
          "all six blocks of CABLE ALiBi is below sinusoidal and learned. Rotary is below ALiBi on "
          "Wikipedia (18.36) and in five of the six blocks, by 0.02 to 0.48; in GPT-2 Medium on "
          "FineWeb-Edu-10B it is above, 16.89 against 16.79."),
      .checks = {check("Sinusoidal, Learnable, NoPE, RoPE are above ALiBi",
                       below("ALiBi", {"Sinusoidal", "Learnable", "NoPE", "RoPE"}), trained_alike),
                 condition("Sinusoidal, Learnable, NoPE are above ALiBi",
                           below("ALiBi", {"Sinusoidal", "Learnable", "NoPE"}), trained_alike)},
      .mutant = {"It is the lowest of all in CABLE's tables.",
                 check("CABLE and Kerple are above ALiBi at T = 1024",
                       below("ALiBi", {"CABLE", "Kerple"}), rows(cable_blocks, 1024, 1024))},
  });

  const auto half_of_the_answers = [](int shortest) {
    return with(rows(bam::table_4, shortest), {{{"a half", 50}}});
  };
  const auto perplexity_since_1024 = [&] {
    Samples samples;
    for (const Table& block : cable_blocks) {
      for (Sample& one : pairs(block, "ALiBi", 1025, 15360, 1024))
        samples.push_back(std::move(one));
    }
    return samples;
  };
  claims["alibi/solves_extrapolation"] = Claim({
      .title = "ALiBi solves the problem of length extrapolation",
      .source = source("Conclusion; text after the figure of perplexities (\"robustness\")"),
      .statement = "A relative bias \"not only solves the critical problem of length "
                   "extrapolation\": what a model does at its training length it does at longer "
                   "ones. Examined at retrieval: of a needle in a text longer than the 512 tokens "
                   "of training, half of the answers are right.",
      .implicit = {"Table 4 of the BAM manuscript, ALiBi with scalable softmax, and CABLE's Tables "
                   "1, 4 and 5; the article has no numbers.",
                   printed_numbers_are_rounded},
      .correction = "The perplexity stays within a tenth of that at the training length, up to 15 "
                    "times as long; the retrieval does not.",
      .proof = refuted(
          "Single 1 of the needle tasks: 0.96 at 1024 tokens, 0.26 at 1536, 0.16 at 4096, 0.02 at "
          "8192; Single 2: 1.00, 0.46, 0.06, 0.00. Perplexity shows nothing of this: near words "
          "predict most of the next ones, and the slopes leave far ones little (alibi/gentle_head_"
          "reaches_far). In six blocks of CABLE it moves by at most 9 percent between 1024 and "
          "15,360 tokens."),
      .checks = {check("ALiBi is above a half from 1024 on (hundredths)",
                       above("ALiBi SSMax", {"a half"}), half_of_the_answers(1024)),
                 correction("ALiBi, T > 1024: a tenth of the perplexity at 1024 - |change| > 0",
                            moves_less(10), perplexity_since_1024())},
      .mutant = {"From 2048 on it has half of the answers right.",
                 check("ALiBi is above a half from 2048 on", above("ALiBi SSMax", {"a half"}),
                       half_of_the_answers(2048))},
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
          "positions, 8192 x 6144 = 50,331,648 numbers, and none beyond 8192. StarCoder2 has RoPE. "
          "That RoPE is in GPT-NeoX, LLaMA and ChatGLM is right."),
      .checks = {check("StarCoder: positions x width = 0", table_of_positions,
                       {positions_of(8192, 6144, 0)}),
                 correction("StarCoder: positions x width = 49,152 x 1024", table_of_positions,
                            {positions_of(8, 6144, 49152)}),
                 correction("BLOOM and MPT: positions x width = 0", table_of_positions,
                            {positions_of(0, 14336, 0), positions_of(0, 4096, 0)})},
      .mutant = {"StarCoder's predecessor SantaCoder has none.",
                 check("SantaCoder: positions x width = 0", table_of_positions,
                       {positions_of(2048, 2048, 0)})},
  });
}

}  // namespace

void claims_of_distance(Claims& claims) {
  const auto moved = equals_zero<"m">([]<class R>(R m, bool by_key) {
    const reference::Alibi<R> bias{m};
    const reference::AlibiKeyPosition<R> key_position{m};
    std::vector<R> residuals;
    for (int s : {1, 95, 10000}) {
      for (int d : {0, 1, 5}) {
        residuals.push_back(by_key ? key_position(5 + s, 5 - d + s) - key_position(5, 5 - d)
                                   : bias(5 + s, 5 - d + s) - bias(5, 5 - d));
      }
    }
    return residuals;
  });
  const Samples three_slopes = {{{"m", 0.5}}, {{"m", 0.1}}, {{"m", 0x1p-8}}};
  claims["alibi/translation_invariance"] = Claim({
      .title = "A distance of 5 is always a distance of 5",
      .source = source("Why does this work so well, 1"),
      .statement = "The bias is a relative measure of distance: it does not matter if a sentence "
                   "has 100 words or 10,000: b(i + s, j + s) = b(i, j).",
      .hypotheses = {needed("Query and key move by the same s.",
                            "A key that stays behind is farther away.",
                            check("b(5 + 1, 5) - b(5, 5) = 0", equals_zero<"m">([]<class R>(R m) {
                                    const reference::Alibi<R> bias{m};
                                    return bias(6, 5) - bias(5, 5);
                                  }),
                                  three_slopes))},
      .implicit = {definition("Exact arithmetic.",
                              "The statement is one about real numbers; m |i - j| is rounded in "
                              "floating point, though alike for equal distances.")},
      .proof =
          holds("|(i + s) - (j + s)| = |i - j|. The bias m j of the original code, equal up to a "
                "constant of the row, is not invariant, though the weights under it are."),
      .theorem = "alibi.translation_invariance",
      .checks = check("b(i + s, j + s) - b(i, j) = 0, s up to 10000", moved(false), three_slopes),
      .mutant = {"So is m j, which the original code adds.",
                 check("m (j + s) - m j = 0", moved(true), three_slopes)},
  });

  const auto same_ratio = equals_zero<"m">([]<class R>(R m) {
    std::vector<R> residuals;
    for (int keys : {12, 100}) {
      const auto p = weights_by_distance(m, keys);
      for (int a : {1, 5, 11}) residuals.push_back(log(p[a]) - log(p[0]) + m * R(a));
    }
    return residuals;
  });
  const auto limit = at_least_zero<"m">([]<class R>(R m) {
    std::vector<R> residuals;
    for (int keys : {12, 100}) {
      const auto p = weights_by_distance(m, keys);
      for (int d : {0, 5, 11}) {
        const R above = p[d] - exp(-(m * R(d))) * (R(1.0) - exp(-m));
        residuals.push_back(above);
        residuals.push_back(p[d] * exp(-(m * R(keys))) - above);
      }
    }
    return residuals;
  });
  const Samples powers_of_two = {{{"m", 0x1p-8}}, {{"m", 0.0625}}, {{"m", 0.5}}};
  const auto ratio_with_content = equals_zero<"m", "s at distance 1">([]<class R>(R m, R s) {
    const reference::Alibi<R> bias{m};
    const auto p =
        softmax_of<R>(12, [&](int d) { return d == 1 ? R(bias(d, 0) + s) : bias(d, 0); });
    return log(p[1]) - log(p[0]) + m;
  });
  const auto ratio_both_sides = equals_zero<"m">([]<class R>(R m) {
    const reference::Alibi<R> bias{m};
    const auto p = weights_for(6, m, 12);
    return at_each("j", 0, 12, [&](int j) { return log(p[j]) - log(p[6]) - bias(6, j); });
  });
  claims["alibi/preferences_preserved"] = Claim({
      .title = "The preferences between near and far are preserved",
      .source = source("Why does this work so well, 1"),
      .statement = "The pattern of preferences between near and far tokens is preserved even when "
                   "absolute positions become much larger than during training: the ratio of the "
                   "weights at two distances is the same at every position.",
      .implicit = {needed({"The content scores at the two distances are the same at both "
                           "positions; the checks take equal ones.",
                           "s at distance 1", exactly(0)},
                          "The ratio has the factor e^(s_a - s_b) of the content.",
                          check("ln p(1) - ln p(0) + m = 0 with content s at distance 1",
                                ratio_with_content, {{{"m", 0.5}, {"s at distance 1", 1}}})),
                   not_needed("Attention is causal: j <= i.",
                              "Keys after the query change the denominator, which cancels.",
                              check("ln p_6j - ln p_66 + m |6 - j| = 0 for all j of 12 keys",
                                    ratio_both_sides, powers_of_two))},
      .correction = "The ratios of weights are preserved exactly; the weights themselves fall with "
                    "the number of keys n to a positive limit, at the rate e^(-m n).",
      .proof = holds_under_condition(
          "p(a)/p(b) = e^(-m (a - b)) e^(s_a - s_b) with the content scores s: the "
          "denominator, which depends on the position, cancels. The weights themselves "
          "do depend on it: for equal content p(d) = e^(-m d) (1 - e^(-m))/(1 - e^(-m "
          "n)) with n keys, which falls to e^(-m d) (1 - e^(-m)) as n grows; relative "
          "to the limit the difference is e^(-m n)/(1 - e^(-m n))."),
      .theorem = "alibi.preferences_preserved",
      .checks = {check("ln p(a) - ln p(b) + m (a - b) = 0 for 12 and 100 keys", same_ratio,
                       powers_of_two),
                 correction("0 <= p(d) - e^(-m d) (1 - e^(-m)) <= p(d) e^(-m n), n = 12, 100",
                            limit, powers_of_two)},
      .mutant = {"The weight at distance 5 is the same for 12 and for 100 keys.",
                 check("p(5) of 100 keys - p(5) of 12 keys = 0", equals_zero<"m">([]<class R>(R m) {
                         return weights_by_distance(m, 100)[5] - weights_by_distance(m, 12)[5];
                       }),
                       powers_of_two)},
  });

  const auto contents_of = [](const std::vector<std::vector<double>>& contents) {
    return grid({vectors("content", contents), {"m", 0.5}});
  };
  const auto nearer_gets_more =
      at_least_zero<"content", "m">([]<class R>(const Vector<R>& content, R m) {
        const int keys = static_cast<int>(content.size());
        const reference::Alibi<R> bias{m};
        const auto p = softmax_of<R>(keys, [&](int j) { return content[j] + bias(keys - 1, j); });
        return at_each("j", 0, keys - 1, [&](int j) { return p[j + 1] - p[j]; });
      });
  const auto more_of_both_sides = at_least_zero<"m">([]<class R>(R m) {
    const auto p = weights_for(3, m, 6);
    return std::vector<R>{p[1] - p[0], p[2] - p[1], p[3] - p[2]};
  });
  claims["alibi/further_less_attention"] = Claim({
      .title = "The further apart the words, the less attention",
      .source = source("Intuition"),
      .statement = "The further apart the words, the larger the penalty, and the less attention "
                   "they will pay to each other: p_ij <= p_i,j+1 for j < i.",
      .implicit = {definition("\"Attention\" is the weight p_ij; content scores are any reals.",
                              "It says what is compared."),
                   not_needed(
                       {"Attention is causal: j <= i.", "keys after the query", exactly(0)},
                       "For keys before the query, keys after it change the denominator only.",
                       check("p_3,j+1 - p_3j >= 0 for j < 3 of 6 keys of equal content",
                             more_of_both_sides, {{{"m", 0.5}, {"keys after the query", 2}}}))},
      .condition =
          "The content scores are equal (or rise towards the query, or fall by at most m a step).",
      .proof = holds_under_condition(
          "The penalty m |i - j| does grow with distance. The attention also depends on the "
          "content: with slope 1/2, a content score of 4 at distance 1 and 0 at distance 0 the "
          "farther key gets e^3.5 = 33 times the weight. For equal content p falls in every step "
          "by e^(-m)."),
      .theorem = "alibi.further_less_attention",
      .checks = {check("p_i,j+1 - p_ij >= 0 for any content", nearer_gets_more,
                       contents_of({{0, 0, 0}, {4, 0}, {1, -2, 3, 0}})),
                 condition(
                     "the same for content that is equal, rises, or falls by at most m a step",
                     nearer_gets_more,
                     contents_of({{0, 0}, {2, 2, 2, 2}, {0, 1, 5}, {1, 0.5, 0}}))},
      .mutant = {"The content scores may fall by 1 with every step towards the query.",
                 check("p_i,j+1 - p_ij >= 0 for content that falls by 1", nearer_gets_more,
                       contents_of({{1, 0}, {2, 1, 0}}))},
  });

  const auto local_share = above_zero<"keys", "m">(
      []<class R>(int keys, R m) { return share_of_the_nearest(weights_by_distance(m, keys)); });
  const auto lengths = [](double m) { return grid({{"keys", {11, 20, 100, 400}}, {"m", m}}); };
  const auto share_with_content = above_zero<"keys", "m", "content of the farthest key">(
      []<class R>(int keys, R m, R content_of_the_farthest_key) {
        const reference::Alibi<R> bias{m};
        return share_of_the_nearest(softmax_of<R>(keys, [&](int d) {
          return d == keys - 1 ? R(bias(d, 0) + content_of_the_farthest_key) : bias(d, 0);
        }));
      });
  claims["alibi/steep_head_is_local"] = Claim({
      .title = "A large slope focuses on very local context",
      .source = source("Intuition; technical details"),
      .statement = "With a large slope (1/2) the head focuses only on very local context, the last "
                   "few words: for equal content, the ten nearest keys get more than 99 percent of "
                   "the attention, at every length.",
      .hypotheses = {needed_as_the_mutant_shows(
          {"The slope is large: 1/2 or more.", "m", at_least(0.5)},
          "A smaller slope reaches farther.")},
      .implicit = {needed(
                       {"The content scores are equal; if they differ by at most D, the far keys "
                        "get at most e^D times as much.",
                        "content of the farthest key", exactly(0)},
                       "A far key with enough content gets most of the attention.",
                       check("attention at distances 0..9 - 0.99 > 0, the farthest key has content",
                             share_with_content,
                             {{{"keys", 20}, {"m", 0.5}, {"content of the farthest key", 12}}})),
                   definition("\"The last few\" is read as ten, \"only\" as 99 percent.",
                              "Without numbers there is nothing to check.")},
      .proof = holds_under_condition(
          "The keys at distances >= 10 get (e^(-5) - e^(-n/2))/(1 - e^(-n/2)) < e^(-5) "
          "= 0.0067 of n keys."),
      .theorem = "alibi.steep_head_is_local",
      .checks = check("attention at distances 0..9 - 0.99 > 0, m = 1/2", local_share, lengths(0.5)),
      .mutant = {"The same of the slope 1/16.",
                 check("attention at distances 0..9 - 0.99 > 0, m = 1/16", local_share,
                       lengths(0.0625))},
      .pictures = {pictures::steep_and_gentle},
  });

  const auto nine_tenths =
      at_least_zero<"m", "d">([]<class R>(R m, R d) { return exp(-(m * d)) - R(9.0) / R(10.0); });
  const auto distances = [](const std::vector<double>& ds) {
    return grid({{"m", 0x1p-8}, {"d", ds}});
  };
  claims["alibi/gentle_head_reaches_far"] = Claim({
      .title = "A small slope looks far back with almost no degradation",
      .source = source("Intuition; technical details"),
      .statement = "With a small slope (1/256) heads look far back into the context with almost no "
                   "degradation, a name mentioned chapters ago, and attend to distant tokens "
                   "almost as easily as nearby ones.",
      .implicit =
          {needed({"The content scores are equal: a larger score of the distant key can outweigh "
                   "the penalty, 7.8 for 2,000 words.",
                   "s", exactly(0)},
                  "A nearest key with more content gets more.",
                  check("e^(s - m d) - 0.9 >= 0 where the far key's content is s more",
                        at_least_zero<"s", "m", "d">([]<class R>(R s, R m, R d) {
                          return exp(s - m * d) - R(9.0) / R(10.0);
                        }),
                        {{{"m", 0x1p-8}, {"d", 20}, {"s", -1}}})),
           definition(
               "\"Almost\" is read as at least nine tenths of the weight of the nearest key.",
               "Without a number there is nothing to check."),
           definition("A token is a word, a chapter has the 2,000 words of the introduction.",
                      "It gives \"chapters ago\" a distance.")},
      .condition = "d <= 26, a tenth of 1/m.",
      .proof = holds_under_condition(
          "For equal content a key at distance d has e^(-d/256) times the weight of the nearest. "
          "One of the article's chapters, 2,000 words, leaves e^(-7.8) = 0.0004 of it, its 10,000 "
          "words e^(-39) = 1e-17. Read as nine tenths of the weight, \"almost\" ends at d = 256 "
          "ln(10/9) = 26.97. What is true is that 1/256 reaches 128 times as far as 1/2."),
      .theorem = "alibi.gentle_head_reaches_far",
      .checks = {check("e^(-m d) - 0.9 >= 0 for d = 26, 2000, 10000, m = 1/256", nine_tenths,
                       distances({26, 2000, 10000})),
                 condition("the same for d <= 26", nine_tenths, distances({1, 5, 10, 20, 26}))},
      .mutant = {"It holds for d = 27.",
                 check("e^(-m d) - 0.9 >= 0 for d = 27", nine_tenths, distances({27}))},
      .pictures = {pictures::steep_and_gentle},
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

  claims_of_sentences(claims);
  claims_of_measurements(claims);
}

}  // namespace plumbline::proofs_checks::alibi
