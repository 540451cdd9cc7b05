// SPDX-License-Identifier: Apache-2.0
// Blocks that exchange numbers three times, with grid.sync() in between; with -DNO_BARRIER without.
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void turn(float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 3; ++k) {
    y[i] = x[n - 1 - i] + 1;
#ifndef NO_BARRIER
    cg::this_grid().sync();
#endif
    x[i] = y[i];
#ifndef NO_BARRIER
    cg::this_grid().sync();
#endif
  }
}

int main() {
  constexpr int n = 512;
  float numbers[n];
  for (int i = 0; i < n; ++i) numbers[i] = static_cast<float>(i);
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, sizeof numbers);
  cudaMalloc(&y, sizeof numbers);
  cudaMemcpy(x, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  int count = n;
  void* arguments[] = {&x, &y, &count};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(turn), dim3(8), dim3(64), arguments, 0,
                              nullptr);
  cudaMemcpy(numbers, x, sizeof numbers, cudaMemcpyDeviceToHost);
  // Turned three times, and 3 more each.
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += numbers[i] != static_cast<float>(n - 1 - i + 3);
  std::printf("%d\n", wrong);
}
