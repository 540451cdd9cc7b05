// SPDX-License-Identifier: Apache-2.0
// Which keys a query sees, and where it stands.
#include <algorithm>
#include <cstdlib>
#include <functional>

#include "reference/core/mask.hpp"
#include "verdict/conventions/convention.hpp"

namespace plumbline::verdict {
namespace {

using cases::Case;

bool is_causal(const Case& c) { return c.spec.mask.causal; }
bool has_window(const Case& c) { return c.spec.mask.window.hides(); }
bool has_sides(const Case& c) { return c.spec.mask.window.left != c.spec.mask.window.right; }
/// A kernel sees neither lengths nor positions of these, but cu_seqlens.
bool is_packed(const Case& c) { return c.spec.is_packed(); }
/// Packed sequences with no more rows than keys.
bool has_rows_of_keys(const Case& c) {
  return is_packed(c) && std::ranges::equal(c.query_lengths, c.lengths, std::less_equal());
}
bool has_lengths(const Case& c) { return !c.lengths.empty() && !is_packed(c); }
bool has_own_ends(const Case& c) { return c.spec.queries_at_end && !is_packed(c); }
/// Whether the rows may as well stand at positions 0, 1, ...: all are those of keys, or need not
/// be.
bool has_offset(const Case& c) {
  return c.spec.query_offset != 0 && !is_packed(c) &&
         (c.spec.queries <= c.spec.keys || !cases::has_rows_at_keys(c.spec));
}
/// Whether it matters where a query stands, but for the mask.
bool has_positions(const Case& c) { return c.spec.bias != PLUMBLINE_NOPE; }

void drop_causal(Case& c) { c.spec.mask.causal = false; }
void drop_window(Case& c) { c.spec.mask.window = {}; }
/// Either side of the window that has a limit.
template <class Change>
void change_window(Case& c, Change change) {
  for (int* side : {&c.spec.mask.window.left, &c.spec.mask.window.right}) {
    if (*side >= 0) *side = change(*side);
  }
}
int wider_side(const Case& c) {
  return std::max(c.spec.mask.window.left, c.spec.mask.window.right);
}
void stand_at_zero(Case& c) {
  c.spec.query_offset = 0;
  c.spec.queries_at_end = false;
}
/// In all sequences at the end of the longest that there may be.
void stand_at_same_positions(Case& c) { c.spec.queries_at_end = false; }
void drop_lengths(Case& c) {
  c.spec.mask.ragged = false;
  c.lengths.clear();
}
void drop_documents(Case& c) {
  c.spec.mask.documents = false;
  c.documents.clear();
}
bool has_mask_tensor(const Case& c) { return !c.mask.empty(); }
void drop_tensor(Case& c) {
  c.spec.mask.pattern = cases::Pattern::none;
  c.spec.mask.per_batch = c.spec.mask.per_head = false;
  c.mask.clear();
}
/// Each matrix [n, n] of a tensor with its rows as columns.
void transpose(std::vector<std::uint8_t>& tensor, std::size_t n) {
  for (std::size_t first = 0; first < tensor.size(); first += n * n) {
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t j = 0; j < r; ++j) {
        std::swap(tensor[first + r * n + j], tensor[first + j * n + r]);
      }
    }
  }
}
/// The numbers of the first sequence or head for all.
void share_tensor(Case& c, bool of_batch, bool of_head) {
  const auto& s = c.spec;
  const std::size_t matrix = static_cast<std::size_t>(s.queries) * s.keys;
  const std::size_t heads = s.mask.per_head ? s.heads : 1;
  for (std::size_t n = 0; n < c.mask.size() / matrix; ++n) {
    const std::size_t b = of_batch ? 0 : n / heads, h = of_head ? 0 : n % heads;
    if (b * heads + h == n) continue;
    std::copy_n(c.mask.begin() + static_cast<std::ptrdiff_t>((b * heads + h) * matrix), matrix,
                c.mask.begin() + static_cast<std::ptrdiff_t>(n * matrix));
  }
}
void drop_mask(Case& c) {
  drop_tensor(c);
  drop_causal(c);
  drop_window(c);
  drop_lengths(c);
  drop_documents(c);
}

/// As if the query stood at `position`.
bool sees_from(const QueryRow& row, int position, int key) {
  const Case& c = row.the_case;
  const reference::Mask mask{c.spec.mask.causal, c.spec.mask.window, c.lengths, {}};
  const auto range = reference::visible_range(mask, row.batch, position, c.spec.keys);
  if (key < range.begin || key >= range.end) return false;
  if (!c.may_see(row.batch, row.head, row.query, key)) return false;
  if (c.documents.empty()) return true;
  const auto* ids = c.documents.data() + static_cast<std::size_t>(row.batch) * c.spec.keys;
  return ids[key] == ids[position];
}

const std::vector<Convention> mask_conventions{
    {.name = "causal_ignored",
     .words = "that sees keys after the query",
     .remedy = "hide keys j > i",
     .concerns = is_causal,
     .reads = drop_causal},
    {.name = "causal_reversed",
     .words = "that sees the keys from the query's own on, and none before it",
     .remedy = "show keys j <= i",
     .concerns = is_causal,
     .reads = drop_causal,
     .sees = [](const QueryRow& row, int j) { return j >= row.position; }},
    {.name = "causal_strict",
     .words = "that hides the query's own key",
     .remedy = "show keys j <= i, not j < i",
     .concerns = is_causal,
     .sees = [](const QueryRow& row, int j) { return j < row.position; }},
    {.name = "causal_one_late",
     .words = "that sees the key after the query",
     .remedy = "show keys j <= i, not j <= i + 1",
     .concerns = is_causal,
     .reads = drop_causal,
     .sees = [](const QueryRow& row, int j) { return j <= row.position + 1; }},
    {.name = "causal_added",
     .words = "that hides keys after the query",
     .remedy = "hide them only where causal is 1",
     .concerns = [](const Case& c) { return !is_causal(c); },
     .reads = [](Case& c) { c.spec.mask.causal = true; }},
    {.name = "window_wider",
     .words = "whose window is one key wider",
     .remedy = "show keys i - j <= window_left and j - i <= window_right",
     .concerns = has_window,
     .reads = [](Case& c) { change_window(c, [](int side) { return side + 1; }); }},
    {.name = "window_narrower",
     .words = "whose window is one key narrower: it counts the query's own key",
     .remedy = "show keys i - j <= window_left, not < window_left, and likewise on the right",
     .concerns = [](const Case& c) { return wider_side(c) > 0; },
     .reads = [](Case& c) { change_window(c, [](int side) { return std::max(0, side - 1); }); }},
    {.name = "window_halved",
     .words = "whose window is half as wide on either side",
     .remedy =
         "show keys i - j <= window_left and j - i <= window_right: each is the width of one side",
     .concerns = [](const Case& c) { return wider_side(c) > 2; },
     .reads = [](Case& c) { change_window(c, [](int side) { return side / 2; }); }},
    {.name = "window_one_sided",
     .words = "whose window ends on the side before the query only",
     .remedy = "show keys i - j <= window_left and j - i <= window_right",
     .concerns =
         [](const Case& c) {
           return c.spec.mask.window.left >= 0 && c.spec.mask.window.right >= 0 && !is_causal(c);
         },
     .reads = [](Case& c) { c.spec.mask.window.right = -1; }},
    {.name = "window_sides_swapped",
     .words =
         "that takes the left side of the window for the right one, and the right for the left",
     .remedy = "show keys i - j <= window_left and j - i <= window_right",
     .concerns = has_sides,
     .reads = [](Case& c) { std::swap(c.spec.mask.window.left, c.spec.mask.window.right); }},
    {.name = "window_of_left_side",
     .words = "whose window is as wide after the query as before it",
     .remedy = "show keys j - i <= window_right",
     .concerns =
         [](const Case& c) {
           return has_sides(c) && c.spec.mask.window.left >= 0 && !is_causal(c);
         },
     .reads = [](Case& c) { c.spec.mask.window.right = c.spec.mask.window.left; }},
    {.name = "window_ignored",
     .words = "without the window",
     .remedy = "hide keys i - j > window_left where that is >= 0, and likewise on the right",
     .concerns = has_window,
     .reads = drop_window},
    {.name = "lengths_ignored",
     .words = "that reads no lengths",
     .remedy = "show key j to query i where both are below lengths[b]",
     .concerns = has_lengths,
     .reads = drop_lengths},
    {.name = "lengths_of_keys_only",
     .words = "whose lengths hide keys, and leave queries beyond them",
     .remedy = "let a query at i >= lengths[b] see no key: o = 0 and lse = -infinity",
     .concerns = [](const Case& c) { return has_lengths(c) && !has_own_ends(c); },
     .reads = drop_lengths,
     .sees = [](const QueryRow& row, int j) { return j < row.the_case.lengths[row.batch]; }},
    {.name = "lengths_of_first_sequence",
     .words = "that takes the length of the first sequence for all",
     .remedy = "read lengths[b]",
     .concerns = [](const Case& c) { return has_lengths(c) && c.spec.batch > 1; },
     .reads = [](Case& c) { std::fill(c.lengths.begin(), c.lengths.end(), c.lengths.front()); }},
    {.name = "documents_of_first_sequence",
     .words = "that takes the document ids of the first sequence for all",
     .remedy = "read documents[b * keys + j]",
     .concerns = [](const Case& c) { return !c.documents.empty() && c.spec.batch > 1; },
     .reads =
         [](Case& c) {
           for (auto to = c.documents.begin() + c.spec.keys; to != c.documents.end();
                to += c.spec.keys) {
             std::copy_n(c.documents.begin(), c.spec.keys, to);
           }
         }},
    {.name = "documents_ignored",
     .words = "that reads no document ids",
     .remedy = "hide keys of other documents",
     .concerns = [](const Case& c) { return !c.documents.empty(); },
     .reads = drop_documents},
    {.name = "mask_ignored",
     .words = "without any mask",
     .remedy = "show the keys that causal, window, lengths, documents and mask leave",
     .concerns =
         [](const Case& c) {
           return !has_own_ends(c) && !is_packed(c) &&
                  is_causal(c) + has_window(c) + has_lengths(c) + !c.documents.empty() +
                          has_mask_tensor(c) >
                      1;
         },
     .reads = drop_mask},
    {.name = "mask_tensor_ignored",
     .words = "that does not read the mask tensor",
     .remedy = "hide key j from query row r where mask[b, h, r, j] is 0",
     .concerns = has_mask_tensor,
     .reads = drop_tensor},
    {.name = "mask_tensor_inverted",
     .words = "that hides the keys whose number in the mask tensor is 1",
     .remedy = "hide key j from query row r where mask[b, h, r, j] is 0",
     .concerns = has_mask_tensor,
     .reads =
         [](Case& c) {
           for (auto& seen : c.mask) seen = seen == 0;
         }},
    {.name = "mask_tensor_transposed",
     .words = "that reads the mask tensor as [keys, queries]",
     .remedy = "read mask[b, h, r, j]: the key's axis is the last",
     .concerns = [](const Case& c) { return has_mask_tensor(c) && c.spec.queries == c.spec.keys; },
     .reads = [](Case& c) { transpose(c.mask, static_cast<std::size_t>(c.spec.keys)); }},
    {.name = "mask_tensor_of_first_head",
     .words = "that takes the mask tensor of the first head for all heads",
     .remedy = "where mask_per_head is 1, read mask[b, h, r, j]",
     .concerns = [](const Case& c) { return c.spec.mask.per_head && c.spec.heads > 1; },
     .reads = [](Case& c) { share_tensor(c, false, true); }},
    {.name = "mask_tensor_of_first_sequence",
     .words = "that takes the mask tensor of the first sequence for all sequences",
     .remedy = "where mask_per_batch is 1, read mask[b, h, r, j]",
     .concerns = [](const Case& c) { return c.spec.mask.per_batch && c.spec.batch > 1; },
     .reads = [](Case& c) { share_tensor(c, true, false); }},
    {.name = "queries_at_end_ignored",
     .words = "whose queries stand at the same positions in all sequences",
     .remedy = "where queries_at_end is 1, let row r stand at r + lengths[b] - queries",
     .concerns = has_own_ends,
     .reads = stand_at_same_positions},
    {.name = "queries_at_end_of_keys",
     .words = "whose last query is at the position of the last key in all sequences, while lengths "
              "hide keys",
     .remedy = "let row r stand at r + lengths[b] - queries, in the mask and in the bias",
     .concerns = has_own_ends,
     .reads = [](Case& c) { stand_at_same_positions(c), drop_lengths(c); },
     .sees = [](const QueryRow& row, int j) { return j < row.the_case.lengths[row.batch]; }},
    {.name = "queries_at_end_in_mask_only",
     .words = "whose bias or rotation has the last query at the position of the last key in all "
              "sequences, though its mask has not",
     .remedy = "let row r stand at r + lengths[b] - queries there too",
     .concerns = [](const Case& c) { return has_own_ends(c) && has_positions(c); },
     .reads = stand_at_same_positions,
     .keeps_mask = true},
    {.name = "packed_from_the_start",
     .words = "whose first query of a sequence is at the sequence's first key",
     .remedy = "let row r of n stand at r + m - n, m being the sequence's keys",
     .concerns = [](const Case& c) { return has_rows_of_keys(c) && is_causal(c); },
     // Of m keys its n rows see the first n as if these were all.
     .reads = [](Case& c) { c.lengths = c.query_lengths; }},
    {.name = "packed_from_the_start_in_bias",
     .words =
         "whose bias or rotation has the first query of a sequence at the sequence's first key",
     .remedy = "let row r of n stand at r + m - n there too, m being the sequence's keys",
     .concerns = [](const Case& c) { return has_rows_of_keys(c) && has_positions(c); },
     .reads = [](Case& c) { c.lengths = c.query_lengths; },
     .keeps_mask = true},
    {.name = "offset_zero",
     .words = "whose query row 0 is at position 0",
     .remedy = "add query_offset to the row",
     .concerns = has_offset,
     .reads = stand_at_zero},
    {.name = "offset_at_end",
     .words = "whose last query is at the position of the last key",
     .remedy = "add query_offset to the row, not keys - queries",
     .concerns = [](const Case& c) { return c.spec.query_offset != c.spec.keys - c.spec.queries; },
     .reads = [](Case& c) { c.spec.query_offset = c.spec.keys - c.spec.queries; }},
    {.name = "offset_zero_in_bias",
     .words = "whose bias or rotation has query row 0 at position 0, though its mask has not",
     .remedy = "add query_offset to the row there too",
     .concerns = [](const Case& c) { return has_offset(c) && has_positions(c); },
     .reads = stand_at_zero,
     .keeps_mask = true},
    {.name = "offset_zero_in_mask",
     .words = "whose mask has query row 0 at position 0",
     .remedy = "add query_offset to the row there too",
     .concerns =
         [](const Case& c) { return has_offset(c) && has_positions(c) && !has_own_ends(c); },
     .reads = drop_mask,
     .sees = [](const QueryRow& row, int j) { return sees_from(row, row.query, j); }},
};

}  // namespace

const std::vector<Convention>& conventions_of_masks() { return mask_conventions; }

}  // namespace plumbline::verdict
