// SPDX-License-Identifier: Apache-2.0
#include "models/text/pairs.hpp"

#include <algorithm>

#include "support/error.hpp"
#include "support/strict_json.hpp"

namespace plumbline::text {
namespace {

std::string not_empty(std::string text, const std::string& place) {
  if (text.empty()) throw BadInput(place, "empty", "a text");
  return text;
}

Token special(const std::optional<Token>& token, const char* name) {
  if (!token) throw BadInput(std::string("tokenizer's ") + name + " token", "missing", "one");
  return *token;
}

}  // namespace

Pair Pairs::at(std::size_t n) const {
  const nlohmann::json object = lines_.at(n);
  Fields fields(object, lines_.place(n));
  Pair pair;
  pair.query = not_empty(fields.required(fields.text("query"), "query"), fields.place("query"));
  pair.positive =
      not_empty(fields.required(fields.text("positive"), "positive"), fields.place("positive"));
  if (const nlohmann::json* negatives = fields.any("negatives")) {
    const std::string place = fields.place("negatives");
    if (!negatives->is_array()) throw BadInput(place, shown(*negatives), "a list of texts");
    for (const auto& negative : *negatives) {
      if (!negative.is_string()) throw BadInput(place, shown(negative) + " in it", "texts only");
      pair.negatives.push_back(not_empty(negative.get<std::string>(), place));
    }
  }
  fields.finish();
  return pair;
}

FramedText frame(const Tokenizer& tokenizer, std::string_view text, int length) {
  if (length < 3) throw BadInput("length", std::to_string(length), "at least 3");
  const auto specials = tokenizer.specials();
  FramedText result;
  result.tokens.assign(static_cast<std::size_t>(length), special(specials.pad, "pad"));
  const auto tokens = tokenizer.encode(text);
  const auto count = std::min(tokens.size(), static_cast<std::size_t>(length) - 2);
  result.tokens.front() = special(specials.cls, "cls");
  std::copy_n(tokens.begin(), count, result.tokens.begin() + 1);
  result.tokens[count + 1] = special(specials.sep, "sep");
  result.used = static_cast<int>(count) + 2;
  return result;
}

}  // namespace plumbline::text
