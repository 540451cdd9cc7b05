// SPDX-License-Identifier: Apache-2.0
// Calls by a table of functions and by virtual ones; and an assertion that holds for as many
// threads as the argument says.
#include <cassert>
#include <cstdio>
#include <cstdlib>

using Function = float (*)(float);

__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ Function table[2] = {twice, square};

struct Shape {
  __device__ virtual float area(float x) const = 0;
};
struct Disc : Shape {
  __device__ float area(float x) const override { return 3 * x * x; }
};
struct Box : Shape {
  __device__ float area(float x) const override { return 4 * x * x; }
};

__global__ void calls(float* x, int holds) {
  assert(threadIdx.x < holds);
  const Disc disc;
  const Box box;
  const Shape* const shapes[2] = {&disc, &box};
  const float own = static_cast<float>(threadIdx.x);
  x[threadIdx.x] = table[threadIdx.x % 2](own) + 1000 * shapes[threadIdx.x / 2 % 2]->area(own);
}

int main(int count, char** arguments) {
  float numbers[4];
  float* x = nullptr;
  cudaMalloc(&x, sizeof numbers);
  calls<<<1, 4>>>(x, count > 1 ? std::atoi(arguments[1]) : 4);
  const cudaError_t error = cudaMemcpy(numbers, x, sizeof numbers, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(error));
    return 0;
  }
  std::printf("%g %g %g %g\n", numbers[0], numbers[1], numbers[2], numbers[3]);
}
