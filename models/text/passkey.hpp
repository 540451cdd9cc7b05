// SPDX-License-Identifier: Apache-2.0
// Passkey retrieval: five digits somewhere in a long text that says nothing. Source: Mohtashami,
// Jaggi, arXiv:2305.16300, section 4.2; depths and digits as in the BAM paper, section 3.1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/text/tokenizer.hpp"

namespace plumbline::text {

struct PasskeyOptions {
  int length = 512;  ///< tokens of the prompt and the answer together
  int depth = 0;     ///< 0: all the filler behind the key; depths - 1: all of it before the key
  int depths = 20;   ///< evenly spaced places, 0, 1/19, ..., 1 of the filler
  std::uint64_t seed = 1;
  std::uint64_t number = 0;  ///< which of the seed's prompts: has a key of its own
};

struct PasskeyPrompt {
  std::vector<Token> prompt;  ///< ends where the key is to be said
  std::vector<Token> answer;  ///< the key: five tokens, one a digit
  std::string key;            ///< "10000" to "99999"
  int key_place = 0;          ///< of the key's first digit in the prompt
};

/// end-of-text, a task, filler, the key, filler, a question: options.length tokens with the answer,
/// exactly. Each part is encoded for itself and each digit is a token of its own, so that no
/// tokenizer makes one key easier than another. `depth` moves the key only, not the filler, whose
/// first round(depth / (depths - 1) F) of F tokens stand before it.
/// @throws BadInput for a length that the parts do not fit into, a depth not in [0, depths), or a
/// tokenizer that lacks a digit.
PasskeyPrompt passkey_prompt(const Tokenizer& tokenizer, const PasskeyOptions& options);

/// `count` prompts with their answers one after the other, to train on: options.length tokens each,
/// at depths drawn from options.depths, the keys those of options.number and the numbers after it.
/// options.depth is not read. @throws BadInput as passkey_prompt(), and for a count below 1.
std::vector<Token> passkey_documents(const Tokenizer& tokenizer, const PasskeyOptions& options,
                                     std::int64_t count);

/// The least PasskeyOptions::length: there is no filler.
int shortest_passkey_prompt(const Tokenizer& tokenizer);

}  // namespace plumbline::text
