// SPDX-License-Identifier: Apache-2.0
// Mutations of PTX for libFuzzer: of tokens and of statements, so that most results are PTX again.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using Random = std::minstd_rand;

constexpr std::array<std::string_view, 34> types = {
    "b8",    "b16",    "b32",    "b64",   "b128", "u8",   "u16",  "u32",   "u64",
    "s8",    "s16",    "s32",    "s64",   "f16",  "bf16", "tf32", "f16x2", "bf16x2",
    "f32",   "f64",    "pred",   "e4m3",  "e5m2", "s4",   "u4",   "b1",    "u16x2",
    "s16x2", "e4m3x2", "e5m2x2", "f32x2", "v2",   "v4",   "v8"};
constexpr std::array<std::string_view, 26> words = {
    "global",      "shared",   "local",   "const",   "param",   "shared::cluster",
    "shared::cta", "volatile", "relaxed", "acquire", "release", "gpu",
    "cta",         "sys",      "cluster", "sync",    "aligned", "wide",
    "hi",          "lo",       "rn",      "sat",     "ftz",     "approx",
    "uni",         "noinc"};
constexpr std::array<std::string_view, 22> numbers = {"0",
                                                      "1",
                                                      "-1",
                                                      "2",
                                                      "3",
                                                      "4",
                                                      "7",
                                                      "8",
                                                      "15",
                                                      "16",
                                                      "17",
                                                      "31",
                                                      "32",
                                                      "33",
                                                      "64",
                                                      "255",
                                                      "4096",
                                                      "0x7fffffff",
                                                      "0x80000000",
                                                      "0xffffffff",
                                                      "0x8000000000000000",
                                                      "0xffffffffffffffff"};

enum class Kind { space, name, dotted, number, sign };
struct Token {
  Kind kind;
  std::string_view text;
};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    Kind kind = Kind::sign;
    const char c = text[at];
    if (std::isspace(static_cast<unsigned char>(c))) {
      kind = Kind::space;
    } else if (in_word(c) || ((c == '%' || c == '.') && end < text.size() && in_word(text[end]))) {
      kind = c == '.'                                      ? Kind::dotted
             : std::isdigit(static_cast<unsigned char>(c)) ? Kind::number
                                                           : Kind::name;
      while (end < text.size() &&
             (in_word(text[end]) || (kind == Kind::dotted && text[end] == ':')))
        ++end;
    }
    all.push_back({kind, text.substr(at, end - at)});
    at = end;
  }
  return all;
}

/// Each with its semicolon.
std::vector<std::string_view> statements_of(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(";{}", at), text.size() - 1) + 1;
    all.push_back(text.substr(at, end - at));
    at = end;
  }
  return all;
}

template <class T>
std::string joined(const std::vector<T>& parts) {
  std::string all;
  for (const T& part : parts) {
    if constexpr (requires { part.text; })
      all += part.text;
    else
      all += part;
  }
  return all;
}

const auto& any_of(const auto& all, Random& random) { return all[random() % all.size()]; }

std::string with_another_token(std::string_view text, Random& random) {
  std::vector<Token> tokens = tokens_of(text);
  std::string fresh;
  for (int tries = 0; tries < 20 && !tokens.empty(); ++tries) {
    const std::size_t at = random() % tokens.size();
    Token& token = tokens[at];
    if (token.kind == Kind::space) continue;
    const Token& other = any_of(tokens, random);
    const unsigned how = random() % 8;
    if (how == 0) {  // gone
      token.text = {};
    } else if (how == 1) {  // twice
      fresh = std::string(token.text) + (token.kind == Kind::dotted ? "" : " ") +
              std::string(token.text);
      token.text = fresh;
    } else if (token.kind == Kind::dotted && how < 6) {
      const bool is_type = std::ranges::find(types, token.text.substr(1)) != types.end();
      fresh = "." + std::string(is_type ? any_of(types, random) : any_of(words, random));
      token.text = fresh;
    } else if (token.kind == Kind::number && how < 6) {
      token.text = any_of(numbers, random);
    } else if (token.kind == Kind::name && token.text[0] == '%' && how < 4) {
      constexpr std::array<std::string_view, 8> registers = {"%r", "%rd", "%rs", "%p",
                                                             "%r", "%rd", "%rq", "%r"};
      fresh = std::string(any_of(registers, random)) + std::to_string(random() % 8);
      token.text = fresh;
    } else if (other.kind == token.kind) {
      std::swap(token.text, tokens[static_cast<std::size_t>(&other - tokens.data())].text);
    } else {
      continue;
    }
    break;
  }
  return joined(tokens);
}

/// Another register of the same kind, or another number: what was valid mostly stays so.
std::string with_another_operand(std::string_view text, Random& random) {
  std::vector<Token> tokens = tokens_of(text);
  std::string fresh;
  for (int tries = 0; tries < 50 && !tokens.empty(); ++tries) {
    Token& token = tokens[random() % tokens.size()];
    if (token.kind == Kind::number) {
      token.text = any_of(numbers, random);
      break;
    }
    const std::size_t letters = token.text.find_last_not_of("0123456789") + 1;
    const bool is_register = token.kind == Kind::name && token.text[0] == '%';
    if (!is_register || letters == token.text.size()) continue;
    fresh = std::string(token.text.substr(0, letters)) + std::to_string(random() % 8);
    token.text = fresh;
    break;
  }
  return joined(tokens);
}

std::string with_other_statements(std::string_view text, Random& random) {
  std::vector<std::string_view> all = statements_of(text);
  if (all.empty()) return std::string(text);
  const std::size_t from = random() % all.size(), to = random() % all.size();
  const std::string_view moved = all[from];
  switch (random() % 4) {
    case 0:
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(from));
      break;
    case 1:
      std::swap(all[from], all[to]);
      break;
    default:
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(to), moved);
  }
  return joined(all);
}

std::size_t put(const std::string& text, std::uint8_t* data, std::size_t max_size) {
  const std::size_t size = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), size);
  return size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  Random random(seed);
  if (random() % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  // Most inputs are to run: a token of any kind only now and then.
  const bool mild = random() % 4 != 0;
  for (auto times = random() % 3 + 1; times > 0; --times)
    text = random() % 4 == 0 ? with_other_statements(text, random)
           : mild            ? with_another_operand(text, random)
                             : with_another_token(text, random);
  return put(text, data, max_size);
}

/// Some statements of the one among those of the other.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1,
                                                 const std::uint8_t* data2, std::size_t size2,
                                                 std::uint8_t* out, std::size_t max_size,
                                                 unsigned int seed) {
  Random random(seed);
  std::vector<std::string_view> into = statements_of({reinterpret_cast<const char*>(data1), size1});
  const std::vector<std::string_view> from =
      statements_of({reinterpret_cast<const char*>(data2), size2});
  if (!from.empty())
    for (auto count = random() % 4 + 1; count > 0; --count)
      into.insert(into.begin() + static_cast<std::ptrdiff_t>(random() % (into.size() + 1)),
                  any_of(from, random));
  return put(joined(into), out, max_size);
}
