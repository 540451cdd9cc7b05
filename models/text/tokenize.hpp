// SPDX-License-Identifier: Apache-2.0
// Text files to tokens.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "models/text/tokenizer.hpp"

namespace plumbline::text {

struct TokenizedText {
  std::vector<Token> tokens;
  std::size_t documents = 0;
  std::size_t bytes = 0;       ///< of text, separators not counted
  std::size_t separators = 0;  ///< lines that were one
};

/// Told how many bytes of the files are done.
using ByteProgress = std::function<void(std::size_t done)>;

/// The documents of the files in order, end-of-text before each of them, as CABLE's training data
/// has it. A file is one document; with a `separator`, every line that is exactly the separator
/// ends one ("%" for fortune files, "<|endoftext|>" for texts that were made for GPT-2). Documents
/// of no bytes are passed over. Whole documents are encoded, so that no token depends on how a file
/// was read; all tokens are in memory, two bytes each.
/// @throws BadInput naming the file and the reason: it cannot be read, is not a regular file, or
/// has no text; a document is too long for the tokenizer.
TokenizedText tokenize(const std::vector<std::filesystem::path>& paths, const Tokenizer& tokenizer,
                       const std::string& separator = "", const ByteProgress& progress = {});

/// A separator that separates nothing is a slip that would make one document of everything.
/// @throws BadInput if there is a separator and none was found in the texts, or no text to find it.
void expect_separators(const std::string& separator, std::size_t texts, std::size_t found);

}  // namespace plumbline::text
