// SPDX-License-Identifier: Apache-2.0
// Which p_ij a generated case keeps, by the generator that plumbline_kernel.h states.
#include <tuple>
#include <utility>

#include "support/draw.hpp"
#include "verdict/cases/bias_parameters.hpp"
#include "verdict/cases/tensor_shapes.hpp"

namespace plumbline::cases {
namespace {

/// The first word of Philox4x32-10: Salmon et al., SC11, section 3.3.
std::uint32_t philox(std::uint64_t counter, std::uint64_t key) {
  std::uint64_t l0 = counter & 0xffffffffu, r0 = counter >> 32, l1 = 0, r1 = 0;
  std::uint64_t k0 = key & 0xffffffffu, k1 = key >> 32;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = l0 * 0xd2511f53u, b = l1 * 0xcd9e8d57u;
    l0 = (b >> 32) ^ r0 ^ k0;
    l1 = (a >> 32) ^ r1 ^ k1;
    r0 = b & 0xffffffffu;
    r1 = a & 0xffffffffu;
    k0 = (k0 + 0x9e3779b9u) & 0xffffffffu;
    k1 = (k1 + 0xbb67ae85u) & 0xffffffffu;
  }
  return static_cast<std::uint32_t>(l0);
}

}  // namespace

bool generator_keeps(std::uint64_t seed, std::uint64_t index, float dropout) {
  const std::uint32_t x = philox(index, seed);
  const auto folded = static_cast<float>(x < 0x80000000u ? x : ~x);
  const float uniform = folded * 4.6566127342e-10f;
  return uniform > dropout;
}

/// The offset is 0, or small, or beyond 32 bits, or so that the index crosses 2^32.
std::pair<std::uint64_t, std::uint64_t> drawn_dropout_seed(const Spec& spec) {
  const Draw draw(spec.seed, static_cast<std::uint64_t>(Stream::dropout));
  const auto pairs = static_cast<std::uint64_t>(elements(keep_shape(spec)));
  constexpr std::uint64_t crossed = std::uint64_t{1} << 32;
  const std::uint64_t offsets[] = {0, draw.word(2) >> 40, draw.word(2) >> 24,
                                   crossed - 1 - draw.word(2) % std::min(pairs, crossed)};
  return {draw.word(0), offsets[draw.below(1, 4)]};
}

void draw_dropout(Case& c) {
  const Spec& spec = c.spec;
  if (spec.dropout == 0) return;
  const Draw draw(spec.seed, static_cast<std::uint64_t>(Stream::dropout));
  if (!spec.keep_given) {
    std::tie(c.dropout_seed, c.dropout_offset) = drawn_dropout_seed(spec);
  }
  c.keep.resize(static_cast<std::size_t>(elements(keep_shape(spec))));
  for (std::size_t n = 0; n < c.keep.size(); ++n) {
    const bool kept = spec.keep_given
                          ? draw.uniform(3 + n) > double{spec.dropout}
                          : generator_keeps(c.dropout_seed, c.dropout_offset + n, spec.dropout);
    c.keep[n] = kept ? 1 : 0;
  }
}

}  // namespace plumbline::cases
