// SPDX-License-Identifier: Apache-2.0
#include "attention/device_problem.cuh"

#include <algorithm>

#include "attention/check_problem.cuh"
#include "attention/visible_count.cuh"
#include "bias/table_rows.cuh"
#include "ops/prefix_sum.cuh"

namespace plumbline::gpu {

namespace {

std::size_t size(auto... extents) {
  return (std::size_t{1} * ... * static_cast<std::size_t>(extents));
}

std::size_t element_size(const plumbline_problem& p) {
  return element_bytes(static_cast<Format>(p.format));
}

/// Before anything is allocated by its numbers.
const plumbline_problem& checked(const plumbline_problem& p) {
  check_problem(p);
  return p;
}

}  // namespace

std::size_t query_bytes(const plumbline_problem& p) {
  return size(p.batch, p.heads, p.queries, p.head_dim) * element_size(p);
}

std::size_t key_bytes(const plumbline_problem& p) {
  if (p.page_size > 0 && p.pages) {
    const std::size_t table = size(p.batch, (p.keys + p.page_size - 1) / p.page_size);
    const auto last = static_cast<std::size_t>(*std::max_element(p.pages, p.pages + table));
    return size(last + 1, p.kv_heads, p.page_size, p.head_dim) * element_size(p);
  }
  return size(p.batch, p.kv_heads, p.keys, p.head_dim) * element_size(p);
}

DeviceProblem::DeviceProblem(const Stream& stream, const plumbline_problem& p)
    : q_(stream, checked(p).q, query_bytes(p)),
      k_(stream, p.k, key_bytes(p)),
      v_(stream, p.v, key_bytes(p)),
      lengths_(stream, p.lengths, size(p.batch)),
      documents_(stream, p.documents, size(p.batch, p.keys)) {
  Problem& problem = task_.problem;
  problem.batch = p.batch;
  problem.heads = p.heads;
  problem.kv_heads = p.kv_heads;
  problem.queries = p.queries;
  problem.keys = p.keys;
  problem.query_offset = p.query_offset;
  problem.scale = static_cast<float>(p.scale);
  problem.format = static_cast<Format>(p.format);
  problem.mask = {p.keys, p.causal == 1, clamped_window(p.window, p.keys), lengths_.data(),
                  documents_.data()};
  problem.q = q_.data();
  problem.k = k_.data();
  problem.v = v_.data();

  BiasInputs& bias = task_.bias;
  const auto upload = [&](plumbline_parameter parameter) {
    parameters_[parameter] = std::make_unique<Input<float>>(stream, p.parameters[parameter],
                                                            parameter_size(p, parameter));
    bias.parameters[parameter] = parameters_[parameter]->data();
  };
  for (const plumbline_parameter parameter : parameters_of(p.bias)) upload(parameter);
  if (p.ssmax == 1) {
    upload(PLUMBLINE_SSMAX_SCALE);
    problem.ssmax_scale = bias.parameters[PLUMBLINE_SSMAX_SCALE];
    counts_ = std::make_unique<DeviceBuffer<int>>(stream, size(p.batch, p.queries));
    visible_count(stream, problem.mask, p.batch, p.queries, p.query_offset, counts_->data());
    problem.visible_counts = counts_->data();
  }

  bias.method = static_cast<plumbline_bias>(p.bias);
  bias.heads = p.heads;
  bias.queries = p.queries;
  bias.keys = p.keys;
  bias.epsilon = static_cast<float>(p.options[PLUMBLINE_EPSILON]);
  bias.hidden = static_cast<int>(p.options[PLUMBLINE_HIDDEN]);
  bias.L0 = p.options[PLUMBLINE_L0];
  const int summed = summed_parameter(p.bias);
  if (summed >= 0 && p.prefix_sums) {
    given_sums_ =
        std::make_unique<Input<double>>(stream, p.prefix_sums, size(p.batch, p.heads, p.keys));
    bias.prefix_sum = given_sums_->data();
  } else if (summed >= 0) {
    sums_ = std::make_unique<DeviceBuffer<double>>(stream, size(p.batch, p.heads, p.keys));
    prefix_sum(stream, bias.parameters[summed], sums_->data(), p.batch * p.heads, p.keys);
    bias.prefix_sum = sums_->data();
  }
  if (uses_table(p.bias)) {
    const std::vector<int> rows = table_row_of_offset(p);
    table_row_ = std::make_unique<Input<int>>(stream, rows.data(), rows.size());
    bias.table_row = table_row_->data();
    bias.table_rows = table_rows(p);
  }
  if (p.bias == PLUMBLINE_ROPE_INTERLEAVED || p.bias == PLUMBLINE_ROPE_HALF_SPLIT) {
    const RotationTables tables = rotation_tables(p.keys, p.head_dim, p.options[PLUMBLINE_BASE]);
    cosine_ = std::make_unique<Input<float>>(stream, tables.cosine.data(), tables.cosine.size());
    sine_ = std::make_unique<Input<float>>(stream, tables.sine.data(), tables.sine.size());
    problem.rotation = {cosine_->data(), sine_->data(), p.bias == PLUMBLINE_ROPE_INTERLEAVED};
    stream.wait();  // the tables leave the host's memory
  } else if (uses_table(p.bias)) {
    stream.wait();
  }
  task_.head_dim = p.head_dim;
}

}  // namespace plumbline::gpu
