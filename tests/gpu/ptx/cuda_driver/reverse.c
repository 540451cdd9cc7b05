// SPDX-License-Identifier: Apache-2.0
// A program that loads PTX by CUDA's driver: reverse.c PTX. The kernel is that of
// ../cudart/reverse.cu.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "?";
  cuGetErrorName(result, &name);
  fprintf(stderr, "%s: %s\n", what, name);
  exit(4);
}
#define CHECK(call) check(call, #call)

int main(int count, char** words) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction reverse;
  CUdeviceptr x;
  CUstream stream;
  float numbers[64];
  if (count != 2) return 2;
  for (int i = 0; i < 64; ++i) numbers[i] = (float)i;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoad(&module, words[1]));
  CHECK(cuModuleGetFunction(&reverse, module, "_Z7reversePf"));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuMemAlloc(&x, sizeof numbers));
  CHECK(cuMemcpyHtoDAsync(x, numbers, sizeof numbers, stream));
  void* arguments[] = {&x};
  CUlaunchAttribute cooperative = {0};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  CUlaunchConfig configuration = {1, 1, 1, 64, 1, 1, 0, stream, &cooperative, 1};
  CHECK(cuLaunchKernelEx(&configuration, reverse, arguments, NULL));
  CUDA_MEMCPY2D back = {0};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = x;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = numbers;
  back.WidthInBytes = sizeof numbers;
  back.Height = 1;
  CHECK(cuMemcpy2DAsync(&back, stream));
  CHECK(cuStreamSynchronize(stream));
  printf("%g\n", numbers[0]);
  CHECK(cuMemFree(x));
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease(device));
  return numbers[0] == 63 ? 0 : 3;
}
