// SPDX-License-Identifier: Apache-2.0
// Where the program lies, and what came with it.
#pragma once

#include <filesystem>
#include <string>

namespace plumbline::cli {

/// A folder that comes with the program: share/plumbline/NAME where it is installed, NAME in the
/// sources where it runs from a build folder. @throws MachineLacks when there is neither.
std::filesystem::path data_folder(const std::string& name);

/// The folder of the program and its parent: bin/, and what lib/ and share/ lie in.
std::filesystem::path program_prefix();

}  // namespace plumbline::cli
