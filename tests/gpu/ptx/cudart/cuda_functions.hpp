// SPDX-License-Identifier: Apache-2.0
// The functions of CUDA's runtime that the tests call, as a program compiled with CUDA 13 declares
// them.
#pragma once

#include "ptx/cuda/abi.hpp"
#include "ptx/cudart/device_properties.hpp"

namespace plumbline::test {

using ptx::cuda::CopyKind;
using ptx::cuda::DeviceAttribute;
using ptx::cuda::Dim3;
using ptx::cuda::Error;
using ptx::cuda::Event;
using ptx::cuda::Function;
using ptx::cuda::FunctionAttribute;
using ptx::cuda::FunctionAttributes;
using ptx::cuda::LaunchAttribute;
using ptx::cuda::LaunchConfiguration;
using ptx::cuda::PointerAttributes;
using ptx::cuda::Stream;
using ptx::cudart::DeviceProperties;
using std::size_t;

struct PointerAttributes13 : PointerAttributes {
  long reserved[8];
};

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(Dim3, Dim3, size_t, Stream*);
Error __cudaPopCallConfiguration(Dim3*, Dim3*, size_t*, Stream**);
Error __cudaGetKernel(Function**, const void*);
Error __cudaLaunchKernel(Function*, Dim3, Dim3, void**, size_t, Stream*);
Error cudaLaunchKernel(const void*, Dim3, Dim3, void**, size_t, Stream*);
Error cudaLaunchCooperativeKernel(const void*, Dim3, Dim3, void**, size_t, Stream*);
Error cudaLaunchKernelExC(const LaunchConfiguration*, const void*, void**);
Error cudaFuncGetAttributes(FunctionAttributes*, const void*);
Error cudaFuncSetAttribute(const void*, FunctionAttribute, int);
Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, size_t);
Error cudaMalloc(void**, size_t);
Error cudaMallocHost(void**, size_t);
Error cudaMallocManaged(void**, size_t, unsigned);
Error cudaFree(void*);
Error cudaFreeHost(void*);
Error cudaHostRegister(void*, size_t, unsigned);
Error cudaHostUnregister(void*);
Error cudaMemGetInfo(size_t*, size_t*);
Error cudaMemcpy(void*, const void*, size_t, CopyKind);
Error cudaMemcpyAsync(void*, const void*, size_t, CopyKind, Stream*);
Error cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, CopyKind);
Error cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, CopyKind);
Error cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, CopyKind);
Error cudaGetSymbolAddress(void**, const void*);
Error cudaGetSymbolSize(size_t*, const void*);
Error cudaMemset(void*, int, size_t);
Error cudaPointerGetAttributes(PointerAttributes13*, const void*);
Error cudaStreamCreate(Stream**);
Error cudaStreamDestroy(Stream*);
Error cudaStreamSynchronize(Stream*);
Error cudaEventCreate(Event**);
Error cudaEventRecord(Event*, Stream*);
Error cudaEventElapsedTime(float*, Event*, Event*);
Error cudaEventDestroy(Event*);
Error cudaDeviceSynchronize();
Error cudaDeviceReset();
Error cudaDeviceGetAttribute(int*, DeviceAttribute, int);
Error cudaGetDeviceProperties(DeviceProperties*, int);
Error cudaGetDeviceCount(int*);
Error cudaSetDevice(int);
Error cudaRuntimeGetVersion(int*);
Error cudaGetLastError();
Error cudaPeekAtLastError();
const char* cudaGetErrorName(Error);
const char* cudaGetErrorString(Error);
int plumbline_device_trouble(char*, size_t, std::uint64_t*);
void plumbline_device_listen(void (*)(int, const char*, std::uint64_t));
int plumbline_device_binaries(char*, size_t);
}

}  // namespace plumbline::test
