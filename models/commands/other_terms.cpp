// SPDX-License-Identifier: Apache-2.0
#include "models/commands/other_terms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace plumbline::cli {
namespace {

using training::Difference;
using training::Terms;

std::string shown(const Terms& value) {
  if (value.is_null()) return "nothing";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("kind")) return shown(value["kind"]);  // an objective
  return value.dump();
}

/// Of files: their number, or the first one that is another.
std::string data_difference(const Difference& d, const TrainOptions& options) {
  const auto count = [](const Terms& files) { return files.is_array() ? files.size() : 0; };
  if (count(d.asked) != count(d.of_checkpoint) || count(d.asked) == 0) {
    return fmt::format("{} of data, then {}", counted(count(d.asked), "file"),
                       count(d.of_checkpoint));
  }
  std::size_t n = 0;
  while (d.asked[n] == d.of_checkpoint[n]) ++n;
  const std::string path =
      n < options.data.size() ? options.data[n] : options.contrastive.pairs.string();
  const char* unit = d.asked[n].contains("tokens") ? "tokens" : "bytes";
  const Terms now = d.asked[n].value(unit, Terms()), then = d.of_checkpoint[n].value(unit, Terms());
  if (now == then) return fmt::format("file {} has other {} than then", in_quotes(path), unit);
  return fmt::format("file {} has {} {}, then {}", in_quotes(path), shown(now), unit, shown(then));
}

std::string difference(const std::string& option, const Difference& d,
                       const TrainOptions& options) {
  if (d.term == "data") return data_difference(d, options);
  if (d.term == "from") return "--from with other weights than then, or where then was none";
  if (!d.asked.is_boolean())
    return fmt::format("{} {}, then {}", option, shown(d.asked), shown(d.of_checkpoint));
  // Two flags say the opposite of the term.
  const bool opposite = d.term == "shuffled" || d.term == "deterministic";
  return d.asked.get<bool>() == opposite ? "no " + option + ", which was given then"
                                         : option + ", which was not given then";
}

}  // namespace

BadInput in_options(const training::OtherTerms& error, const TrainOptions& options,
                    const CLI::App& command) {
  std::string of_options, of_others;  // those that no option sets follow from what others set
  std::vector<std::string> named;
  for (const Difference& d : error.differences()) {
    const std::string last = d.term.substr(d.term.rfind('.') + 1);
    const std::string option = option_of(last, command, train_option_names());
    if (std::ranges::find(named, option) != named.end()) continue;  // --length sets two terms
    named.push_back(option);
    const bool is_set = option.starts_with("--") || d.term == "data";
    std::string& list = is_set ? of_options : of_others;
    list += (list.empty() ? "" : "; ") + difference(option, d, options);
  }
  return {"--resume",
          "given with other options than those that the run in " + path_in_quotes(options.folder) +
              " began with: " + (of_options.empty() ? of_others : of_options),
          "the same ones, and the same data"};
}

}  // namespace plumbline::cli
