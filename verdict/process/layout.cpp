// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/layout.hpp"

#include <algorithm>
#include <stdexcept>

#include "verdict/process/guards.hpp"

namespace plumbline::kernel_process {
namespace {

using cases::Layout;
using cases::Spec;

std::int64_t keys_of_page(const Spec& s) { return s.page_size > 0 ? s.page_size : s.keys; }

/// @param packed numbers of a token's q, k and v together
plumbline_strides strides(Layout layout, std::int64_t heads, std::int64_t tokens,
                          std::int64_t width, std::int64_t packed) {
  switch (layout) {
    case Layout::contiguous:
      return {heads * tokens * width, tokens * width, width};
    case Layout::tokens_first:
      return {tokens * heads * width, width, heads * width};
    case Layout::spaced:
      return {2 * heads * tokens * width, 2 * tokens * width, 2 * width};
    case Layout::packed_qkv:
      return {tokens * packed, width, packed};
    case Layout::packed_sequences:
      return {0, width, heads * width};
  }
  throw std::logic_error("a layout without strides");
}

Rows rows_of(const plumbline_strides& s, std::int64_t batch, std::int64_t heads,
             std::int64_t tokens, std::int64_t width) {
  Rows rows{static_cast<std::size_t>(width), {}};
  rows.begin.reserve(static_cast<std::size_t>(batch * heads * tokens));
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t t = 0; t < tokens; ++t) {
        rows.begin.push_back(b * s.batch + h * s.head + t * s.token);
      }
    }
  }
  return rows;
}

/// Those of packed sequences: of `tokens` rows of each only some, from first[b] on, are there.
Rows rows_of_sequences(const plumbline_strides& s, const std::vector<std::int32_t>& cu_seqlens,
                       const std::vector<std::int32_t>& first, std::int64_t heads,
                       std::int64_t tokens, std::int64_t width) {
  Rows rows{static_cast<std::size_t>(width), {}};
  for (std::size_t b = 0; b < first.size(); ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t t = 0; t < tokens; ++t) {
        const std::int64_t token = cu_seqlens[b] + t - first[b];
        const bool there = t >= first[b] && token < cu_seqlens[b + 1];
        rows.begin.push_back(there ? h * s.head + token * s.token : Rows::none);
      }
    }
  }
  return rows;
}

}  // namespace

std::size_t Rows::extent() const {
  const std::int64_t last = *std::ranges::max_element(begin);
  return last == none ? 1 : static_cast<std::size_t>(last) + width;
}

std::vector<std::byte> Rows::spread(const std::vector<std::byte>& rows, std::size_t element) const {
  // The NaN of most processors, in each format, of either sign another one than in an output that
  // nobody has written: a kernel that computes with it has written its output.
  std::vector<std::byte> array(extent() * element, std::byte{0});
  for (std::size_t n = element; n <= array.size(); n += element) {
    array[n - 1] = std::byte{0x7F};
    if (element > 1) array[n - 2] = std::byte{0xC0};
  }
  const std::size_t bytes = width * element;
  for (std::size_t n = 0; n < begin.size(); ++n) {
    if (begin[n] == none) continue;
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(n * bytes), bytes,
                array.begin() + begin[n] * static_cast<std::ptrdiff_t>(element));
  }
  return array;
}

std::vector<std::byte> Rows::gathered(const std::vector<std::byte>& array, std::size_t element,
                                      std::vector<std::byte> missing) const {
  const std::size_t bytes = width * element;
  for (std::size_t n = 0; n < begin.size(); ++n) {
    if (begin[n] == none) continue;
    std::copy_n(array.begin() + begin[n] * static_cast<std::ptrdiff_t>(element), bytes,
                missing.begin() + static_cast<std::ptrdiff_t>(n * bytes));
  }
  return missing;
}

std::optional<std::size_t> Rows::first_written_between(const std::vector<std::byte>& array,
                                                       std::size_t element) const {
  std::vector<bool> in_row(array.size(), false);
  for (const std::int64_t first : begin) {
    if (first == none) continue;
    std::fill_n(in_row.begin() + first * static_cast<std::ptrdiff_t>(element), width * element,
                true);
  }
  for (std::size_t n = 0; n < array.size(); ++n) {
    if (!in_row[n] && array[n] != unwritten) return n;
  }
  return std::nullopt;
}

Strides strides_of(const Spec& s) {
  const std::int64_t keys = keys_of_page(s), values = s.value_width();
  const std::int64_t packed = std::int64_t{s.heads + s.kv_heads} * s.head_dim + s.kv_heads * values;
  const Layout of_o = s.layout == Layout::packed_qkv ? Layout::tokens_first : s.layout;
  return {strides(s.layout, s.heads, s.queries, s.head_dim, packed),
          strides(s.layout, s.kv_heads, keys, s.head_dim, packed),
          strides(s.layout, s.kv_heads, keys, values, packed),
          strides(of_o, s.heads, s.queries, values, packed)};
}

CaseRows::CaseRows(const cases::Case& c) {
  const Spec& s = c.spec;
  const Strides at = strides_of(s);
  if (!s.is_packed()) {
    const std::int64_t keys = keys_of_page(s);
    const std::int64_t pages =
        s.page_size > 0 ? std::int64_t{s.batch} * ((s.keys - 1) / s.page_size + 1) : s.batch;
    q = rows_of(at.q, s.batch, s.heads, s.queries, s.head_dim);
    k = rows_of(at.k, pages, s.kv_heads, keys, s.head_dim);
    v = rows_of(at.v, pages, s.kv_heads, keys, s.value_width());
    o = rows_of(at.o, s.batch, s.heads, s.queries, s.value_width());
    lse = rows_of(strides(Layout::contiguous, s.heads, s.queries, 1, 0), s.batch, s.heads,
                  s.queries, 1);
    return;
  }
  std::vector<std::int32_t> first_row;
  cu_seqlens_q = cu_seqlens_k = {0};
  for (std::size_t b = 0; b < c.lengths.size(); ++b) {
    first_row.push_back(s.queries - c.query_lengths[b]);
    cu_seqlens_q.push_back(cu_seqlens_q.back() + c.query_lengths[b]);
    cu_seqlens_k.push_back(cu_seqlens_k.back() + c.lengths[b]);
  }
  const std::vector<std::int32_t> first_key(first_row.size(), 0);
  q = rows_of_sequences(at.q, cu_seqlens_q, first_row, s.heads, s.queries, s.head_dim);
  k = rows_of_sequences(at.k, cu_seqlens_k, first_key, s.kv_heads, s.keys, s.head_dim);
  v = rows_of_sequences(at.v, cu_seqlens_k, first_key, s.kv_heads, s.keys, s.value_width());
  o = rows_of_sequences(at.o, cu_seqlens_q, first_row, s.heads, s.queries, s.value_width());
  lse = rows_of_sequences({0, cu_seqlens_q.back(), 1}, cu_seqlens_q, first_row, s.heads, s.queries,
                          1);
}

}  // namespace plumbline::kernel_process
