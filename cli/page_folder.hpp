// SPDX-License-Identifier: Apache-2.0
// A folder for a page, made ready before the work whose result the page shows.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "support/atomic_file.hpp"

namespace plumbline::cli {

/// --html DIR.
void add_page_option(CLI::App& command, std::string& folder);

/// DIR/index.html, which appears whole or not at all, and without which a folder that was made for
/// it goes again. A page that an earlier run wrote is replaced; anything else in the folder stays
/// as it is.
class PageFolder {
 public:
  /// Makes the folder, unless it exists, in a folder that does. `generator` is a line near the
  /// beginning of every page of ours. @throws BadInput naming `option` if DIR is not a folder,
  /// cannot be made or written to, or has an index.html that is not ours.
  PageFolder(const std::string& option, const std::filesystem::path&, std::string_view generator);

  /// @throws BadInput when there is no room for it; an earlier page is then still there.
  void write(std::string_view page);

 private:
  Leftover made_;
  std::unique_ptr<AtomicFile> file_;  // goes before its folder
};

}  // namespace plumbline::cli
