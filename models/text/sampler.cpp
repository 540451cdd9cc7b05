// SPDX-License-Identifier: Apache-2.0
#include "models/text/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "models/text/permutation.hpp"
#include "support/error.hpp"

namespace plumbline::text {

Rows rows_of_part(int batch, int part, int parts, const char* what) {
  if (parts < 1 || batch % parts != 0) {
    throw BadInput(what, std::to_string(parts),
                   fmt::format("a divisor of the batch's {} rows", batch));
  }
  const int count = batch / parts;
  return {part * count, count};
}

Sampler::Sampler(TokenStream stream, const SamplerOptions& options)
    : stream_(std::move(stream)), options_(options) {
  const int framing = options_.frame ? 2 : 0;
  if (options_.batch < 1) throw BadInput("batch", std::to_string(options_.batch), "at least 1");
  if (options_.length < 1 + framing) {
    throw BadInput("length", std::to_string(options_.length),
                   fmt::format("at least {}", 1 + framing));
  }
  const std::int64_t behind = options_.frame ? 0 : 1;  // the last label
  windows_ = (stream_.size() - behind) / (options_.length - framing);
  if (stream_.size() <= behind || windows_ < 1) {
    throw BadInput("number of tokens", std::to_string(stream_.size()),
                   fmt::format("at least {}, for one row", options_.length - framing + behind));
  }
}

std::int64_t Sampler::window(std::int64_t number) const {
  const std::int64_t epoch = number / windows_, index = number % windows_;
  if (options_.order == Order::sequential) return index;
  return Permutation(windows_, options_.seed, static_cast<std::uint64_t>(epoch))(index);
}

Batch Sampler::batch(std::int64_t step, Rows rows) const {
  if (step < 0 || rows.first < 0 || rows.count < 0 || rows.first > options_.batch - rows.count) {
    throw std::out_of_range(fmt::format("step {}, rows {} to {} of a batch of {}", step, rows.first,
                                        rows.first + rows.count - 1, options_.batch));
  }
  const int framing = options_.frame ? 2 : 0, lead = framing / 2;
  const int length = options_.length, read = length - framing;
  Batch result;
  result.rows = rows.count;
  result.length = length;
  const auto size = static_cast<std::size_t>(rows.count) * static_cast<std::size_t>(length);
  result.inputs.resize(size);
  result.labels.assign(size, no_label);
  result.documents.resize(size);
  result.positions.resize(size);
  std::vector<Token> tokens(static_cast<std::size_t>(options_.frame ? read : read + 1));
  for (int row = 0; row < rows.count; ++row) {
    const std::int64_t start = window(step * options_.batch + rows.first + row) * read;
    result.starts.push_back(start);
    stream_.read(start, tokens);
    const auto begin = static_cast<std::size_t>(row) * static_cast<std::size_t>(length);
    std::int32_t* const inputs = result.inputs.data() + begin;
    std::copy_n(tokens.begin(), read, inputs + lead);
    if (options_.frame) {
      inputs[0] = options_.frame->cls;
      inputs[length - 1] = options_.frame->sep;
    } else {
      std::copy_n(tokens.begin() + 1, read, result.labels.data() + begin);
    }
    std::int32_t document = 0;
    int document_begin = 0;
    for (int t = 0; t < length; ++t) {
      // What stands first in the row, behind cls, begins no second document.
      if (t > lead && t < length - lead && inputs[t] == options_.end_of_text) {
        ++document;
        document_begin = t;
      }
      result.documents[begin + static_cast<std::size_t>(t)] = document;
      result.positions[begin + static_cast<std::size_t>(t)] = t - document_begin;
    }
  }
  return result;
}

std::uint64_t fingerprint(const TokenStream& stream) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, a word at a time
  const auto mix = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3u; };
  mix(static_cast<std::uint64_t>(stream.size()));
  const std::int64_t count = std::min<std::int64_t>(stream.size(), 4096);
  for (std::int64_t n = 0; n < count; ++n) {
    Token token;
    // Whole steps, then what remains of the division: size n would overflow for no stream.
    stream.read(stream.size() / count * n + stream.size() % count * n / count, {&token, 1});
    mix(token);
  }
  return hash;
}

}  // namespace plumbline::text
