// SPDX-License-Identifier: Apache-2.0
// The functions of CUDA's driver that the tests call, as a program compiled with cuda.h of CUDA 13
// declares them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/cuda/abi.hpp"

namespace plumbline::test {

using ptx::cuda::CaptureMode;
using ptx::cuda::CaptureStatus;
using ptx::cuda::DeviceAttribute;
using ptx::cuda::Dim3;
using ptx::cuda::Error;
using ptx::cuda::Event;
using ptx::cuda::Function;
using ptx::cuda::FunctionAttribute;
using ptx::cuda::Graph;
using ptx::cuda::GraphExec;
using ptx::cuda::LaunchAttribute;
using ptx::cuda::Module;
using ptx::cuda::Node;
using ptx::cuda::NodeType;
using ptx::cuda::Pool;
using ptx::cuda::Stream;
using std::size_t;
using Address = std::uint64_t;

struct Context;
struct Link;

/// CUDA_MEMCPY2D and CUDA_MEMCPY3D
struct Copy2 {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  Address from_device;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  Address to_device;
  void* to_array;
  size_t to_pitch;
  size_t width, height;
};
struct Copy3 {
  size_t from_x, from_y, from_z, from_lod;
  int from_type;
  const void* from_host;
  Address from_device;
  void *from_array, *from_reserved;
  size_t from_pitch, from_height;
  size_t to_x, to_y, to_z, to_lod;
  int to_type;
  void* to_host;
  Address to_device;
  void *to_array, *to_reserved;
  size_t to_pitch, to_height;
  size_t width, height, depth;
};

/// CUlaunchConfig
struct DriverConfiguration {
  Dim3 grid, block;
  unsigned shared;
  Stream* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

extern "C" {
Error cuInit(unsigned);
Error cuDriverGetVersion(int*);
Error cuGetErrorName(Error, const char**);
Error cuGetErrorString(Error, const char**);
Error cuDeviceGet(int*, int);
Error cuDeviceGetCount(int*);
Error cuDeviceGetName(char*, int, int);
Error cuDeviceTotalMem_v2(size_t*, int);
Error cuDeviceGetAttribute(int*, DeviceAttribute, int);
Error cuDeviceComputeCapability(int*, int*, int);
Error cuDevicePrimaryCtxRetain(Context**, int);
Error cuDevicePrimaryCtxRelease_v2(int);
Error cuDevicePrimaryCtxReset_v2(int);
Error cuDevicePrimaryCtxGetState(int, unsigned*, int*);
Error cuCtxCreate_v4(Context**, void*, unsigned, int);
Error cuCtxDestroy_v2(Context*);
Error cuCtxPushCurrent_v2(Context*);
Error cuCtxPopCurrent_v2(Context**);
Error cuCtxSetCurrent(Context*);
Error cuCtxGetCurrent(Context**);
Error cuCtxGetDevice(int*);
Error cuCtxGetLimit(size_t*, int);
Error cuCtxSetLimit(int, size_t);
Error cuCtxSynchronize();
Error cuModuleLoad(Module**, const char*);
Error cuModuleLoadData(Module**, const void*);
Error cuModuleLoadDataEx(Module**, const void*, unsigned, const int*, void**);
Error cuModuleLoadFatBinary(Module**, const void*);
Error cuModuleUnload(Module*);
Error cuModuleGetFunction(Function**, Module*, const char*);
Error cuModuleGetFunctionCount(unsigned*, Module*);
Error cuModuleEnumerateFunctions(Function**, unsigned, Module*);
Error cuModuleGetGlobal_v2(Address*, size_t*, Module*, const char*);
Error cuLibraryLoadData(Module**, const void*, const int*, void**, unsigned, const int*, void**,
                        unsigned);
Error cuLibraryUnload(Module*);
Error cuLibraryGetKernel(Function**, Module*, const char*);
Error cuKernelGetFunction(Function**, Function*);
Error cuKernelSetAttribute(FunctionAttribute, int, Function*, int);
Error cuFuncGetName(const char**, Function*);
Error cuFuncGetParamInfo(Function*, size_t, size_t*, size_t*);
Error cuFuncGetAttribute(int*, FunctionAttribute, Function*);
Error cuFuncSetAttribute(Function*, FunctionAttribute, int);
Error cuLaunchKernel(Function*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, Stream*, void**, void**);
Error cuLaunchKernelEx(const DriverConfiguration*, Function*, void**, void**);
Error cuLaunchCooperativeKernel(Function*, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, unsigned, Stream*, void**);
Error cuLaunchHostFunc(Stream*, void (*)(void*), void*);
Error cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, Function*, int, size_t);
Error cuOccupancyMaxPotentialBlockSize(int*, int*, Function*, size_t (*)(int), size_t, int);
Error cuOccupancyAvailableDynamicSMemPerBlock(size_t*, Function*, int, int);
Error cuMemAlloc_v2(Address*, size_t);
Error cuMemAllocPitch_v2(Address*, size_t*, size_t, size_t, unsigned);
Error cuMemAllocManaged(Address*, size_t, unsigned);
Error cuMemFree_v2(Address);
Error cuMemHostAlloc(void**, size_t, unsigned);
Error cuMemFreeHost(void*);
Error cuMemHostRegister_v2(void*, size_t, unsigned);
Error cuMemHostUnregister(void*);
Error cuMemGetInfo_v2(size_t*, size_t*);
Error cuMemGetAddressRange_v2(Address*, size_t*, Address);
Error cuPointerGetAttribute(void*, int, Address);
Error cuPointerGetAttributes(unsigned, int*, void**, Address);
Error cuMemAllocAsync(Address*, size_t, Stream*);
Error cuMemFreeAsync(Address, Stream*);
Error cuDeviceGetDefaultMemPool(Pool**, int);
Error cuMemPoolSetAttribute(Pool*, int, void*);
Error cuMemPoolGetAttribute(Pool*, int, void*);
Error cuMemcpy(Address, Address, size_t);
Error cuMemcpyHtoD_v2(Address, const void*, size_t);
Error cuMemcpyDtoH_v2(void*, Address, size_t);
Error cuMemcpyDtoD_v2(Address, Address, size_t);
Error cuMemcpyHtoDAsync_v2(Address, const void*, size_t, Stream*);
Error cuMemcpyDtoHAsync_v2(void*, Address, size_t, Stream*);
Error cuMemcpy2D_v2(const Copy2*);
Error cuMemcpy3D_v2(const Copy3*);
Error cuMemsetD8_v2(Address, std::uint8_t, size_t);
Error cuMemsetD16_v2(Address, std::uint16_t, size_t);
Error cuMemsetD32_v2(Address, std::uint32_t, size_t);
Error cuMemsetD32Async(Address, std::uint32_t, size_t, Stream*);
Error cuMemsetD2D16_v2(Address, size_t, std::uint16_t, size_t, size_t);
Error cuStreamCreate(Stream**, unsigned);
Error cuStreamDestroy_v2(Stream*);
Error cuStreamSynchronize(Stream*);
Error cuStreamWaitEvent(Stream*, Event*, unsigned);
Error cuEventCreate(Event**, unsigned);
Error cuEventDestroy_v2(Event*);
Error cuEventRecord(Event*, Stream*);
Error cuEventQuery(Event*);
Error cuEventElapsedTime_v2(float*, Event*, Event*);
Error cuStreamBeginCapture_v2(Stream*, CaptureMode);
Error cuStreamEndCapture(Stream*, Graph**);
Error cuStreamIsCapturing(Stream*, CaptureStatus*);
Error cuGraphInstantiateWithFlags(GraphExec**, Graph*, unsigned long long);
Error cuGraphLaunch(GraphExec*, Stream*);
Error cuGraphExecDestroy(GraphExec*);
Error cuGraphDestroy(Graph*);
Error cuGraphGetNodes(Graph*, const Node**, size_t*);
Error cuGraphNodeGetType(const Node*, NodeType*);
Error cuLinkCreate_v2(unsigned, const int*, void**, Link**);
Error cuLinkAddData_v2(Link*, int, void*, size_t, const char*, unsigned, const int*, void**);
Error cuLinkComplete(Link*, void**, size_t*);
Error cuLinkDestroy(Link*);
Error cuGetProcAddress_v2(const char*, void**, int, std::uint64_t, int*);
Error cuGetExportTable(const void**, const void*);
Error cuArrayCreate_v2(void**, const void*);
}

}  // namespace plumbline::test
