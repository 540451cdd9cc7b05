// SPDX-License-Identifier: Apache-2.0
// What an encoder is fine-tuned on for retrieval: queries, what answers them, and what does not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/json_lines.hpp"
#include "models/text/tokenizer.hpp"

namespace plumbline::text {

struct Pair {
  std::string query, positive;
  std::vector<std::string> negatives;  ///< hard ones; the other pairs of a batch are negatives too
};

/// A JSON-lines file of {"query": text, "positive": text, "negatives": [text, ...]}, the negatives
/// optional. A line is read when it is asked for.
class Pairs {
 public:
  /// @throws BadInput as JsonLines.
  explicit Pairs(const std::filesystem::path& path) : lines_(path) {}
  std::size_t size() const { return lines_.size(); }
  /// @throws BadInput naming file and line: no JSON object, a field that is missing, unknown, no
  /// text or empty.
  Pair at(std::size_t n) const;

 private:
  JsonLines lines_;
};

/// A text as an encoder takes it: cls, the text's tokens, sep, pad up to `length` tokens.
struct FramedText {
  std::vector<std::int32_t> tokens;  ///< [length]
  int used = 0;                      ///< tokens before the padding
};

/// The text's last tokens are left out where it is too long.
/// @throws BadInput if the tokenizer has no cls, sep or pad, or length < 3.
FramedText frame(const Tokenizer& tokenizer, std::string_view text, int length);

}  // namespace plumbline::text
