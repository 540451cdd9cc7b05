// SPDX-License-Identifier: Apache-2.0
// What the papers say, passage by passage, and which claims examine it.
//
// The index is data: proofs_checks/coverage/NAME.json for each document. It has the places of
// passages in a document's text, not the text; tests/proofs_checks/coverage.py compares it with the
// texts where they are at hand.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace plumbline::proofs_checks {

/// A sentence, equation, table, caption, footnote or code listing, or several that say one thing.
struct Passage {
  std::size_t begin = 0, end = 0;  ///< bytes of the document
  std::string begins;              ///< its first words
  std::string kind, place;
  std::string says;                 ///< in our words
  std::vector<std::string> claims;  ///< ids of the claims that examine it
  std::string reason;               ///< why none does; empty if some do
};

struct Document {
  std::string name;           ///< of its file in proofs_checks/coverage/
  std::string paper;          ///< "bam", as in ids of claims
  std::string title, sha256;  ///< of the text that the places refer to
  std::size_t bytes = 0;
  std::vector<Passage> passages;  ///< in the document's order
};

/// The index of these papers ("bam"), or of what these claims examine ("bam/theorem_1"); all of it
/// if there are no ids. @throws BadInput for an id that selects nothing.
std::vector<Document> coverage(const std::vector<std::string>& ids = {});

/// A line or two for each passage, and how many there are.
void write_text(const std::vector<Document>&, std::ostream&);

nlohmann::json to_json(const std::vector<Document>&);

}  // namespace plumbline::proofs_checks
