// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/formula/mathml.hpp"

#include <algorithm>

#include "proofs_checks/formula/elements.hpp"
#include "support/markup.hpp"

namespace plumbline::proofs_checks::formula {
namespace {

/// Reads the tokens once, from left to right.
class Setter {
 public:
  explicit Setter(std::span<const Token> tokens) : tokens_(tokens) {}

  /// Everything, cut at the places where a line may end.
  Text pieces() {
    const bool breaks = characters() > 26;
    std::vector<Text> parts(1);
    bool operand = false;
    while (!done()) {
      const Token token = here();
      const bool ends_line = relation(token) || (additive(token) && operand);
      if (breaks && ends_line && !parts.back().empty()) parts.emplace_back();
      parts.back() += item(operand);
    }
    Text result;
    for (const Text& part : parts) {
      result += (result.empty() ? "" : "<wbr/>") + element("math", row(part));
    }
    return replaced(result, breaks ? "</mrow></math><wbr/><math><mrow>" : "");
  }

 private:
  /// Stands between the factors of a long product, outside of brackets, where a line may end.
  static constexpr char line_end = '\n';
  static Text replaced(const Text& set, const Text& by) {
    Text result;
    for (const char c : set) result += c == line_end ? by : Text(1, c);
    return result;
  }

  bool done() const { return at_ >= tokens_.size(); }
  const Token& here() const { return tokens_[at_]; }
  bool next_is(std::string_view text) const { return !done() && here().text == text; }
  /// The next token stands directly behind what was read, and is this.
  bool attached(std::string_view text) const { return next_is(text) && !here().space; }
  std::size_t characters() const {
    std::size_t count = 0;
    for (const Token& token : tokens_) count += token.text.size() + (token.space ? 1 : 0);
    return count;
  }

  /// One sign or one term; `operand` tells whether a sign stands between operands.
  Text item(bool& operand) {
    const Token token = here();
    if (relation(token) || additive(token) || token.kind == Kind::comma ||
        (token.kind == Kind::sign && !starts_factor())) {
      ++at_;
      const bool infix = operand;
      operand = false;
      if (token.kind == Kind::comma) {
        return "<mo separator=\"true\">" + token.text + "</mo>";
      }
      if (token.text == "/" || token.text == "..") return element("mo", sign(token.text));
      if (token.text == "^" || token.text == "_") return element("mo", escaped_markup(token.text));
      if (token.text == "*" && !infix) return element("mo", "∗");
      return Text("<mo form=\"") +
             (infix || relation(token) || (!done() && here().space) ? "infix" : "prefix") + "\">" +
             sign(token.text) + "</mo>";
    }
    operand = true;
    const std::size_t before = at_;
    Text result = term();
    if (at_ == before) {  // fits no rule: as it stands
      result = element("mo", escaped_markup(token.text));
      ++at_;
    }
    return result;
  }

  /// Items up to a closing bracket or the end.
  Text items() {
    Text result;
    bool operand = false;
    while (!done() && here().kind != Kind::close) result += item(operand);
    return result;
  }

  bool starts_factor() const {
    return !done() &&
           (here().kind == Kind::name || here().kind == Kind::number || here().kind == Kind::open ||
            here().kind == Kind::close || here().kind == Kind::word);
  }
  bool times() const {  // 3 x Heads, 512 x 512, but not c x + 1
    return next_is("x") && here().space && at_ + 1 < tokens_.size() && tokens_[at_ + 1].space &&
           tokens_[at_ - 1].kind != Kind::sign &&
           (tokens_[at_ + 1].kind == Kind::number ||
            (tokens_[at_ + 1].kind == Kind::name && tokens_[at_ - 1].kind == Kind::close));
  }
  bool dot() const { return next_is(".") && here().kind == Kind::sign; }
  bool star() const { return next_is("*") && here().space; }

  /// Factors side by side; " / " puts what stands before over what follows.
  Text term() {
    std::size_t first = at_;
    Text above = product();
    while (!done() && next_is("/") && here().space && at_ + 1 < tokens_.size()) {
      above = over_or_under(first, above);
      first = ++at_;
      const Text below = product();
      above = replaced(element("mfrac", row(above) + row(over_or_under(first, below))), "");
      first = tokens_.size();
    }
    return above;
  }

  /// `set`, made of the tokens from `first` to here, without the brackets that a fraction's bar
  /// makes needless: those around all of it.
  Text over_or_under(std::size_t first, const Text& set) const {
    if (first + 2 >= at_ || tokens_[first].text != "(" || tokens_[at_ - 1].text != ")") return set;
    int depth = 0;
    for (std::size_t k = first; k + 1 < at_; ++k) {
      depth += tokens_[k].text == "(" ? 1 : tokens_[k].text == ")" ? -1 : 0;
      if (depth == 0) return set;
    }
    return Setter(tokens_.subspan(first + 1, at_ - first - 2)).items();
  }

  Text product() {
    Text result;
    bool first = true;
    std::size_t line_start = at_;
    while (!done()) {
      const bool between = !first && (times() || dot() || star());
      if (depth_ == 0 && here().space && at_ >= line_start + 8 && (between || starts_factor())) {
        result += line_end;
        line_start = at_;
      }
      if (between) {
        result += element("mo", sign(here().text));
        ++at_;
      } else if (attached("/") && !first) {
        result += "<mo lspace=\"0\" rspace=\"0\">/</mo>";
        ++at_;
      } else if (starts_factor() && here().kind != Kind::close && !relation(here())) {
        if (!first && here().space) result += "<mspace width=\"0.17em\"/>";
        result += factor();
      } else {
        break;
      }
      first = false;
    }
    return result;
  }

  Text factor() {
    const Token token = here();
    if (token.kind == Kind::open) return scripts(group());
    ++at_;
    if (token.kind == Kind::number) return scripts(element("mn", token.text));
    if (token.text == "sqrt" && attached("(")) return scripts(element("msqrt", row(unwrapped())));
    if (token.text == "sum") return sum();
    Text result = scripts(name(token.text));
    if (attached("(") || attached("[")) result = scripts(row(result + group()));
    if (is_function(token.text) && starts_factor() && here().kind != Kind::close) {
      result += "<mspace width=\"0.17em\"/>";
    }
    return result;
  }

  Text sum() {
    const Text big = "<mo largeop=\"true\" movablelimits=\"false\" rspace=\"0.17em\">∑</mo>";
    if (!attached("_")) return big;
    ++at_;
    return element("munder", big + row(subscript()));
  }

  /// Opening bracket, content, closing bracket.
  Text group() {
    const Token open = here();
    ++at_;
    ++depth_;
    const Text inside = items();
    --depth_;
    const bool grows = inside.find("<mfrac>") != Text::npos;
    Text result = fence(open, "prefix", grows) + inside;
    if (!done()) {
      result += fence(here(), "postfix", grows);
      ++at_;
    }
    return row(result);
  }
  /// The content alone.
  Text unwrapped() {
    ++at_;
    ++depth_;
    Text inside = items();
    --depth_;
    if (!done()) ++at_;
    return inside;
  }

  /// What ^ and _ put on a base.
  Text scripts(Text base) {
    Text below, above;
    while (!done() && !here().space && here().kind == Kind::sign && at_ + 1 < tokens_.size()) {
      if (here().text == "_" && below.empty()) {
        ++at_;
        below = row(subscript());
      } else if (here().text == "^" && above.empty()) {
        ++at_;
        above = row(exponent());
      } else {
        break;
      }
    }
    if (attached("*") && (at_ + 1 == tokens_.size() || tokens_[at_ + 1].space) && above.empty()) {
      ++at_;
      above = element("mo", "∗");
    }
    if (attached("+") && at_ + 1 == tokens_.size() && above.empty()) {  // beta -> 0+
      ++at_;
      above = element("mo", "+");
    }
    if (!below.empty() && !above.empty()) return element("msubsup", base + below + above);
    if (!below.empty()) return element("msub", base + below);
    if (!above.empty()) return element("msup", base + above);
    return base;
  }

  Text exponent() {
    Text result;
    if (next_is("-") || next_is("+")) {
      result = "<mo form=\"prefix\">" + sign(here().text) + "</mo>";
      ++at_;
      if (done()) return result;
    }
    if (next_is("*")) {
      ++at_;
      return element("mo", "∗");
    }
    if (next_is("(") && result.empty()) return unwrapped();
    if (here().kind == Kind::open) return result + group();
    if (!starts_factor() || here().kind == Kind::close) return result;
    const Token token = here();
    ++at_;
    Text base = token.kind == Kind::number ? element("mn", token.text) : name(token.text);
    if (attached("_")) {
      ++at_;
      base = element("msub", base + row(subscript()));
    }
    if (attached("(") && token.kind == Kind::name && at_ + 2 < tokens_.size() &&
        tokens_[at_ + 2].kind == Kind::comma) {  // e^b(i,j)
      base += group();
    }
    return result + base;
  }

  /// {k=j+1..i}, ij, cont, 0; and i,j+1 without braces.
  Text subscript() {
    if (next_is("{")) return unwrapped();
    Text result;
    bool more = true;
    while (more && !done()) {
      const Token token = here();
      ++at_;
      result += token.kind == Kind::name     ? index(token.text)
                : token.kind == Kind::word   ? index(token.text)
                : token.kind == Kind::number ? element("mn", token.text)
                                             : "<mo form=\"prefix\">" + sign(token.text) + "</mo>";
      more = false;
      const bool operand = token.kind != Kind::sign;
      if (at_ + 1 < tokens_.size() && operand && !here().space && !tokens_[at_ + 1].space) {
        const bool comma = next_is(",");
        const bool difference = seen_comma_ && (next_is("+") || next_is("-"));
        if (comma || difference) {
          seen_comma_ = true;
          result +=
              comma ? Text("<mo separator=\"true\">,</mo>") : "<mo>" + sign(here().text) + "</mo>";
          ++at_;
          more = true;
        }
      }
    }
    seen_comma_ = false;
    return result;
  }

  std::span<const Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;  ///< of brackets and scripts
  bool seen_comma_ = false;
};

}  // namespace

std::string mathml(std::span<const Token> tokens) { return Setter(tokens).pieces(); }

}  // namespace plumbline::proofs_checks::formula
