// SPDX-License-Identifier: Apache-2.0
// plumbline-profile: what `plumbline profile` runs.
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace plumbline::cli {
namespace {

/// The arguments with "--" between the options of the command and the program that it runs with
/// that one's own options, or those of verify, among which --json and --lines are still the
/// command's.
std::vector<std::string> apart(const std::vector<std::string>& given) {
  std::vector<std::string> own(given.begin(), given.begin() + 2), rest;
  bool kernel = false;
  for (std::size_t i = 2; i < given.size(); ++i) {
    const std::string& word = given[i];
    const std::string name = word.substr(0, word.find('='));
    if (name == "--json" || name == "--lines" || name == "--kernel") {
      kernel = kernel || name == "--kernel";
      own.push_back(word);
      if (name == word && i + 1 < given.size()) own.push_back(given[++i]);
    } else if (kernel && word != "--help" && word != "-h") {
      rest.push_back(word);
    } else if (word.starts_with('-') && word != "--") {
      own.push_back(word);
    } else {
      rest.assign(given.begin() + static_cast<std::ptrdiff_t>(i) + (word == "--"), given.end());
      break;
    }
  }
  own.emplace_back("--");
  own.insert(own.end(), rest.begin(), rest.end());
  return own;
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) {
  using namespace plumbline::cli;
  std::vector<std::string> words(argv, argv + argc);
  if (argc > 2) words = apart(words);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return run_program(static_cast<int>(words.size()), arguments.data(), add_profile);
}
