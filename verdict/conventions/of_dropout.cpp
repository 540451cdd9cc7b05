// SPDX-License-Identifier: Apache-2.0
// Which weights are dropped, and where.
#include <algorithm>
#include <cstdint>

#include "verdict/cases/bias_parameters.hpp"
#include "verdict/conventions/convention.hpp"

namespace plumbline::verdict {
namespace {

using cases::Case;

/// What is dropped is hidden from the softmax.
void hide_what_is_dropped(Case& c) {
  const auto& s = c.spec;
  std::vector<std::uint8_t> mask = c.keep;
  for (std::size_t n = 0; n < mask.size(); ++n) {
    const auto key = static_cast<int>(n % static_cast<std::size_t>(s.keys)),
               row = static_cast<int>(n / static_cast<std::size_t>(s.keys));
    const int head = row / s.queries;
    if (!c.may_see(head / s.heads, head % s.heads, row % s.queries, key)) mask[n] = 0;
  }
  c.mask = std::move(mask);
  c.spec.mask.pattern = cases::Pattern::file;
  c.spec.mask.per_batch = c.spec.mask.per_head = true;
}

/// keep[b, h, r, j] is read as the number `place(spec, b, h, r, j)` of the tensor, counted from its
/// first. A kernel that makes keep counts the generator's index so.
template <class Place>
void read_keep_from(Case& c, Place place) {
  const auto& s = c.spec;
  const std::vector<std::uint8_t> given = c.keep;
  std::size_t n = 0;
  for (int b = 0; b < s.batch; ++b)
    for (int h = 0; h < s.heads; ++h)
      for (int r = 0; r < s.queries; ++r)
        for (int j = 0; j < s.keys; ++j) {
          c.keep[n++] = given[static_cast<std::size_t>(place(s, b, h, r, j))];
        }
}

/// Whether the generator of plumbline_kernel.h made keep.
bool has_generator(const Case& c) { return has_dropout(c) && !c.spec.keep_given; }

/// Number n of keep is what the generator gives for index(n).
template <class Index>
void generate_keep(Case& c, std::uint64_t seed, Index index) {
  for (std::size_t n = 0; n < c.keep.size(); ++n) {
    c.keep[n] = cases::generator_keeps(seed, index(n), c.spec.dropout);
  }
}

const std::vector<Convention> dropout_conventions{
    {.name = "dropout_ignored",
     .words = "that drops nothing",
     .remedy = "multiply p_ij by keep[b, h, r, j] / (1 - dropout) before its product with v_j",
     .concerns = has_dropout,
     .reads = drop_dropout},
    {.name = "dropout_unscaled",
     .words = "whose kept weights are not divided by 1 - dropout",
     .remedy = "multiply p_ij by keep[b, h, r, j] / (1 - dropout) before its product with v_j",
     .concerns = has_dropout,
     .reads = [](Case& c) { c.spec.dropout = 0x1p-24F; }},
    {.name = "dropout_of_scores",
     .words = "that hides what is dropped from the softmax",
     .remedy = "let dropped keys count in the softmax's denominator and in lse; multiply p_ij by "
               "keep[b, h, r, j] / (1 - dropout)",
     .concerns = has_dropout,
     .reads =
         [](Case& c) {
           hide_what_is_dropped(c);
           drop_dropout(c);
         }},
    {.name = "dropout_in_denominator",
     .words = "whose softmax's denominator lacks what is dropped",
     .remedy = "let dropped keys count in the softmax's denominator and in lse",
     .concerns = has_dropout,
     .reads =
         [](Case& c) {
           hide_what_is_dropped(c);
           std::fill(c.keep.begin(), c.keep.end(), 1);
         }},
    {.name = "keep_inverted",
     .words = "that keeps what is to be dropped",
     .remedy = "drop p_ij where keep[b, h, r, j] is 0",
     .concerns = has_dropout,
     .reads =
         [](Case& c) {
           for (auto& kept : c.keep) kept = kept == 0;
         }},
    {.name = "keep_transposed",
     .words = "that reads keep as [keys, queries], or counts the generator's index so",
     .remedy = "read keep[b, h, r, j]: the key's axis is the last",
     .concerns =
         [](const Case& c) { return has_dropout(c) && c.spec.queries > 1 && c.spec.keys > 1; },
     .reads =
         [](Case& c) {
           read_keep_from(c, [](const auto& s, std::int64_t b, int h, int r, int j) {
             return ((b * s.heads + h) * s.keys + j) * s.queries + r;
           });
         }},
    {.name = "keep_of_first_head",
     .words = "that drops for all heads what the first head drops",
     .remedy = "read keep[b, h, r, j], or let the generator's index count heads",
     .concerns = [](const Case& c) { return has_dropout(c) && c.spec.heads > 1; },
     .reads =
         [](Case& c) {
           read_keep_from(c, [](const auto& s, std::int64_t b, int, int r, int j) {
             return (b * s.heads * s.queries + r) * s.keys + j;
           });
         }},
    {.name = "keep_of_first_sequence",
     .words = "that drops for all sequences what the first one drops",
     .remedy = "read keep[b, h, r, j], or let the generator's index count sequences",
     .concerns = [](const Case& c) { return has_dropout(c) && c.spec.batch > 1; },
     .reads =
         [](Case& c) {
           read_keep_from(c, [](const auto& s, int, std::int64_t h, int r, int j) {
             return (h * s.queries + r) * s.keys + j;
           });
         }},
    {.name = "keep_without_heads",
     .words = "that reads keep as [batch, queries, keys], or counts the generator's index so",
     .remedy = "read keep[b, h, r, j]; the index is ((b heads + h) queries + r) keys + j",
     // Of one sequence it is keep_of_first_head.
     .concerns =
         [](const Case& c) { return has_dropout(c) && c.spec.batch > 1 && c.spec.heads > 1; },
     .reads =
         [](Case& c) {
           read_keep_from(c, [](const auto& s, std::int64_t b, int, int r, int j) {
             return (b * s.queries + r) * s.keys + j;
           });
         }},
    {.name = "dropout_seed_of_32_bits",
     .words = "whose generator has the lower 32 bits of dropout_seed alone",
     .remedy = "let the second word of Philox's key be the upper 32 bits of dropout_seed",
     .concerns = [](const Case& c) { return has_generator(c) && c.dropout_seed >> 32 != 0; },
     .reads =
         [](Case& c) {
           generate_keep(c, static_cast<std::uint32_t>(c.dropout_seed),
                         [&](std::uint64_t n) { return c.dropout_offset + n; });
         }},
    {.name = "dropout_offset_ignored",
     .words = "whose generator counts from 0",
     .remedy = "add dropout_offset to the index",
     .concerns = [](const Case& c) { return has_generator(c) && c.dropout_offset != 0; },
     .reads = [](Case& c) { generate_keep(c, c.dropout_seed, [](std::uint64_t n) { return n; }); }},
    {.name = "dropout_counter_of_32_bits",
     .words = "whose generator counts in 32 bits: those above, of dropout_offset too, are lost",
     .remedy = "add dropout_offset and the index in 64 bits, and let the second word of Philox's "
               "counter be the upper half of the sum",
     .concerns =
         [](const Case& c) {
           return has_generator(c) && (c.dropout_offset + c.keep.size() - 1) >> 32 != 0;
         },
     .reads =
         [](Case& c) {
           generate_keep(c, c.dropout_seed, [&](std::uint64_t n) {
             return static_cast<std::uint32_t>(c.dropout_offset + n);
           });
         }},
};

}  // namespace

const std::vector<Convention>& conventions_of_dropout() { return dropout_conventions; }

}  // namespace plumbline::verdict
