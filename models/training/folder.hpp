// SPDX-License-Identifier: Apache-2.0
// A run's folder, and what lies in it.
#pragma once

#include <filesystem>

#include "models/training/settings.hpp"

namespace plumbline::training {

/// The folder, made if there is none. @throws BadInput if it cannot be made.
const std::filesystem::path& made(const std::filesystem::path& folder);

/// The newest checkpoint of the run that is to be resumed; empty for a new run.
/// @throws BadInput where there is none to be resumed, or one where none is to be.
std::filesystem::path newest_checkpoint(const Habits&);

/// The updates of the schedule that a run began with, as its newest checkpoint says, which is not
/// looked at closely; 0 where that cannot be read.
long declared_updates(const Habits&);

/// All but the newest `keep` checkpoints go.
void remove_old_checkpoints(const Habits&);

/// Whether a run writes a file of this name into its folder.
bool is_of_run(const std::string& name);

/// Takes away what a killed run left of a file that it was writing: an AtomicFile's temporary,
/// .NAME.PROCESS.NUMBER.partial. The folder is ours; but another program, or the report of --json,
/// may be on its way into it, and of files that are none of a run's only those of processes that
/// have ended go.
void remove_partial_files(const std::filesystem::path& folder);

}  // namespace plumbline::training
