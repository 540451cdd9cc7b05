// SPDX-License-Identifier: Apache-2.0
#include "cli/page_folder.hpp"

#include <fstream>
#include <system_error>

#include "cli/command.hpp"
#include "cli/outputs.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

/// The file begins as our pages do.
bool is_ours(const fs::path& page, std::string_view generator) {
  std::ifstream file(page, std::ios::binary);
  std::string beginning(512, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  return beginning.find(generator) != std::string::npos;
}

}  // namespace

void add_page_option(CLI::App& command, std::string& folder) {
  writes(
      command
          .add_option("--html", folder, "Write an HTML page to DIR/index.html; it needs no network")
          ->type_name("DIR")
          ->check(not_empty()),
      "index.html");
}

PageFolder::PageFolder(const std::string& option, const fs::path& folder,
                       std::string_view generator) {
  const std::string shown = path_in_quotes(folder);
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    throw BadInput(option, shown + ", which is not a folder", "a folder, or a name for a new one");
  }
  if (!fs::exists(status)) {
    const MakingLeftovers making;
    if (fs::create_directory(folder, error)) made_ = Leftover::folder(folder);
    if (error)
      throw BadInput(option, shown + ": " + error.message(), "a folder that can be created");
  }
  const fs::path page = folder / "index.html";
  if (fs::exists(fs::symlink_status(page, error)) && !is_ours(page, generator)) {
    throw BadInput(option, shown + ", whose index.html this program did not write",
                   "a folder without an index.html, or with an earlier page");
  }
  try {
    file_ = std::make_unique<AtomicFile>(page);
  } catch (const BadInput& unwritable) {
    throw BadInput(option, unwritable);
  }
}

void PageFolder::write(std::string_view page) {
  file_->write(page);
  file_->commit();
  made_.keep();
}

}  // namespace plumbline::cli
