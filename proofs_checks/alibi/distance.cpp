// SPDX-License-Identifier: Apache-2.0
// The bias as a function of the distance.
#include <type_traits>

#include "proofs_checks/alibi/source.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {

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

  // Of the pairs j <= i of n words, `times` those at a distance below that of the training.
  const auto pairs_seen =
      at_least_zero<"training length", "n">([]<class R>(R trained, R n, double times) {
        const R seen = trained * n - trained * (trained - R(1.0)) / R(2.0);
        return R(times) * seen - n * (n + R(1.0)) / R(2.0);
      });
  const auto few_pairs_seen =
      at_least_zero<"training length", "n">([]<class R>(R trained, R n, double times) {
        const R seen = trained * n - trained * (trained - R(1.0)) / R(2.0);
        return n * (n + R(1.0)) / R(2.0) - R(times) * seen;
      });
  // For equal content, the attention of word n to the words at distances from `trained` on.
  const auto unseen_mass = [](const auto& m, const auto& trained, const auto& n) {
    using R = std::decay_t<decltype(m)>;
    return R((exp(-(m * trained)) - exp(-(m * n))) / (R(1.0) - exp(-(m * n))));
  };
  const auto mass_above =
      above_zero<"m", "training length", "n">([=]<class R>(R m, R trained, R n, double share) {
        return unseen_mass(m, trained, n) - R(share);
      });
  const auto mass_below =
      above_zero<"m", "training length", "n">([=]<class R>(R m, R trained, R n, double share) {
        return R(share) - unseen_mass(m, trained, n);
      });
  const Samples short_and_long = {{{"training length", 100}, {"n", 10000}}};
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

  const auto scaled_before =
      equals_zero<"q . k", "b", "d_k">([]<class R>(R product, R b, R d_k, bool mutant) {
        const R root = sqrt(d_k);
        return (mutant ? product + b : (product + b) / root) - (product / root + b);
      });
  const auto products = [](double width) {
    return Samples{{{"q . k", 16}, {"b", -0.5}, {"d_k", width}},
                   {{"q . k", -3}, {"b", -8}, {"d_k", width}}};
  };
  claims["alibi/bias_place"] = Claim({
      .title = "The bias is added directly to the product of query and key",
      .source = source("Technical details, sentence before the formula, against the formula"),
      .statement = "\"Adding a static, non-learned bias matrix directly to the QK^T term before "
                   "the softmax\" is the formula softmax(QK^T/sqrt(d_k) + bias): (q . k + "
                   "b)/sqrt(d_k) = q . k/sqrt(d_k) + b.",
      .implicit = {definition(
          "The scores are scaled by 1/sqrt(d_k), as in the article's first formula.",
          "Without a scale there are no two places.")},
      .condition = "The \"QK^T term\" is the scaled one, or d_k = 1.",
      .proof = holds_under_condition(
          "The two differ by b (1/sqrt(d_k) - 1). With d_k = 64 the bias would be an eighth of "
          "what the formula has, and slopes of 1/2 to 1/256 would be 1/16 to 1/2048. The article's "
          "code adds it after scaling."),
      .theorem = "alibi.bias_place",
      .checks = {check("(q . k + b)/sqrt(d_k) - (q . k/sqrt(d_k) + b) = 0", scaled_before(false),
                       products(64)),
                 condition("the same for d_k = 1", scaled_before(false), products(1))},
      .mutant = {"Nothing needs to be scaled at all: q . k + b.",
                 check("q . k + b - (q . k/sqrt(d_k) + b) = 0", scaled_before(true), products(4))},
  });

  const auto two_slopes = grid({{"m", {0.5, 0x1p-8}}});
  const auto other_length = equals_zero<"m">([]<class R>(R m, bool from_the_end) {
    const reference::AlibiSigned<R> bias{m};
    std::vector<Placed<R>> residuals;
    for (int i = 0; i < 10; ++i) {
      for (int j = 0; j <= i; ++j) {
        const auto entry = [&](int length) {
          return from_the_end ? R(m * R(j - (length - 1))) : bias(i, j);
        };
        residuals.push_back({entry(100) - entry(10), fmt::format("i = {}, j = {}", i, j)});
      }
    }
    return residuals;
  });
  claims["alibi/static_bias"] = Claim({
      .title = "The bias can be computed beforehand",
      .source = source("Why does this work so well, 2; technical details (\"static\")"),
      .statement = "\"The bias is a static value that can be pre-computed (or computed on the "
                   "fly)\": it depends on i, j and the head only, so the tensor of a long sequence "
                   "has that of every shorter one as its first rows and columns.",
      .implicit = {definition("Static: no token and no length of the sequence is in it.",
                              "It says what the word means.")},
      .proof =
          holds("-m_h (i - j) has neither. As build_alibi_bias stores it, it grows with the "
                "square of the length: 8 heads and 100 words have 80,000 numbers, 10,000 words "
                "8 10^8, 3.2 GB in float32; one number for each distance and head, or the 8 "
                "slopes alone, say the same."),
      .checks = check("bias_ij of 100 positions - bias_ij of 10 positions = 0", other_length(false),
                      two_slopes),
      .mutant = {"So is m (j - (L - 1)), the distance from the end of the sequence.",
                 check("m (j - 99) - m (j - 9) = 0", other_length(true), two_slopes)},
  });
}

}  // namespace plumbline::proofs_checks::alibi
