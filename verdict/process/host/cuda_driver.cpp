// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/cuda_driver.hpp"

#include <dlfcn.h>

#include <string>

namespace plumbline::kernel_process {
namespace {

void* opened_driver() {
  // The name under which every installation of the driver has it.
  if (void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) return driver;
  const char* reason = dlerror();
  throw CudaError(std::string("there is no CUDA driver: ") + (reason ? reason : "libcuda.so.1"));
}

}  // namespace

CudaDriver::CudaDriver() : CudaDriver(opened_driver()) {}

CudaDriver::CudaDriver(void* driver) {
  const auto find = [driver](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(driver, name));
    if (function == nullptr) throw CudaError(std::string("the CUDA driver has no ") + name);
  };
  // The names that cuda.h gives its functions since CUDA 3.2; those without _v2 have 32-bit sizes.
  find(init_, "cuInit");
  find(device_get_, "cuDeviceGet");
  find(retain_, "cuDevicePrimaryCtxRetain");
  find(set_current_, "cuCtxSetCurrent");
  find(allocate_, "cuMemAlloc_v2");
  find(free_, "cuMemFree_v2");
  find(to_device_, "cuMemcpyHtoD_v2");
  find(to_host_, "cuMemcpyDtoH_v2");
  find(synchronize_, "cuCtxSynchronize");
  find(error_string_, "cuGetErrorString");
  check(init_(0), "cuInit");
  int device = 0;
  check(device_get_(&device, 0), "cuDeviceGet");
  check(retain_(&context_, device), "cuDevicePrimaryCtxRetain");
  make_current();
}

void CudaDriver::make_current() const { check(set_current_(context_), "cuCtxSetCurrent"); }

DeviceAddress CudaDriver::allocate(std::size_t bytes) const {
  DeviceAddress address = 0;
  check(allocate_(&address, bytes),
        ("cuMemAlloc_v2 of " + std::to_string(bytes) + " bytes").c_str());
  return address;
}

void CudaDriver::free(DeviceAddress address) const { check(free_(address), "cuMemFree_v2"); }

void CudaDriver::to_device(DeviceAddress to, const void* from, std::size_t bytes) const {
  check(to_device_(to, from, bytes), "cuMemcpyHtoD_v2");
  // From pageable memory it returns when the bytes are on their way, and a stream that does not
  // wait for the default one may be ahead of them.
  synchronize();
}

void CudaDriver::to_host(void* to, DeviceAddress from, std::size_t bytes) const {
  check(to_host_(to, from, bytes), "cuMemcpyDtoH_v2");
}

void CudaDriver::synchronize() const { check(synchronize_(), "cuCtxSynchronize"); }

void CudaDriver::check(CudaResult result, const char* function) const {
  if (result == 0) return;
  const char* words = nullptr;
  if (error_string_(result, &words) != 0) words = nullptr;
  throw CudaError(std::string(function) + ": " +
                  (words ? std::string(words) : "error " + std::to_string(result)));
}

}  // namespace plumbline::kernel_process
