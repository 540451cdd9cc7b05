// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/formula/elements.hpp"

#include <map>

#include "support/markup.hpp"

namespace plumbline::proofs_checks::formula {

Text element(const Text& tag, const Text& content) {
  return "<" + tag + ">" + content + "</" + tag + ">";
}
Text row(const Text& content) { return element("mrow", content); }

Text sign(const Text& text) {
  static const std::map<Text, Text> printed = {
      {"<=", "≤"}, {">=", "≥"}, {"->", "→"}, {"=>", "⇒"}, {"-", "−"}, {"+-", "±"}, {"..", "…"},
      {"!=", "≠"}, {"*", "×"},  {"in", "∈"}, {".", "⋅"},  {"x", "×"}, {"||", "‖"}, {"~", "∼"}};
  const auto found = printed.find(text);
  return found == printed.end() ? escaped_markup(text) : found->second;
}

bool relation(const Token& token) {
  static const std::map<Text, int> relations = {{"=", 0},  {"<", 0},  {">", 0},  {"<=", 0},
                                                {">=", 0}, {"->", 0}, {"=>", 0}, {"!=", 0},
                                                {":", 0},  {"in", 0}};
  return token.kind != Kind::open && token.kind != Kind::close && relations.count(token.text) > 0;
}
bool additive(const Token& token) {
  return token.kind == Kind::sign && (token.text == "+" || token.text == "-" || token.text == "+-");
}

Text fence(const Token& token, const char* form, bool grows) {
  Text text = token.text;
  if (text == "<") text = "⟨";
  if (text == ">") text = "⟩";
  if (text == "||") text = "‖";
  return Text("<mo form=\"") + form + "\" stretchy=\"" + (grows ? "true" : "false") + "\">" + text +
         "</mo>";
}

Text name(Text text) {
  Text primes;
  while (text.ends_with('\'')) {
    text.pop_back();
    primes += "′";
  }
  Text result;
  if (text == "infinity" || text == "inf") {
    result = element("mn", "∞");
  } else if (!greek(text).empty()) {
    result = element("mi", Text(greek(text)));
  } else if (is_function(text) || text.size() > 2) {
    result = "<mi mathvariant=\"normal\">" + text + "</mi>";
  } else {
    for (const char letter : text) result += element("mi", Text(1, letter));
    if (text.size() > 1) result = row(result);
  }
  return primes.empty() ? result : element("msup", result + element("mo", primes));
}

Text index(const Text& text) {
  if (!greek(text).empty()) return element("mi", Text(greek(text)));
  const bool indices = text.size() == 2 && text.find_first_not_of("hijklmnpqz") == Text::npos;
  if (!indices && text.size() > 1) return element("mtext", text);
  Text result;
  for (const char letter : text) result += element("mi", Text(1, letter));
  return result;
}

}  // namespace plumbline::proofs_checks::formula
