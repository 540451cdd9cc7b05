// SPDX-License-Identifier: Apache-2.0
#include "cli/lists.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::cli {
namespace {

using Texts = std::vector<std::string>;

Texts items_of(const std::string& option, const Texts& arguments) {
  Texts items;
  for (const std::string& argument : arguments) {
    for (std::size_t begin = 0; begin <= argument.size();) {
      const std::size_t end = std::min(argument.find(',', begin), argument.size());
      if (end == begin)
        throw BadInput(option, in_quotes(argument), "a list without empty items, such as a,b");
      items.push_back(argument.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return items;
}

std::string shown(int item) { return std::to_string(item); }
std::string shown(double item) { return fmt::format("{}", item); }
std::string shown(const std::string& item) { return in_quotes(item); }

template <class Item>
void expect_no_item_twice(const std::string& option, const std::vector<Item>& items) {
  for (auto item = items.begin(); item != items.end(); ++item) {
    if (std::find(items.begin(), item, *item) != item)
      throw BadInput(option, shown(*item) + " twice", "each of them once");
  }
}

int number_of(const std::string& option, const std::string& item) {
  int number = 0;
  const char* const end = item.data() + item.size();
  const auto [rest, error] = std::from_chars(item.data(), end, number);
  if (error == std::errc::result_out_of_range && rest == end)
    throw BadInput(option, in_quotes(item), "smaller whole numbers");
  if (error != std::errc() || rest != end)
    throw BadInput(option, in_quotes(item), "whole numbers, such as 512,1024");
  return number;
}

double decimal_of(const std::string& option, const std::string& item) {
  double number = 0;
  const char* const end = item.data() + item.size();
  const auto [rest, error] = std::from_chars(item.data(), end, number);
  if (error != std::errc() || rest != end || !std::isfinite(number))
    throw BadInput(option, in_quotes(item), "numbers such as 0.125,1");
  return number;
}

template <class Item, class Read>
CLI::Option* add(CLI::App& command, const std::string& option, std::vector<Item>& items,
                 const std::string& description, const char* type, Read read) {
  const auto take = [option, &items, read](const Texts& arguments) {
    items.clear();
    for (const std::string& item : items_of(option, arguments)) items.push_back(read(item));
    expect_no_item_twice(option, items);
  };
  auto* added = command.add_option_function<Texts>(option, take, description);
  // Not CLI11's name of the type: it checks every argument that it takes for a number.
  return added->type_name(type)->default_str(fmt::format("{}", fmt::join(items, ",")));
}

}  // namespace

CLI::Option* add_list(CLI::App& command, const std::string& option, Texts& items,
                      const std::string& description) {
  return add(command, option, items, description, "NAME[,NAME]",
             [](const std::string& s) { return s; });
}

CLI::Option* add_list(CLI::App& command, const std::string& option, std::vector<int>& items,
                      const std::string& description) {
  return add(command, option, items, description, "N[,N]",
             [option](const std::string& s) { return number_of(option, s); });
}

CLI::Option* add_list(CLI::App& command, const std::string& option, std::vector<double>& items,
                      const std::string& description) {
  return add(command, option, items, description, "X[,X]",
             [option](const std::string& s) { return decimal_of(option, s); });
}

void expect_each_once(const std::string& option, const Texts& items) {
  expect_no_item_twice(option, items);
}

}  // namespace plumbline::cli
