// SPDX-License-Identifier: Apache-2.0
// A case with its numbers, and the outputs that a kernel gives for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernel_abi/plumbline_kernel.h"
#include "verdict/cases/formats.hpp"
#include "verdict/cases/method_inputs.hpp"
#include "verdict/cases/spec.hpp"

namespace plumbline::cases {

/// The numbers of a case. q, k, v and grad_o hold values that the case's format represents exactly,
/// widened to float: kernel and oracle get the same numbers. Layouts as in plumbline_kernel.h; a
/// vector that the method, the mask or the pass does not use is empty.
/// In e4m3 and e5m2 (has_scales) q, k and v are what the equations call so: the stored number times
/// the scale of its batch and key head. A product with a scale of up to 20 significant bits is
/// exact, as those of generated cases are; others, which a file may have, are rounded to float, and
/// the judge allows for it (verdict::contract_for). So are k and v of a cache of 8 bits. grad_o is
/// in the format of outputs.
struct Case {
  Spec spec;
  double scale = 1.0;                                 ///< 1/sqrt(head_dim) mostly
  Options options = default_options(PLUMBLINE_NOPE);  ///< those that the method reads
  std::vector<float> q, k, v;
  /// [batch, kv_heads]; of a cache of 8 bits k_scale and v_scale, per_cached(spec).
  std::vector<float> q_scale, k_scale, v_scale;
  std::vector<float> grad_o;    ///< like o; backward only
  std::vector<float> grad_lse;  ///< like lse; with lse_gradient only
  std::array<std::vector<float>, PLUMBLINE_PARAMETER_COUNT> parameters;
  std::vector<std::int32_t> lengths;  ///< [batch]
  /// [batch], of packed sequences: query rows of each, the last of `queries`.
  std::vector<std::int32_t> query_lengths;
  std::vector<std::int32_t> documents;  ///< [batch, keys]
  std::vector<std::uint8_t> mask;       ///< mask_shape(spec): 1 where a row may see a key, else 0
  /// [batch, heads, queries, keys] with dropout: 1 where p_ij is kept. Without keep_given it is
  /// made by the generator in plumbline_kernel.h, with these two.
  std::vector<std::uint8_t> keep;
  std::uint64_t dropout_seed = 0, dropout_offset = 0;

  std::vector<float>& operator[](plumbline_parameter p) { return parameters[p]; }
  const std::vector<float>& operator[](plumbline_parameter p) const { return parameters[p]; }
  /// The position of query row 0 of a sequence: below 0 where the sequence has fewer tokens than
  /// rows and these end with it.
  int first_position(int batch) const {
    if (!spec.queries_at_end || lengths.empty()) return spec.query_offset;
    return spec.query_offset - (spec.keys - lengths[static_cast<std::size_t>(batch)]);
  }
  int position(int batch, int query) const { return first_position(batch) + query; }
  /// Whether a sequence has the query row; only packed ones may have less than all.
  bool has_row(int batch, int query) const {
    return query_lengths.empty() || query >= spec.queries - query_lengths[batch];
  }
  /// Whether the row is there, and the mask tensor lets it see a key; true without one.
  bool may_see(int batch, int head, int query, int key) const {
    if (!has_row(batch, query)) return false;
    if (mask.empty()) return true;
    const std::size_t b = spec.mask.per_batch ? batch : 0, h = spec.mask.per_head ? head : 0;
    const std::size_t row = (b * (spec.mask.per_head ? spec.heads : 1) + h) * spec.queries + query;
    return mask[row * spec.keys + key] != 0;
  }
  /// Of a parameter with a number for each head, or for each head of each sequence.
  float of_head(plumbline_parameter p, int batch, int head) const {
    const bool by_batch = parameters[p].size() > static_cast<std::size_t>(spec.heads);
    return parameters[p][static_cast<std::size_t>(by_batch ? batch * spec.heads + head : head)];
  }
  /// m_ij, the factor of p_ij in o: 1 without dropout.
  double kept(int batch, int head, int query, int key) const {
    if (keep.empty()) return 1.0;
    const std::size_t row = (std::size_t(batch) * spec.heads + head) * spec.queries + query;
    return keep[row * spec.keys + key] == 0 ? 0.0 : 1.0 / (1.0 - double{spec.dropout});
  }
  /// What the method takes prefix sums of; empty for others.
  const std::vector<float>& summed() const {
    static const std::vector<float> none;
    const int which = methods::row(spec.bias).summed();
    return which < 0 ? none : parameters[static_cast<std::size_t>(which)];
  }
};

/// What a kernel returned, widened to float. Gradients are those of a backward case.
struct Outputs {
  std::vector<float> o;    ///< [batch, heads, queries, value_dim]
  std::vector<float> lse;  ///< [batch, heads, queries]
  std::vector<float> grad_q, grad_k, grad_v;
  /// Of the learned parameters that the method reads; the others are empty.
  std::array<std::vector<float>, PLUMBLINE_PARAMETER_COUNT> grad_parameters;
};

/// The case's numbers from its seed alone: the same bits on every machine and for any thread count.
/// @throws BadInput if the spec is not valid or its family is `file`.
Case generate(const Spec&);

/// Sizes of all tensors, finiteness, domains (method_inputs.hpp), lengths in [0, keys].
/// @throws BadInput naming the tensor, the index and the value of the first that is wrong.
void validate(const Case&);
/// The options that the method reads, each within its range and T5's together: what the shapes of
/// the parameters follow from. @throws BadInput naming the option.
void validate_options(const Case&);

/// The format that holds every number of the parameter, and that its gradient may be rounded to:
/// that of o, for a bias tensor with the option in_format_of_o. Nothing where floats do.
std::optional<Format> format_of(const Case&, plumbline_parameter);

/// Least and largest of a scale: its product with a number of the format, or with another scale,
/// is a normal number in fp32.
inline constexpr float least_scale = 0x1p-48f, largest_scale = 0x1p48f;

/// Stored numbers of q, k or v times their scales, to the nearest float; without scales unchanged.
/// A scale goes with as many numbers as another: heads that share one follow each other.
std::vector<float> scaled(std::vector<float> stored, const std::vector<float>& scales);
/// Back: the numbers that the format stores. Exact for what scaled() gave.
std::vector<float> unscaled(std::vector<float> numbers, const std::vector<float>& scales, Format,
                            CacheFormat = CacheFormat::in_format);

}  // namespace plumbline::cases
