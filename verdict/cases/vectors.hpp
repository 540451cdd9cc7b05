// SPDX-License-Identifier: Apache-2.0
// A folder of generated cases for kernels that run elsewhere.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "verdict/cases/spec.hpp"

namespace plumbline::cases {

/// The file name of case `index`, counted from 0: "0007-k_cable-bf16-peaked.safetensors".
std::string vector_file_name(std::size_t index, const Spec&);

/// Generates the cases and writes each to its file in `folder`, which is created where it is
/// missing and must not have cases yet, and last "index.json": {"format_version": 1, "cases":
/// [{"file": ..., "spec": to_line of the spec}, ...]}. `written(n)` is called after each file with
/// the number done.
/// @throws BadInput if a spec is not valid, the folder has an index or safetensors files, or a file
/// cannot be written, or another process writes into the folder. What was written goes again then,
/// and when a signal ends the program.
void write_vectors(const std::filesystem::path& folder, const std::vector<Spec>& specs,
                   const std::function<void(std::size_t)>& written = {});

}  // namespace plumbline::cases
