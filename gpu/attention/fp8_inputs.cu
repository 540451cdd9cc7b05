// SPDX-License-Identifier: Apache-2.0
#include "attention/fp8_inputs.cuh"

#include "attention/check_problem.cuh"
#include "core/float8.cuh"
#include "ops/elementwise.cuh"

namespace plumbline::gpu {

namespace {

/// The scales of each sequence and key head; null: 1.
struct Scales {
  const float *first, *second;

  __device__ float of(std::size_t key_head) const {
    const float scale = first ? first[key_head] : 1.0f;
    return second ? scale * second[key_head] : scale;
  }
};

/// wide[n] = narrow[n] times its scale, `width` numbers a key head.
template <class Narrow>
__global__ void widen_kernel(const Narrow* narrow, Scales scales, std::size_t width,
                             std::size_t count, bfloat16* wide) {
  for_own_elements(count, [&](std::size_t n) {
    wide[n] = from_float<bfloat16>(to_float(narrow[n]) * scales.of(n / width));
  });
}

void widen(const Stream& stream, const plumbline_problem& p, const void* narrow,
           const Scales& scales, const DeviceBuffer<bfloat16>& wide) {
  const std::size_t count = wide.size();
  const std::size_t width = count / (static_cast<std::size_t>(p.batch) * p.kv_heads);
  if (p.format == PLUMBLINE_E4M3)
    launch(stream, elementwise_shape(count), widen_kernel<float8_e4m3>,
           static_cast<const float8_e4m3*>(narrow), scales, width, count, wide.data());
  else
    launch(stream, elementwise_shape(count), widen_kernel<float8_e5m2>,
           static_cast<const float8_e5m2*>(narrow), scales, width, count, wide.data());
}

std::size_t numbers(const plumbline_problem& p, int heads, int rows, int width) {
  return static_cast<std::size_t>(p.batch) * heads * rows * width;
}

}  // namespace

plumbline_problem as_bf16(plumbline_problem problem) {
  if (!is_fp8(problem)) return problem;
  problem.format = PLUMBLINE_BF16;
  problem.q_scale = problem.k_scale = problem.v_scale = nullptr;
  return problem;
}

Fp8Inputs::Fp8Inputs(const Stream& stream, const plumbline_problem& p)
    : q_(stream, numbers(p, p.heads, p.queries, p.head_dim)),
      k_(stream, numbers(p, p.kv_heads, p.keys, p.head_dim)),
      v_(stream, numbers(p, p.kv_heads, p.keys, p.value_dim)),
      problem_(as_bf16(p)) {
  require(p.q, "q");
  require(p.k, "k");
  require(p.v, "v");
  require(p.q_scale, "q_scale");
  require(p.k_scale, "k_scale");
  require(p.v_scale, "v_scale");
  widen(stream, p, p.q, {p.q_scale, p.k_scale}, q_);
  widen(stream, p, p.k, {}, k_);
  widen(stream, p, p.v, {p.v_scale, nullptr}, v_);
  problem_.q = q_.data();
  problem_.k = k_.data();
  problem_.v = v_.data();
}

}  // namespace plumbline::gpu
