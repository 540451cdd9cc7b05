// SPDX-License-Identifier: Apache-2.0
// Functions of the runtime that the driver has, too, by another name.
#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::run;
using plumbline::ptx::cudart::through;

extern "C" {
Error cuDeviceCanAccessPeer(int*, int, int);
Error cuDeviceGetByPCIBusId(int*, const char*);
Error cuDeviceGetPCIBusId(char*, int, int);
Error cuCtxGetLimit(std::size_t*, int);
Error cuCtxSetLimit(int, std::size_t);
Error cuCtxGetCacheConfig(int*);
Error cuCtxSetCacheConfig(int);
Error cuCtxGetSharedMemConfig(int*);
Error cuCtxSetSharedMemConfig(int);
Error cuCtxResetPersistingL2Cache();
Error cuDeviceGetDefaultMemPool(Pool**, int);
Error cuDeviceGetMemPool(Pool**, int);
Error cuDeviceSetMemPool(int, Pool*);
Error cuMemPoolCreate(Pool**, const void*);
Error cuMemPoolDestroy(Pool*);
Error cuMemPoolTrimTo(Pool*, std::size_t);
Error cuMemPoolSetAttribute(Pool*, int, void*);
Error cuMemPoolGetAttribute(Pool*, int, void*);
Error cuMemPoolSetAccess(Pool*, const void*, std::size_t);
Error cuMemPoolGetAccess(int*, Pool*, const void*);
Error cuMemAllocFromPoolAsync(Address*, std::size_t, Pool*, Stream*);
Error cuMemAdvise(Address, std::size_t, int, int);
Error cuMemHostGetFlags(unsigned*, void*);
Error cuStreamGetId(Stream*, unsigned long long*);
Error cuStreamGetDevice(Stream*, int*);
Error cuProfilerStart();
Error cuProfilerStop();
Error cuLibraryLoadData(Module**, const void*, const int*, void**, unsigned, const int*, void**,
                        unsigned);
Error cuLibraryLoadFromFile(Module**, const char*, const int*, void**, unsigned, const int*, void**,
                            unsigned);
Error cuLibraryUnload(Module*);
Error cuLibraryGetKernel(Function**, Module*, const char*);
Error cuLibraryGetKernelCount(unsigned*, Module*);
Error cuLibraryEnumerateKernels(Function**, unsigned, Module*);
Error cuLibraryGetGlobal(Address*, std::size_t*, Module*, const char*);
Error cuLibraryGetManaged(Address*, std::size_t*, Module*, const char*);
Error cuKernelSetAttribute(FunctionAttribute, int, Function*, int);
Error cuFuncGetName(const char**, Function*);
Error cuFuncGetParamInfo(Function*, std::size_t, std::size_t*, std::size_t*);
Error cuFuncSetCacheConfig(Function*, int);
Error cuFuncSetSharedMemConfig(Function*, int);
Error cuOccupancyAvailableDynamicSMemPerBlock(std::size_t*, Function*, int, int);
Error cuMemcpyDtoD_v2(Address, Address, std::size_t);
Error cuMemcpyDtoDAsync_v2(Address, Address, std::size_t, Stream*);
Error cuStreamAttachMemAsync(Stream*, Address, std::size_t, unsigned);
Error cuDevicePrimaryCtxGetState(int, unsigned*, int*);
Error cuDevicePrimaryCtxSetFlags_v2(int, unsigned);
}

namespace {

/// Of a kernel that is known by its stand-in on the host.
template <class Call>
Error of_kernel(const void* host, const Call& call) {
  return run([&](Process& process) {
    const Error error = call(&process.modules.function(host));
    expect(error == Error::success, error);
  });
}

}  // namespace

PLUMBLINE_CUDA Error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return through(cuDeviceCanAccessPeer, can, device, peer);
}

PLUMBLINE_CUDA Error cudaDeviceGetByPCIBusId(int* device, const char* name) {
  return through(cuDeviceGetByPCIBusId, device, name);
}

PLUMBLINE_CUDA Error cudaDeviceGetPCIBusId(char* name, int room, int device) {
  return through(cuDeviceGetPCIBusId, name, room, device);
}

PLUMBLINE_CUDA Error cudaDeviceGetLimit(std::size_t* value, int limit) {
  return through(cuCtxGetLimit, value, limit);
}

PLUMBLINE_CUDA Error cudaDeviceSetLimit(int limit, std::size_t value) {
  return through(cuCtxSetLimit, limit, value);
}

PLUMBLINE_CUDA Error cudaDeviceGetCacheConfig(int* configuration) {
  return through(cuCtxGetCacheConfig, configuration);
}

PLUMBLINE_CUDA Error cudaDeviceSetCacheConfig(int configuration) {
  return through(cuCtxSetCacheConfig, configuration);
}

PLUMBLINE_CUDA Error cudaDeviceGetSharedMemConfig(int* configuration) {
  return through(cuCtxGetSharedMemConfig, configuration);
}

PLUMBLINE_CUDA Error cudaDeviceSetSharedMemConfig(int configuration) {
  return through(cuCtxSetSharedMemConfig, configuration);
}

PLUMBLINE_CUDA Error cudaCtxResetPersistingL2Cache() {
  return through(cuCtxResetPersistingL2Cache);
}

PLUMBLINE_CUDA Error cudaDeviceGetDefaultMemPool(Pool** pool, int device) {
  return through(cuDeviceGetDefaultMemPool, pool, device);
}

PLUMBLINE_CUDA Error cudaDeviceGetMemPool(Pool** pool, int device) {
  return through(cuDeviceGetMemPool, pool, device);
}

PLUMBLINE_CUDA Error cudaDeviceSetMemPool(int device, Pool* pool) {
  return through(cuDeviceSetMemPool, device, pool);
}

PLUMBLINE_CUDA Error cudaMemPoolCreate(Pool** pool, const void* properties) {
  return through(cuMemPoolCreate, pool, properties);
}

PLUMBLINE_CUDA Error cudaMemPoolDestroy(Pool* pool) { return through(cuMemPoolDestroy, pool); }

PLUMBLINE_CUDA Error cudaMemPoolTrimTo(Pool* pool, std::size_t bytes) {
  return through(cuMemPoolTrimTo, pool, bytes);
}

PLUMBLINE_CUDA Error cudaMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  return through(cuMemPoolSetAttribute, pool, attribute, value);
}

PLUMBLINE_CUDA Error cudaMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  return through(cuMemPoolGetAttribute, pool, attribute, value);
}

PLUMBLINE_CUDA Error cudaMemPoolSetAccess(Pool* pool, const void* access, std::size_t count) {
  return through(cuMemPoolSetAccess, pool, access, count);
}

PLUMBLINE_CUDA Error cudaMemPoolGetAccess(int* flags, Pool* pool, const void* location) {
  return through(cuMemPoolGetAccess, flags, pool, location);
}

PLUMBLINE_CUDA Error cudaMallocFromPoolAsync(Address* address, std::size_t bytes, Pool* pool,
                                             Stream* stream) {
  return through(cuMemAllocFromPoolAsync, address, bytes, pool, stream);
}

PLUMBLINE_CUDA Error cudaMemAdvise(Address address, std::size_t bytes, int advice, int device) {
  return through(cuMemAdvise, address, bytes, advice, device);
}

PLUMBLINE_CUDA Error cudaHostGetFlags(unsigned* flags, void* pointer) {
  return through(cuMemHostGetFlags, flags, pointer);
}

PLUMBLINE_CUDA Error cudaStreamGetId(Stream* stream, unsigned long long* id) {
  return through(cuStreamGetId, stream, id);
}

PLUMBLINE_CUDA Error cudaStreamGetDevice(Stream* stream, int* device) {
  return through(cuStreamGetDevice, stream, device);
}

PLUMBLINE_CUDA Error cudaProfilerStart() { return through(cuProfilerStart); }

PLUMBLINE_CUDA Error cudaProfilerStop() { return through(cuProfilerStop); }

PLUMBLINE_CUDA Error cudaLibraryLoadData(Module** library, const void* image, const int* options,
                                         void** values, unsigned count, const int* library_options,
                                         void** library_values, unsigned library_count) {
  return through(cuLibraryLoadData, library, image, options, values, count, library_options,
                 library_values, library_count);
}

PLUMBLINE_CUDA Error cudaLibraryLoadFromFile(Module** library, const char* path, const int* options,
                                             void** values, unsigned count,
                                             const int* library_options, void** library_values,
                                             unsigned library_count) {
  return through(cuLibraryLoadFromFile, library, path, options, values, count, library_options,
                 library_values, library_count);
}

PLUMBLINE_CUDA Error cudaLibraryUnload(Module* library) {
  return through(cuLibraryUnload, library);
}

PLUMBLINE_CUDA Error cudaLibraryGetKernel(Function** kernel, Module* library, const char* name) {
  return through(cuLibraryGetKernel, kernel, library, name);
}

PLUMBLINE_CUDA Error cudaLibraryGetKernelCount(unsigned* count, Module* library) {
  return through(cuLibraryGetKernelCount, count, library);
}

PLUMBLINE_CUDA Error cudaLibraryEnumerateKernels(Function** kernels, unsigned count,
                                                 Module* library) {
  return through(cuLibraryEnumerateKernels, kernels, count, library);
}

PLUMBLINE_CUDA Error cudaLibraryGetGlobal(Address* address, std::size_t* bytes, Module* library,
                                          const char* name) {
  return through(cuLibraryGetGlobal, address, bytes, library, name);
}

PLUMBLINE_CUDA Error cudaLibraryGetManaged(Address* address, std::size_t* bytes, Module* library,
                                           const char* name) {
  return through(cuLibraryGetManaged, address, bytes, library, name);
}

PLUMBLINE_CUDA Error cudaKernelSetAttributeForDevice(Function* kernel, FunctionAttribute attribute,
                                                     int value, int device) {
  return through(cuKernelSetAttribute, attribute, value, kernel, device);
}

PLUMBLINE_CUDA Error cudaFuncGetName(const char** name, const void* host) {
  return of_kernel(host, [&](Function* kernel) { return cuFuncGetName(name, kernel); });
}

PLUMBLINE_CUDA Error cudaFuncGetParamInfo(const void* host, std::size_t index, std::size_t* offset,
                                          std::size_t* bytes) {
  return of_kernel(
      host, [&](Function* kernel) { return cuFuncGetParamInfo(kernel, index, offset, bytes); });
}

PLUMBLINE_CUDA Error cudaFuncSetCacheConfig(const void* host, int configuration) {
  return of_kernel(host,
                   [&](Function* kernel) { return cuFuncSetCacheConfig(kernel, configuration); });
}

PLUMBLINE_CUDA Error cudaFuncSetSharedMemConfig(const void* host, int configuration) {
  return of_kernel(
      host, [&](Function* kernel) { return cuFuncSetSharedMemConfig(kernel, configuration); });
}

PLUMBLINE_CUDA Error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* host,
                                                               int blocks, int threads) {
  return of_kernel(host, [&](Function* kernel) {
    return cuOccupancyAvailableDynamicSMemPerBlock(bytes, kernel, blocks, threads);
  });
}

/// cudaKernel_t and CUfunction.
PLUMBLINE_CUDA Error cudaGetKernel(Function** kernel, const void* host) {
  return of_kernel(host, [&](Function* known) {
    if (kernel == nullptr) return Error::invalid_value;
    *kernel = known;
    return Error::success;
  });
}

PLUMBLINE_CUDA Error cudaGetFuncBySymbol(Function** function, const void* host) {
  return cudaGetKernel(function, host);
}

/// There is one device.
PLUMBLINE_CUDA Error cudaMemcpyPeer(Address to, int to_device, Address from, int from_device,
                                    std::size_t bytes) {
  if (to_device != 0 || from_device != 0) {
    return run([](Process&) { expect(false, Error::invalid_device); });
  }
  return through(cuMemcpyDtoD_v2, to, from, bytes);
}

PLUMBLINE_CUDA Error cudaMemcpyPeerAsync(Address to, int to_device, Address from, int from_device,
                                         std::size_t bytes, Stream* stream) {
  if (to_device != 0 || from_device != 0) {
    return run([](Process&) { expect(false, Error::invalid_device); });
  }
  return through(cuMemcpyDtoDAsync_v2, to, from, bytes, stream);
}

PLUMBLINE_CUDA Error cudaStreamAttachMemAsync(Stream* stream, Address address, std::size_t bytes,
                                              unsigned flags) {
  return through(cuStreamAttachMemAsync, stream, address, bytes, flags);
}

PLUMBLINE_CUDA Error cudaGetDeviceFlags(unsigned* flags) {
  int active = 0;
  return through(cuDevicePrimaryCtxGetState, 0, flags, &active);
}

PLUMBLINE_CUDA Error cudaSetDeviceFlags(unsigned flags) {
  return through(cuDevicePrimaryCtxSetFlags_v2, 0, flags);
}

PLUMBLINE_CUDA Error cudaInitDevice(int device, unsigned, unsigned) {
  return run([&](Process&) { expect(device == 0, Error::invalid_device); });
}

PLUMBLINE_CUDA Error cudaChooseDevice(int* device, const void* properties) {
  return run([&](Process&) {
    expect(device != nullptr && properties != nullptr);
    *device = 0;
  });
}
