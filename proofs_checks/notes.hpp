// SPDX-License-Identifier: Apache-2.0
// Which note in docs/proofs/ has the proof that a claim's checks exercise.
#pragma once

#include <string>
#include <vector>

namespace plumbline::proofs_checks {

struct Note {
  std::string file;  ///< in docs/proofs/
  std::string title;
  std::vector<std::string> claims;  ///< ids
};

/// All notes, in the order of docs/proofs/README.md.
const std::vector<Note>& notes();

/// The note that treats the claim; nullptr if none does.
const Note* note_of(const std::string& claim);

}  // namespace plumbline::proofs_checks
