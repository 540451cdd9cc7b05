// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/formula/tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <set>
#include <utility>

namespace plumbline::proofs_checks::formula {
namespace {

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool known(std::string_view name) {
  return name.size() == 1 || !greek(name).empty() || is_function(name) || name == "score" ||
         name == "gate" || name == "db" || name == "infinity" || name == "inf";
}

/// Reads the text from left to right; each rule takes what stands at `at_` or leaves it.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        space_ = true;
        ++at_;
      } else if (!words() && !bars() && !signs()) {
        take(Kind::word, 1);
      }
    }
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : ' ';
  }
  bool spaced(std::size_t ahead) const {
    return std::isspace(static_cast<unsigned char>(peek(ahead))) != 0;
  }
  /// What stands before ends nothing: an opening sign may follow.
  bool at_start() const {
    return tokens_.empty() || space_ || tokens_.back().kind == Kind::sign ||
           tokens_.back().kind == Kind::open || tokens_.back().kind == Kind::stop;
  }
  void take(Kind kind, std::size_t length) {
    tokens_.push_back({kind, std::string(text_.substr(at_, length)), space_});
    at_ += length;
    space_ = false;
  }
  /// The length of what the pattern matches here; 0 for nothing.
  std::size_t match(const std::regex& pattern) const {
    std::cmatch found;
    const char* here = text_.data() + at_;
    const bool matches = std::regex_search(here, text_.data() + text_.size(), found, pattern,
                                           std::regex_constants::match_continuous);
    return matches ? static_cast<std::size_t>(found.length(0)) : 0;
  }

  bool words() {
    static const std::regex claim("(bam|cable|alibi)/[a-z][a-z0-9_]*");
    // A letter and a number, as appendices and versions have them; 120M and 8K; i.e.
    static const std::regex prose(
        "i\\.e\\.|e\\.g\\.|[A-Za-z]+(\\.\\d+)+|[A-Za-z]+\\d+[A-Za-z]*|"
        "\\d[\\d,]*(\\.\\d+)?([KkMBG]|th|st|nd|rd|x|D)\\b|\\d+(\\.\\d+)?%");
    static const std::regex number("\\d{1,3}(,\\d{3})+(\\.\\d+)?|\\d+(\\.\\d+)?(e[+-]?\\d+)?");
    static const std::regex compound("[A-Za-z]+'?(-[A-Za-z0-9]+)+(?![A-Za-z0-9_^(])");
    static const std::regex code("[A-Za-z]+(_[A-Za-z0-9]+)+(\\(\\))?");
    static const std::regex variable("[a-z]+_[hijkz]{1,2}(?![A-Za-z])");  // bias_ij
    static const std::regex name("[A-Za-z]+('+(?![A-Za-z]))?");
    if (const std::size_t length = match(claim)) return take(Kind::claim, length), true;
    if (const std::size_t length = match(prose)) return take(Kind::word, length), true;
    if (const std::size_t length = match(number)) return take(Kind::number, length), true;
    if (peek(0) == '\'' && letter(peek(1))) {  // the 's of a genitive
      std::size_t length = 1;
      while (letter(peek(length))) ++length;
      return take(Kind::word, length), true;
    }
    if (!letter(peek(0))) return false;
    static const std::regex letters("[A-Za-z]+");
    const bool below = !space_ && !tokens_.empty() && tokens_.back().text == "_";
    const bool above = !space_ && !tokens_.empty() && tokens_.back().text == "^";
    if (below || (above && match(letters) > 2)) return take(Kind::name, match(letters)), true;
    if (const std::size_t length = match(compound)) {
      if (is_prose_compound(text_.substr(at_, length))) return take(Kind::word, length), true;
    }
    std::size_t length = match(name);
    std::string_view plain = text_.substr(at_, length);
    plain = plain.substr(0, plain.find('\''));
    if (!known(plain) && match(variable) == 0) {
      if (const std::size_t joined = match(code)) {
        const bool title = std::isupper(static_cast<unsigned char>(peek(0))) != 0;  // CABLE_NW
        return take(title ? Kind::word : Kind::code, joined), true;
      }
      if (text_[at_ + length - 1] == '\'') length = plain.size();
      return take(Kind::word, length), true;
    }
    take(Kind::name, length);
    return true;
  }

  /// "K-CABLE", "m-th", "re-normalised" are prose, "j-i" is a difference.
  static bool is_prose_compound(std::string_view text) {
    while (!text.empty()) {
      const std::string_view part = text.substr(0, text.find('-'));
      if (!known(part) && !std::all_of(part.begin(), part.end(), digit)) return true;
      text.remove_prefix(std::min(text.size(), part.size() + 1));
    }
    return false;
  }

  /// |x|, ||p|| and <p, q>: which end it is, white space and what is open tell.
  bool bars() {
    const bool norm = peek(0) == '|' && peek(1) == '|';
    if (norm || peek(0) == '|') {
      const std::size_t length = norm ? 2 : 1;
      const bool opened = !open_bars_.empty() && open_bars_.back() == length;
      if (opened && !space_) {
        open_bars_.pop_back();
        return take(Kind::close, length), true;
      }
      const bool given =
          !at_start() && text_.find('|', at_ + length) > text_.find_first_of(")]}", at_);
      if (spaced(length) || given) return take(Kind::sign, length), true;  // E_{j|i}
      open_bars_.push_back(length);
      return take(Kind::open, length), true;
    }
    if (peek(0) == '<' && peek(1) != '=' && !spaced(1) && at_start() &&
        text_.find('>', at_) != std::string_view::npos) {
      ++open_angles_;
      return take(Kind::open, 1), true;
    }
    if (peek(0) == '>' && peek(1) != '=' && !space_ && open_angles_ > 0) {
      --open_angles_;
      return take(Kind::close, 1), true;
    }
    return false;
  }

  bool signs() {
    static const std::set<std::string_view> longer = {"<=", ">=", "->", "=>", "+-", "..", "!="};
    if (text_.substr(at_).starts_with("...")) return take(Kind::stop, 3), true;
    if (longer.count(text_.substr(at_, 2)) > 0) return take(Kind::sign, 2), true;
    const char c = peek(0);
    if (std::string_view("([{").find(c) != std::string_view::npos) return take(Kind::open, 1), true;
    if (std::string_view(")]}").find(c) != std::string_view::npos)
      return take(Kind::close, 1), true;
    if (c == ',' || c == ';') return take(Kind::comma, 1), true;
    if (std::string_view("=<>+-*/^_~").find(c) != std::string_view::npos) {
      return take(Kind::sign, 1), true;
    }
    if (c == '.' && space_ && spaced(1)) return take(Kind::sign, 1), true;  // q . k
    if (std::string_view(".:?!\"'").find(c) != std::string_view::npos) {
      return take(Kind::stop, 1), true;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool space_ = false;
  int open_angles_ = 0;
  std::vector<std::size_t> open_bars_;
  std::vector<Token> tokens_;
};

bool one_of(const std::string& text, const std::set<std::string>& set) {
  return set.count(text) > 0;
}

/// Names that are words where they stand: an article, "the sum of", "appendix K".
void demote_words(std::vector<Token>& tokens) {
  static const std::set<std::string> as_call = {"softmax", "Softmax", "softplus", "Softplus",
                                                "ReLU",    "Uniform", "Laplace",  "logistic",
                                                "score",   "gate"};
  static const std::set<std::string> as_prefix = {"sum", "max", "min", "lim", "log",
                                                  "mod", "exp", "cos", "sqrt"};
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    Token& token = tokens[k];
    if (token.kind != Kind::name) continue;
    const Token* before = k > 0 ? &tokens[k - 1] : nullptr;
    const Token* after = k + 1 < tokens.size() ? &tokens[k + 1] : nullptr;
    const bool attached =
        after && !after->space &&
        (after->text == "(" || after->text == "_" || after->text == "[" || after->text == "^");
    if (before && before->kind == Kind::word && token.text.size() == 1 &&
        one_of(before->text, {"appendix", "Appendix", "appendices"})) {
      token.kind = Kind::word;
    } else if (one_of(token.text, as_call)) {
      const bool equation =
          after && (after->text == "=" || after->text == "(") && token.text == "gate";
      if (!attached && !equation) token.kind = Kind::word;
    } else if (one_of(token.text, as_prefix)) {
      const bool article = before && (before->text == "the" || before->text == "a");
      const bool operand = after && (after->kind == Kind::name || after->kind == Kind::number ||
                                     after->kind == Kind::open || after->text == "=");
      if (!attached && (article || !operand)) token.kind = Kind::word;
    } else if (token.text == "infinity") {
      const bool value = before && before->kind == Kind::sign;
      if (!value) token.kind = Kind::word;
    }
  }
  for (std::size_t k = 0; k < tokens.size(); ++k) {  // when it is known what follows them
    if (tokens[k].kind != Kind::name || (tokens[k].text != "a" && tokens[k].text != "A")) continue;
    const Kind after = k + 1 < tokens.size() ? tokens[k + 1].kind : Kind::word;
    if (after == Kind::word || after == Kind::claim) tokens[k].kind = Kind::word;
  }
}

}  // namespace

std::string_view greek(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 13> letters = {
      {{"alpha", "α"},
       {"beta", "β"},
       {"gamma", "γ"},
       {"delta", "δ"},
       {"epsilon", "ε"},
       {"theta", "θ"},
       {"lambda", "λ"},
       {"mu", "μ"},
       {"pi", "π"},
       {"sigma", "σ"},
       {"phi", "φ"},
       {"psi", "ψ"},
       {"omega", "ω"}}};
  const auto found = std::find_if(letters.begin(), letters.end(),
                                  [&](const auto& letter) { return letter.first == name; });
  return found == letters.end() ? std::string_view() : found->second;
}

bool is_function(std::string_view name) {
  static const std::set<std::string_view> functions = {
      "exp", "ln",      "log",      "sqrt",     "sum",     "max",  "min",
      "lim", "softmax", "softplus", "Softplus", "ReLU",    "tanh", "coth",
      "cos", "sin",     "logistic", "Uniform",  "Laplace", "mod"};
  return functions.count(name) > 0;
}

std::vector<Token> tokens(std::string_view text) {
  std::vector<Token> result = Lexer(text).run();
  demote_words(result);
  return result;
}

}  // namespace plumbline::proofs_checks::formula
