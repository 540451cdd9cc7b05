// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/targets.hpp"

#include <algorithm>
#include <cctype>

namespace plumbline::ptx::cuda {
namespace {

/// Where the text goes on after white space and comments.
std::size_t skip_blank(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const auto end = text.find("*/", at + 2);
      at = end == text.npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

/// The word that begins at `at`, of any other character that one alone.
std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && in_word(text[end])) ++end;
  return text.substr(at, std::max<std::size_t>(end - at, 1));
}

int rank(const Target& target) {
  return target.number * 4 + (target.suffix == 'a' ? 2 : target.suffix == 'f' ? 1 : 0);
}

std::string sm(std::uint32_t number) { return "sm_" + std::to_string(number); }

/// A flag that makes PTX which the device runs.
std::string advice(int device) {
  const std::string number = std::to_string(std::min(device, 80));
  return "add PTX by the option -gencode arch=compute_" + number + ",code=compute_" + number +
         " of nvcc";
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t n = 0; n < names.size(); ++n) {
    list += (n == 0 ? "" : n + 1 == names.size() ? " and " : ", ") + names[n];
  }
  return list;
}

}  // namespace

std::optional<Target> target_of(std::string_view ptx) {
  for (std::size_t at = skip_blank(ptx, 0); at < ptx.size();) {
    const auto word = word_at(ptx, at);
    at = skip_blank(ptx, at + word.size());
    if (word == ".target") return target_named(word_at(ptx, std::min(at, ptx.size())));
  }
  return std::nullopt;
}

ChosenPtx choose_ptx(const FatBinary& binary, int major, int minor) {
  const int device = 10 * major + minor;
  std::optional<ChosenPtx> best;
  std::vector<std::string> others;
  for (const PtxEntry& entry : binary.ptx) {
    // An entry may be for an architecture alone or for all from it on: the text says which.
    if (entry.architecture > static_cast<std::uint32_t>(device)) {
      others.push_back("compute_" + std::to_string(entry.architecture));
      continue;
    }
    std::string text = entry.text();
    const auto target = target_of(text);
    if (!target) throw BadFatBinary("PTX of a fat binary has no .target that can be read");
    if (!target->runs_on(major, minor)) {
      others.push_back("compute_" + target->name().substr(3));
    } else if (!best || rank(*target) > rank(best->target)) {
      best = {*target, std::move(text)};
    }
  }
  if (best) return std::move(*best);
  if (!others.empty()) {
    throw BadFatBinary("it has PTX for " + listed(others) + ", and this device is " + sm(device) +
                       ": " + advice(device));
  }
  if (binary.machine_code.empty()) throw BadFatBinary("its fat binary is empty");
  for (const auto number : binary.machine_code) others.push_back(sm(number));
  throw BadFatBinary("it has machine code for " + listed(others) +
                     " and no PTX: " + advice(device));
}

}  // namespace plumbline::ptx::cuda
