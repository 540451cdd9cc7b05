// SPDX-License-Identifier: Apache-2.0
// A program that calls the kernel of tests/verdict/process/shared_attention.cu once, and prints a
// number: the first query sees one key, whose value it returns.
#include <vector>

#include "tests/verdict/process/shared_attention.cu"

int main() {
  plumbline_problem p{};
  p.batch = 1;
  p.heads = p.kv_heads = 2;
  p.queries = p.keys = 70;
  p.head_dim = p.value_dim = 64;
  p.causal = 1;
  p.scale = 0.125;
  const size_t count = size_t(p.heads) * p.keys * p.head_dim;
  std::vector<float> numbers(count, 0.5f);
  float *x = nullptr, *o = nullptr, *lse = nullptr, *slopes = nullptr;
  cudaMalloc(&x, count * sizeof(float));
  cudaMalloc(&o, count * sizeof(float));
  cudaMalloc(&lse, size_t(p.heads) * p.queries * sizeof(float));
  cudaMalloc(&slopes, p.heads * sizeof(float));
  cudaMemcpy(x, numbers.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(slopes, numbers.data(), p.heads * sizeof(float), cudaMemcpyHostToDevice);
  p.q = p.k = p.v = x;
  p.parameters[PLUMBLINE_SLOPES] = slopes;
  const plumbline_outputs out{o, lse};
  char message[200];
  if (plumbline_kernel_library()->kernels->forward(&p, &out, message, sizeof message) != 0)
    return 3;
  numbers.assign(1, 0);
  cudaMemcpy(numbers.data(), o, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", numbers[0]);
  return numbers[0] == 0.5f ? 0 : 3;
}
