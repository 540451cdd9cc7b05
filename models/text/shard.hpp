// SPDX-License-Identifier: Apache-2.0
// Token shards in the layout of llm.c (github.com/karpathy/llm.c, dev/data/data_common.py): a
// header of 256 int32, of which three count (magic 20240520, version 1, number of tokens), then the
// tokens as uint16; everything little-endian.
#pragma once

#include <filesystem>
#include <span>

#include "models/text/tokenizer.hpp"
#include "support/mapped_file.hpp"

namespace plumbline::text {

/// Writes a shard, whole or not at all.
/// @throws BadInput if there are no tokens or more than 2^31 - 1, or naming the path if it cannot
/// be written.
void write_shard(const std::filesystem::path& path, std::span<const Token> tokens);

/// A shard's tokens where they lie in the file; see MappedFile for what must not happen to it.
class Shard {
 public:
  /// @throws BadInput naming the file, the field, its value and what was expected: it cannot be
  /// read or is shorter than its header; another magic or version; a count that is not positive or
  /// is not the number of tokens that follow; a token that is not below `vocabulary`, with its
  /// place. All tokens are read once for that, so that no training run meets one hours later.
  Shard(const std::filesystem::path& path, int vocabulary);

  std::span<const Token> tokens() const { return tokens_; }

 private:
  MappedFile file_;
  std::span<const Token> tokens_;
};

}  // namespace plumbline::text
