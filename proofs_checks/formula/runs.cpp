// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/formula/runs.hpp"

#include <algorithm>

namespace plumbline::proofs_checks::formula {
namespace {

bool prose(const Token& token) {
  return token.kind == Kind::word || token.kind == Kind::claim || token.kind == Kind::code ||
         token.kind == Kind::stop;
}

/// "in" and "x" between quantities stand for signs: beta in (0, 1), 3 x Heads.
bool membership(const std::vector<Token>& tokens, std::size_t k) {
  if (tokens[k].text != "in" || k == 0 || k + 1 >= tokens.size()) return false;
  const bool quantity = tokens[k - 1].kind == Kind::name || tokens[k - 1].kind == Kind::close;
  const Token& after = tokens[k + 1];
  return quantity &&
         (after.text == "[" || after.text == "(" || after.text == "{" || after.text == "R");
}

/// For every bracket its partner; tokens.size() for one that has none.
std::vector<std::size_t> partners(const std::vector<Token>& tokens) {
  std::vector<std::size_t> partner(tokens.size(), tokens.size()), open;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (tokens[k].kind == Kind::open) open.push_back(k);
    if (tokens[k].kind != Kind::close || open.empty()) continue;
    partner[k] = open.back();
    partner[open.back()] = k;
    open.pop_back();
  }
  return partner;
}

/// Which tokens may stand in a formula.
std::vector<bool> mathematical(const std::vector<Token>& tokens) {
  const std::vector<std::size_t> partner = partners(tokens);
  std::vector<bool> result(tokens.size());
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    result[k] = !prose(tokens[k]) || membership(tokens, k);
  }
  for (std::size_t k = 0; k < tokens.size(); ++k) {  // outer brackets come first
    if (tokens[k].kind == Kind::close && partner[k] == tokens.size()) result[k] = false;
    if (tokens[k].kind != Kind::open) continue;
    const std::size_t end = partner[k];
    bool words = end == tokens.size();
    for (std::size_t inner = k; inner < end && !words; ++inner) words = !result[inner];
    if (words) result[k] = false;
    if (words && end < tokens.size()) result[end] = false;
  }
  int depth = 0;  // commas belong to a formula within its brackets, or without space in a subscript
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (!result[k]) continue;
    depth += tokens[k].kind == Kind::open ? 1 : tokens[k].kind == Kind::close ? -1 : 0;
    if (tokens[k].kind != Kind::comma || depth > 0) continue;
    const bool subscript = tokens[k].text == "," && k >= 2 && tokens[k - 2].text == "_" &&
                           k + 1 < tokens.size() && !tokens[k + 1].space;
    if (!subscript) result[k] = false;
  }
  return result;
}

/// Something that typesetting improves: a name, a sum, a comparison; not "eqs 2-7" or "24".
bool worth_setting(const std::vector<Token>& tokens, std::size_t first, std::size_t last) {
  bool sign = false;
  for (std::size_t k = first; k < last; ++k) {
    if (tokens[k].kind == Kind::name) return true;
    const bool range = tokens[k].text == "-" && k > first && !tokens[k].space;
    sign = sign || (tokens[k].kind == Kind::sign && !range && last - first > 1);
    sign = sign || (tokens[k].kind == Kind::comma);
  }
  return sign;
}

}  // namespace

std::vector<Run> runs(const std::vector<Token>& tokens) {
  const std::vector<bool> inside = mathematical(tokens);
  std::vector<Run> result;
  std::size_t k = 0;
  while (k < tokens.size()) {
    std::size_t last = k;
    while (last < tokens.size() && inside[last] == inside[k]) ++last;
    const bool formula = inside[k] && worth_setting(tokens, k, last);
    if (!result.empty() && !result.back().formula && !formula) {
      result.back().last = last;
    } else {
      result.push_back({formula, k, last});
    }
    k = last;
  }
  return result;
}

}  // namespace plumbline::proofs_checks::formula
