// SPDX-License-Identifier: Apache-2.0
#include "cli/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "support/text.hpp"

namespace plumbline::cli {
namespace {

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return {};
  return number;
}

bool is_whole(const std::string& text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const bool digits =
      text.size() > first && text.find_first_not_of("0123456789", first) == std::string::npos;
  // CLI11 takes the largest number for one that does not fit.
  return digits && (text[first] != '0' || text.size() == first + 1) && number_in<long>(text);
}

bool is_finite(const std::string& text) {
  const std::optional<double> number = number_in<double>(text);
  return number && std::isfinite(*number);
}

std::string refusal(const std::string& text, const std::string& expected) {
  return "is " + in_quotes(text) + "; expected " + expected;
}

/// Without a description: what the help says of an option stays as it is.
CLI::Validator check(bool (*holds)(const std::string&), const char* expected) {
  return {[=](const std::string& text) {
            return holds(text) ? std::string() : refusal(text, expected);
          },
          ""};
}

/// "--steps: is 3; ..." without the colon.
std::string sentence(std::string text) {
  const std::size_t colon = text.find(": is ");
  return colon == std::string::npos ? text : text.erase(colon, 1);
}

}  // namespace

CLI::Validator whole_number_from(long least, long most) {
  return {[=](const std::string& text) {
            const auto number = is_whole(text) ? number_in<long>(text) : std::nullopt;
            if (number && *number >= least && *number <= most) return std::string();
            return refusal(text, fmt::format("a whole number from {} to {}", least, most));
          },
          fmt::format("in [{} - {}]", least, most)};
}

CLI::Validator number_from(double least, double most) {
  return {[=](const std::string& text) {
            const auto number = number_in<double>(text);
            if (number && *number >= least && *number <= most) return std::string();
            return refusal(text, fmt::format("a number from {} to {}", least, most));
          },
          fmt::format("in [{} - {}]", least, most)};
}

CLI::Validator one_of(std::vector<std::string> words) {
  return {[words](const std::string& text) {
            if (std::ranges::find(words, text) != words.end()) return std::string();
            return refusal(text, fmt::format("one of {}", fmt::join(words, ", ")));
          },
          fmt::format("in {{{}}}", fmt::join(words, ","))};
}

void expect_numbers(CLI::App& program) {
  for (CLI::Option* option : program.get_options()) {
    const std::string type = option->get_type_name();
    if (type.starts_with("FLOAT")) option->check(check(is_finite, "a finite number"));
    if (type.starts_with("INT") || type.starts_with("UINT"))
      option->check(check(is_whole, "a whole number below 2^63"));
  }
  for (CLI::App* command : program.get_subcommands({})) expect_numbers(*command);
}

std::string described(const CLI::Error& error) {
  const std::string said = error.what(), before = "Could not convert: ";
  const std::size_t equals = said.find(" = ");
  if (said.starts_with(before) && equals != std::string::npos) {
    // A whole number, as was checked, for an `int`.
    return fmt::format("{} is {}; expected at most {} in absolute value",
                       said.substr(before.size(), equals - before.size()), said.substr(equals + 3),
                       std::numeric_limits<int>::max());
  }
  if (const std::size_t colon = said.find(": 1 required "); said.ends_with(" missing"))
    return said.substr(0, colon) + " is given without its value";
  return sentence(said);
}

}  // namespace plumbline::cli
