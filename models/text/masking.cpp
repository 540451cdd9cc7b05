// SPDX-License-Identifier: Apache-2.0
#include "models/text/masking.hpp"

#include <fmt/format.h>

#include "support/draw.hpp"
#include "support/error.hpp"

namespace plumbline::text {
namespace {

void check_share(const char* name, double share) {
  if (!(share >= 0 && share <= 1)) throw BadInput(name, fmt::format("{}", share), "from 0 to 1");
}

}  // namespace

Masking::Masking(const Tokenizer& tokenizer, const MaskingOptions& options)
    : options_(options), stands_for_text_(static_cast<std::size_t>(tokenizer.vocabulary()), 1) {
  check_share("masking rate", options_.rate);
  check_share("share of masked tokens", options_.masked);
  check_share("share of replaced tokens", options_.replaced);
  // 0.8 + 0.2 may round to the next number above 1.
  if (!(options_.masked + options_.replaced <= 1 + 0x1p-52)) {
    throw BadInput("shares of masked and replaced tokens",
                   fmt::format("{} together", options_.masked + options_.replaced), "at most 1");
  }
  const auto mask = tokenizer.specials().mask;
  if (!mask) throw BadInput("tokenizer's mask token", "missing", "[MASK] or <mask>");
  mask_ = *mask;
  for (const Token token : tokenizer.without_text()) stands_for_text_[token] = 0;
  for (int token = 0; token < tokenizer.vocabulary(); ++token) {
    if (stands_for_text_[static_cast<std::size_t>(token)]) with_text_.push_back(token);
  }
}

void Masking::apply(std::int64_t step, int row, std::span<std::int32_t> inputs,
                    std::span<std::int32_t> labels) const {
  const Draw draw(
      Draw(options_.seed, static_cast<std::uint64_t>(step)).word(static_cast<std::uint64_t>(row)),
      0);
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    labels[t] = no_label;
    const std::int32_t token = inputs[t];
    if (!stands_for_text_.at(static_cast<std::size_t>(token))) continue;
    if (!(draw.uniform(3 * t) < options_.rate)) continue;
    labels[t] = token;
    const double behind = draw.uniform(3 * t + 1);
    if (behind < options_.masked) {
      inputs[t] = mask_;
    } else if (behind < options_.masked + options_.replaced) {
      inputs[t] = with_text_[draw.below(3 * t + 2, static_cast<std::uint32_t>(with_text_.size()))];
    }
  }
}

void Masking::apply(std::int64_t step, int first_row, Batch& batch) const {
  const auto length = static_cast<std::size_t>(batch.length);
  for (int row = 0; row < batch.rows; ++row) {
    const std::size_t begin = static_cast<std::size_t>(row) * length;
    apply(step, first_row + row, std::span(batch.inputs).subspan(begin, length),
          std::span(batch.labels).subspan(begin, length));
  }
}

}  // namespace plumbline::text
