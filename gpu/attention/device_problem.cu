// SPDX-License-Identifier: Apache-2.0
#include "attention/device_problem.cuh"

#include <algorithm>

#include "attention/check_problem.cuh"
#include "attention/fp8_inputs.cuh"
#include "core/formats.cuh"

namespace plumbline::gpu {

namespace {

std::size_t product(auto... extents) {
  return (std::size_t{1} * ... * static_cast<std::size_t>(extents));
}

std::size_t element_size(const plumbline_problem& p) {
  return is_fp8(p) ? 1 : element_bytes(static_cast<Format>(p.format));
}

/// Before anything is allocated by its numbers.
const plumbline_problem& checked(const plumbline_problem& p, Widths widths) {
  check_problem(as_bf16(p), widths);
  if (is_fp8(p)) {
    require(p.q_scale, "q_scale");
    require(p.k_scale, "k_scale");
    require(p.v_scale, "v_scale");
  }
  return p;
}

/// Elements up to the end of the last row; at least 1.
std::size_t extent(const plumbline_problem& p, const plumbline_strides& strides, std::size_t batch,
                   std::size_t heads, std::size_t tokens, int width) {
  if (batch * tokens == 0) return 1;
  if (p.strided == 0 && !p.cu_seqlens_q) return product(batch, heads, tokens, width);
  return (batch - 1) * strides.batch + (heads - 1) * strides.head + (tokens - 1) * strides.token +
         width;
}

/// Of a tensor with a row of `width` for each query.
std::size_t bytes_of_queries(const plumbline_problem& p, const plumbline_strides& strides,
                             int width, bool in_float) {
  const std::size_t batch = p.cu_seqlens_q ? 1 : p.batch;
  const std::size_t tokens = p.cu_seqlens_q ? p.total_q : p.queries;
  return extent(p, strides, batch, p.heads, tokens, width) *
         (in_float ? sizeof(float) : element_size(p));
}

/// Pages up to the last of them, at least one; without, sequences.
std::size_t key_batch(const plumbline_problem& p) {
  if (p.cu_seqlens_q) return 1;
  if (p.page_size == 0 || !p.pages) return p.batch;
  const std::size_t table = product(p.batch, (p.keys + p.page_size - 1) / p.page_size);
  return static_cast<std::size_t>(std::max(0, *std::max_element(p.pages, p.pages + table))) + 1;
}

std::size_t key_tokens(const plumbline_problem& p) {
  return p.cu_seqlens_q ? p.total_k : p.page_size > 0 ? p.page_size : p.keys;
}

/// Of packed sequences; else none.
std::vector<int> lengths_of(const plumbline_problem& p) {
  std::vector<int> lengths;
  for (int b = 0; p.cu_seqlens_k && b < p.batch; ++b)
    lengths.push_back(p.cu_seqlens_k[b + 1] - p.cu_seqlens_k[b]);
  return lengths;
}

bool has_8_bits(const plumbline_problem& p) {
  return p.cache_format != PLUMBLINE_CACHE_IN_FORMAT || is_fp8(p);
}

std::size_t bytes_of_keys(const plumbline_problem& p, const plumbline_strides& strides, int width,
                          bool in_float) {
  return extent(p, strides, key_batch(p), p.kv_heads, key_tokens(p), width) *
         (in_float        ? sizeof(float)
          : has_8_bits(p) ? 1
                          : element_size(p));
}

std::size_t scales(const plumbline_problem& p) {
  return p.scale_per_key == 1 ? product(key_batch(p), p.kv_heads, key_tokens(p))
                              : product(p.batch, p.kv_heads);
}

}  // namespace

std::size_t query_bytes(const plumbline_problem& p, bool in_float) {
  return bytes_of_queries(p, p.q_strides, p.head_dim, in_float);
}
std::size_t output_bytes(const plumbline_problem& p, bool in_float) {
  return bytes_of_queries(as_bf16(p), p.o_strides, p.value_dim, in_float);
}
std::size_t key_bytes(const plumbline_problem& p, bool in_float) {
  return bytes_of_keys(p, p.k_strides, p.head_dim, in_float);
}
std::size_t value_bytes(const plumbline_problem& p, bool in_float) {
  return bytes_of_keys(p, p.v_strides, p.value_dim, in_float);
}
std::size_t lse_count(const plumbline_problem& p) {
  return p.cu_seqlens_q ? std::max<std::size_t>(1, product(p.heads, p.total_q))
                        : product(p.batch, p.heads, p.queries);
}

DeviceProblem::DeviceProblem(const Stream& stream, const plumbline_problem& p, Widths widths)
    : q_(stream, checked(p, widths).q, query_bytes(p)),
      k_(stream, p.k, key_bytes(p)),
      v_(stream, p.v, value_bytes(p)),
      mask_(stream, p.mask,
            product(p.mask_per_batch ? p.batch : 1, p.mask_per_head ? p.heads : 1, p.queries,
                    p.keys)),
      keep_(stream, p.keep, product(p.batch, p.heads, p.queries, p.keys)),
      packed_lengths_(lengths_of(p)),
      lengths_(stream, p.cu_seqlens_k ? packed_lengths_.data() : p.lengths, product(p.batch)),
      documents_(stream, p.documents, product(p.batch, p.keys)),
      pages_(stream, p.page_size > 0 ? p.pages : nullptr,
             p.page_size > 0 ? product(p.batch, (p.keys - 1) / p.page_size + 1) : 0),
      cu_seqlens_q_(stream, p.cu_seqlens_q, product(p.batch + 1)),
      cu_seqlens_k_(stream, p.cu_seqlens_k, product(p.batch + 1)),
      prefix_sums_(stream, summed_parameter(p.bias) >= 0 ? p.prefix_sums : nullptr,
                   product(p.batch, p.heads, p.keys)),
      q_scale_(stream, is_fp8(p) ? p.q_scale : nullptr, scales(p)),
      k_scale_(stream, has_8_bits(p) ? p.k_scale : nullptr, scales(p)),
      v_scale_(stream, has_8_bits(p) ? p.v_scale : nullptr, scales(p)),
      problem_(p) {
  problem_.q = q_.data();
  problem_.k = k_.data();
  problem_.v = v_.data();
  problem_.lengths = lengths_.data();
  problem_.documents = documents_.data();
  problem_.cu_seqlens_q = cu_seqlens_q_.data();
  problem_.cu_seqlens_k = cu_seqlens_k_.data();
  // The mask is that of lengths with queries at each sequence's own end.
  if (p.cu_seqlens_q) problem_.queries_at_end = 1;
  problem_.mask = mask_.data();
  problem_.keep = keep_.data();
  problem_.pages = pages_.data();
  problem_.prefix_sums = prefix_sums_.data();
  problem_.q_scale = q_scale_.data();
  problem_.k_scale = k_scale_.data();
  problem_.v_scale = v_scale_.data();
  std::fill(std::begin(problem_.parameters), std::end(problem_.parameters), nullptr);
  const auto upload = [&](plumbline_parameter parameter) {
    parameters_[parameter] = std::make_unique<Input<float>>(stream, p.parameters[parameter],
                                                            parameter_size(p, parameter));
    problem_.parameters[parameter] = parameters_[parameter]->data();
  };
  for (const plumbline_parameter parameter : parameters_of(p)) upload(parameter);
  if (p.ssmax == 1) upload(PLUMBLINE_SSMAX_SCALE);
  if (p.sinks == 1) upload(PLUMBLINE_SINKS);
}

}  // namespace plumbline::gpu
