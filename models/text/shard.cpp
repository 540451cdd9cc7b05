// SPDX-License-Identifier: Apache-2.0
#include "models/text/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::text {
namespace {

static_assert(std::endian::native == std::endian::little, "shards are little-endian");

using Header = std::array<std::int32_t, 256>;
constexpr std::int32_t magic = 20240520, version = 1;

void expect(const std::string& place, const char* field, std::int64_t value,
            std::int64_t expected) {
  if (value == expected) return;
  throw BadInput(place + ": " + field, std::to_string(value), std::to_string(expected));
}

}  // namespace

void write_shard(const std::filesystem::path& path, std::span<const Token> tokens) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (tokens.empty() || tokens.size() > most) {
    throw BadInput("number of tokens of shard " + path_in_quotes(path),
                   std::to_string(tokens.size()), fmt::format("1 to {} in one shard", most));
  }
  const Header header{magic, version, static_cast<std::int32_t>(tokens.size())};
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(header)));
  file.write(std::as_bytes(tokens));
  file.commit();
}

Shard::Shard(const std::filesystem::path& path, int vocabulary) : file_(path) {
  const auto bytes = file_.bytes();
  const std::string place = "token shard " + path_in_quotes(path);
  if (bytes.size() < sizeof(Header)) {
    throw BadInput(place, counted(bytes.size(), "byte") + " long",
                   fmt::format("at least the {} bytes of a header", sizeof(Header)));
  }
  Header header;
  std::memcpy(header.data(), bytes.data(), sizeof(Header));
  expect(place, "magic", header[0], magic);
  expect(place, "version", header[1], version);
  const std::size_t rest = bytes.size() - sizeof(Header);
  if (header[2] < 1) throw BadInput(place + ": count", std::to_string(header[2]), "at least 1");
  if (rest != sizeof(Token) * static_cast<std::size_t>(header[2])) {
    throw BadInput(place + ": count", std::to_string(header[2]),
                   fmt::format("{} bytes of tokens after the header, which has {}",
                               sizeof(Token) * static_cast<std::size_t>(header[2]), rest));
  }
  // A mapping starts at a page and the header has 1024 bytes: the tokens stand aligned.
  tokens_ = {reinterpret_cast<const Token*>(bytes.data() + sizeof(Header)),
             static_cast<std::size_t>(header[2])};
  const auto beyond = std::find_if(tokens_.begin(), tokens_.end(),
                                   [vocabulary](Token token) { return token >= vocabulary; });
  if (beyond != tokens_.end()) {
    throw BadInput(
        fmt::format("{}: token {}", place, beyond - tokens_.begin()), std::to_string(*beyond),
        fmt::format("less than the vocabulary's size {}: this shard's tokenizer is another",
                    vocabulary));
  }
}

}  // namespace plumbline::text
