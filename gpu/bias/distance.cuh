// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_DISTANCE_CUH
#define PLUMBLINE_GPU_BIAS_DISTANCE_CUH

#include "bias/of_head.cuh"
#include "bias/policy.cuh"

namespace plumbline::gpu {

/// Biases of the head and the offset i - j alone: those of of_head.cuh, and T5's tables.
struct Distance {
  struct Params {
    plumbline_bias method;
    const float* numbers[kMostNumbers];  // [heads], in the order of the method's parameters
    const float* terms;                  // [keys]: a form's term of each distance
    const float* table;
    const int* table_row;
    int table_rows, keys;
    float epsilon;
    int heads_of_sequence;  // of slopes [batch, heads], else 0
  };
  struct Row {};
  struct Key {};
  static constexpr bool kHasEntry = true;
  static constexpr bool kPerPosition = false;
  static constexpr bool kPerPair = false;

  static Params params(const BiasInputs& inputs) {
    Params p{inputs.method,         {},
             inputs.distance_terms, inputs.parameters[PLUMBLINE_TABLE],
             inputs.table_row,      inputs.table_rows,
             inputs.keys,           inputs.epsilon};
    if (inputs.slopes_per_batch) p.heads_of_sequence = inputs.heads;
    int n = 0;
    for (const methods::Parameter& parameter : methods::row(inputs.method).parameters)
      if (n < kMostNumbers) p.numbers[n++] = inputs.parameters[parameter.id];
    return p;
  }

  __device__ static Row load_row(const Params&, const At&) { return {}; }
  __device__ static Key load_key(const Params&, const At&, int) { return {}; }

  /// The row of T5's table for an offset. Tiles reach beyond the sequence: no bias is looked up
  /// there, but none is read outside of the table either.
  __device__ static int table_row(const Params& p, int offset) {
    return p.table_row[max(min(offset, p.keys - 1), 1 - p.keys) + p.keys - 1];
  }

  template <class Form>
  __device__ static Form form(const Params& p, int head, int offset) {
    static_assert(Form::kParameters <= kMostNumbers);
    HeadNumbers numbers{{}, p.epsilon, 0.0f};
    for (int n = 0; n < Form::kParameters; ++n) numbers.of[n] = p.numbers[n][head];
    if constexpr (requires { Form::term(0); })
      numbers.term = p.terms[min(max(offset, -offset), p.keys - 1)];
    return Form(numbers);
  }

  __device__ static float entry(const Params& p, int head, int offset) {
    const auto x = static_cast<float>(offset);
    switch (static_cast<int>(p.method)) {
#define PLUMBLINE_ENTRY(number, Form) \
  case PLUMBLINE_##number:            \
    return form<Form>(p, head, offset).value(x);
      PLUMBLINE_FORMS(PLUMBLINE_ENTRY)
#undef PLUMBLINE_ENTRY
    }
    return p.table[static_cast<std::size_t>(head) * p.table_rows + table_row(p, offset)];
  }

  __device__ static float value(const Params&, int, const Row&, const Key&, float entry) {
    return entry;
  }
};
static_assert(BiasFamily<Distance>);

}  // namespace plumbline::gpu

#endif
