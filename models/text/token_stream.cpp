// SPDX-License-Identifier: Apache-2.0
#include "models/text/token_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "models/text/shard.hpp"
#include "models/text/tokenize.hpp"
#include "support/error.hpp"

namespace plumbline::text {
namespace {

void check_range(std::int64_t first, std::int64_t count, std::int64_t size) {
  if (first < 0 || count < 0 || first > size - count) {
    throw std::out_of_range(
        fmt::format("tokens {} to {} of a stream of {}", first, first + count - 1, size));
  }
}

}  // namespace

TokenStream::TokenStream(std::vector<Token> tokens) {
  auto owner = std::make_shared<const std::vector<Token>>(std::move(tokens));
  append(*owner, owner);
}

void TokenStream::append(std::span<const Token> tokens, std::shared_ptr<const void> owner) {
  if (tokens.empty()) return;
  pieces_.push_back({size_, tokens, std::move(owner)});
  size_ += static_cast<std::int64_t>(tokens.size());
}

void TokenStream::append(const TokenStream& other) {
  // By a copy of the list: the other stream may be this one.
  for (const Piece& piece : std::vector(other.pieces_)) append(piece.tokens, piece.owner);
}

void TokenStream::read(std::int64_t first, std::span<Token> into) const {
  check_range(first, static_cast<std::int64_t>(into.size()), size_);
  if (into.empty()) return;
  const auto after = std::upper_bound(
      pieces_.begin(), pieces_.end(), first,
      [](std::int64_t position, const Piece& candidate) { return position < candidate.first; });
  for (auto piece = std::prev(after); !into.empty(); ++piece) {
    const auto from = piece->tokens.subspan(static_cast<std::size_t>(first - piece->first));
    const std::size_t count = std::min(from.size(), into.size());
    std::copy_n(from.begin(), count, into.begin());
    into = into.subspan(count);
    first += static_cast<std::int64_t>(count);
  }
}

TokenStream TokenStream::part(std::int64_t first, std::int64_t count) const {
  check_range(first, count, size_);
  TokenStream result;
  for (const Piece& piece : pieces_) {
    const auto length = static_cast<std::int64_t>(piece.tokens.size());
    const std::int64_t begin = std::clamp<std::int64_t>(first - piece.first, 0, length);
    const std::int64_t end = std::clamp<std::int64_t>(first + count - piece.first, 0, length);
    result.append(piece.tokens.subspan(static_cast<std::size_t>(begin),
                                       static_cast<std::size_t>(end - begin)),
                  piece.owner);
  }
  return result;
}

std::vector<std::span<const Token>> TokenStream::pieces() const {
  std::vector<std::span<const Token>> result;
  for (const Piece& piece : pieces_) result.push_back(piece.tokens);
  return result;
}

Split split(const TokenStream& stream, double fraction) {
  if (!(fraction > 0 && fraction < 1)) {
    throw BadInput("validation", fmt::format("{}", fraction), "between 0 and 1");
  }
  const auto count =
      static_cast<std::int64_t>(std::floor(fraction * static_cast<double>(stream.size())));
  if (count < 1 || count >= stream.size()) {
    throw BadInput("validation",
                   fmt::format("{}, which is {} of {} tokens", fraction, count, stream.size()),
                   "a share that is at least one token, and leaves one");
  }
  return {stream.part(0, stream.size() - count), stream.part(stream.size() - count, count)};
}

TokenStream open_stream(const std::vector<std::filesystem::path>& paths, const Tokenizer& tokenizer,
                        const std::string& separator) {
  TokenStream stream;
  std::size_t texts = 0, separators = 0;
  for (const auto& path : paths) {
    if (path.extension() == ".bin") {
      const auto shard = std::make_shared<const Shard>(path, tokenizer.vocabulary());
      stream.append(shard->tokens(), shard);
    } else {
      TokenizedText text = tokenize({path}, tokenizer, separator);
      stream.append(TokenStream(std::move(text.tokens)));
      separators += text.separators;
      ++texts;
    }
  }
  expect_separators(separator, texts, separators);
  return stream;
}

}  // namespace plumbline::text
