// SPDX-License-Identifier: Apache-2.0
#include "cli/option_names.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace plumbline::cli {
namespace {

constexpr const char* of_name = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

/// Fields before a comma and their number: "a divisor of width, 64".
template <class Naming>
std::string with_options(std::string text, const Naming& naming) {
  for (std::size_t comma = text.find(", "); comma != std::string::npos && comma > 0;
       comma = text.find(", ", comma + 1)) {
    const bool number = text.find_first_of("0123456789", comma + 2) == comma + 2;
    const std::size_t before = text.find_last_not_of(of_name, comma - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    if (!number || begin == comma) continue;
    const std::string option = naming(text.substr(begin, comma - begin));
    text.replace(begin, comma - begin, option);
    comma = begin + option.size();
  }
  return text;
}

}  // namespace

std::string option_of(const std::string& field, const CLI::App& command,
                      const OptionNames& others) {
  if (const auto other = others.find(field); other != others.end()) return other->second;
  std::string name = "--" + field;
  std::replace(name.begin(), name.end(), '_', '-');
  if (name.find_first_of(" /\"") != std::string::npos) return field;
  return command.get_option_no_throw(name) ? name : field;
}

int naming_options(const CLI::App& command, const OptionNames& others,
                   const std::function<int()>& body) {
  const auto naming = [&](const std::string& field) { return option_of(field, command, others); };
  try {
    return body();
  } catch (const BadInput& error) {
    // "FIELD is VALUE; expected EXPECTED": see BadInput.
    const std::string text = error.what(), is = " is ", but = "; expected ";
    const std::size_t value = text.find(is), expected = text.rfind(but);
    if (value == std::string::npos || expected == std::string::npos || expected < value) throw;
    const std::string field = text.substr(0, value);
    throw BadInput(naming(field), text.substr(value + is.size(), expected - value - is.size()),
                   with_options(text.substr(expected + but.size()), naming));
  }
}

}  // namespace plumbline::cli
