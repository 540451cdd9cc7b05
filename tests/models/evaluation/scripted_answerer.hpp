// SPDX-License-Identifier: Apache-2.0
// Answers that a test knows.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "models/evaluation/answerer.hpp"
#include "models/text/byte_tokenizer.hpp"

namespace plumbline::test {

/// Says what `script` makes of a prompt's text, filled up with blanks, in bytes.
class ScriptedAnswerer final : public evaluation::Answerer {
 public:
  using Script = std::function<std::string(const std::string& prompt)>;
  explicit ScriptedAnswerer(Script script, int longest = 1 << 30)
      : script_(std::move(script)), longest_(longest) {}

  std::string refusal(int tokens) const override {
    return tokens <= longest_ ? "" : "it is too long for the script";
  }

  std::vector<evaluation::Tokens> answers(std::span<const evaluation::Tokens> prompts,
                                          int count) override {
    batches.push_back(static_cast<int>(prompts.size()));
    std::vector<evaluation::Tokens> result;
    for (const auto& prompt : prompts) {
      auto said = tokenizer_.encode(script_(tokenizer_.decode(prompt)));
      said.resize(static_cast<std::size_t>(count), ' ');
      result.push_back(std::move(said));
    }
    return result;
  }

  std::vector<int> batches;  ///< how many were asked together

 private:
  text::ByteTokenizer tokenizer_;
  Script script_;
  int longest_;
};

}  // namespace plumbline::test
