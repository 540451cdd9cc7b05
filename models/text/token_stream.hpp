// SPDX-License-Identifier: Apache-2.0
// What a training run reads: one long sequence of tokens, out of shards or out of texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/text/tokenizer.hpp"

namespace plumbline::text {

/// Tokens 0 to size() - 1, wherever they lie: several shards, one after the other, are one stream.
/// Copies share the tokens.
class TokenStream {
 public:
  TokenStream() = default;
  explicit TokenStream(std::vector<Token> tokens);

  /// Puts these tokens at the end; `owner` keeps them in memory.
  void append(std::span<const Token> tokens, std::shared_ptr<const void> owner);
  void append(const TokenStream& other);

  std::int64_t size() const { return size_; }
  /// Tokens first, first + 1, ... into `into`.
  /// @throws std::out_of_range unless they are all in the stream.
  void read(std::int64_t first, std::span<Token> into) const;
  /// Tokens first to first + count - 1 as a stream. @throws std::out_of_range as read.
  TokenStream part(std::int64_t first, std::int64_t count) const;
  /// The pieces that the stream consists of, in order.
  std::vector<std::span<const Token>> pieces() const;

 private:
  struct Piece {
    std::int64_t first;  ///< of its tokens in the stream
    std::span<const Token> tokens;
    std::shared_ptr<const void> owner;
  };
  std::vector<Piece> pieces_;
  std::int64_t size_ = 0;
};

/// A stream cut in two: the last floor(fraction size) tokens are for validation.
struct Split {
  TokenStream training, validation;
};
/// @throws BadInput unless 0 < fraction < 1 and both parts have tokens.
Split split(const TokenStream& stream, double fraction);

/// The stream of files in order: one whose name ends in .bin is a token shard, any other a text
/// that is tokenized here (models/text/tokenize.hpp, which tells what `separator` does).
/// @throws BadInput naming the file and the reason, and as expect_separators.
TokenStream open_stream(const std::vector<std::filesystem::path>& paths, const Tokenizer& tokenizer,
                        const std::string& separator = "");

}  // namespace plumbline::text
