// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/settings.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

Sample training_of_wikitext_epochs(double steps, double tokens) {
  return Sample{}
      .printed("steps", steps, 1e3)
      .with("tokens per step", {tokens})
      .within("tokens of the data", 103e6, 208e6);
}

}  // namespace

Claim wikitext_epochs() {
  Claim claim;
  claim.id = "cable/wikitext_epochs";
  claim.title = "9k, 5k and 3k steps are about 10, 5 and 3 epochs of WikiText-103";
  claim.source = source("Section 4.2");
  claim.statement =
      "On WikiText-103 the tiny, small and medium variants are trained for 9k, 5k and 3k steps of "
      "524,288 tokens: about 10, 5 and 3 epochs.";
  claim.implicit = {
      "A step is an update (\"Gradients are updated after processing 524,288 tokens\").",
      "The training set of WikiText-103 has 103 million words (Merity et al., 2016), and a "
      "tokenizer makes one to two tokens of a word on average.",
      printed_numbers_are_rounded};
  claim.correction = "With 524,288 tokens a step they are more than 20, 11 and 6 epochs.";
  claim.derivation =
      "9,000 * 524,288 = 4.7e9 tokens. WikiText-103 has 103 million words; with at most two tokens "
      "a word that is more than 20 epochs (about 40 with GPT-2's tokenizer, 1.14 tokens a word), "
      "and 10 epochs would need 4.5 tokens a word. The printed epochs fit updates of 131,072 "
      "tokens, a quarter: 10.0, 5.6 and 3.3 epochs of 118 million tokens.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement, "9.5 <= epochs of 9k steps <= 10.5",
                             EpochsLieIn{9.5, 10.5}, {training_of_wikitext_epochs(9e3, 524288)}),
                     for_all(Role::statement, "4.5 <= epochs of 5k steps <= 5.5",
                             EpochsLieIn{4.5, 5.5}, {training_of_wikitext_epochs(5e3, 524288)}),
                     for_all(Role::statement, "2.5 <= epochs of 3k steps <= 3.5",
                             EpochsLieIn{2.5, 3.5}, {training_of_wikitext_epochs(3e3, 524288)}),
                     for_all(Role::correction, "9k steps are 20 to 50 epochs", EpochsLieIn{20, 50},
                             {training_of_wikitext_epochs(9e3, 524288)}),
                     for_all(Role::correction, "5k steps are 11 to 30 epochs", EpochsLieIn{11, 30},
                             {training_of_wikitext_epochs(5e3, 524288)}),
                     for_all(Role::correction, "3k steps are 6 to 20 epochs", EpochsLieIn{6, 20},
                             {training_of_wikitext_epochs(3e3, 524288)})});
  };
  claim.mutant = "9k steps of 1024 tokens are about 10 epochs.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "9.5 <= epochs of 9k steps of 1024 tokens <= 10.5",
                   EpochsLieIn{9.5, 10.5}, {training_of_wikitext_epochs(9e3, 1024)});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
