// SPDX-License-Identifier: Apache-2.0
// How q, k, v, o and their gradients lie in the memory that a kernel is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernel_abi/plumbline_kernel.h"
#include "verdict/cases/case.hpp"

namespace plumbline::kernel_process {

/// Where the rows of an array lie, one of `width` numbers for each batch, head and token.
struct Rows {
  std::size_t width = 0;
  std::vector<std::int64_t> begin;  ///< by (batch, head, token): the row's first element, or none
  static constexpr std::int64_t none = -1;

  /// Elements up to the end of the last row; at least 1.
  std::size_t extent() const;
  /// Rows that are given one after the other, where they lie, and NaN elsewhere.
  std::vector<std::byte> spread(const std::vector<std::byte>& rows, std::size_t element) const;
  /// The rows one after the other; one that lies nowhere is as in `missing`, which has all rows.
  std::vector<std::byte> gathered(const std::vector<std::byte>& array, std::size_t element,
                                  std::vector<std::byte> missing) const;
  /// The first byte that is in no row and not 0xFF.
  std::optional<std::size_t> first_written_between(const std::vector<std::byte>& array,
                                                   std::size_t element) const;
};

/// The strides of a spec's arrays, which say where the rows of all layouts but packed sequences
/// lie.
struct Strides {
  plumbline_strides q, k, v, o;
};
Strides strides_of(const cases::Spec&);

/// The rows of a case's arrays. Of a paged cache those of its pages.
struct CaseRows {
  explicit CaseRows(const cases::Case&);

  Rows q, k, v, o, lse;
  std::vector<std::int32_t> cu_seqlens_q, cu_seqlens_k;  ///< of packed sequences, else empty
};

}  // namespace plumbline::kernel_process
