// SPDX-License-Identifier: Apache-2.0
// Reverses 64 numbers in shared memory; with -DNO_BARRIER without its barrier. Then launches what
// is refused, with -DTOO_MANY_THREADS by more threads than a block may have, with
// -DOF_ANOTHER_TARGET a kernel with an instruction of sm_90a; nobody asks for the error.
#include <cstdio>

__global__ void reverse(float* x) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
#ifndef NO_BARRIER
  __syncthreads();
#endif
  x[threadIdx.x] = s[63 - threadIdx.x];  // races
}

#ifdef OF_ANOTHER_TARGET
__global__ void other() { asm volatile("wgmma.fence.sync.aligned;"); }
#endif

int main() {
  float numbers[64];
  for (int i = 0; i < 64; ++i) numbers[i] = static_cast<float>(i);
  float* x = nullptr;
  cudaMalloc(&x, sizeof numbers);
  cudaMemcpy(x, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  reverse<<<1, 64>>>(x);
  cudaMemcpy(numbers, x, sizeof numbers, cudaMemcpyDeviceToHost);
#ifdef TOO_MANY_THREADS
  reverse<<<1, 2048>>>(x);
#endif
#ifdef OF_ANOTHER_TARGET
  other<<<1, 128>>>();
#endif
  std::printf("%g\n", numbers[0]);
  return numbers[0] == 63 ? 0 : 3;
}
