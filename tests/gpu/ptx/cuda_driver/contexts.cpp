// SPDX-License-Identifier: Apache-2.0
// CUDA's driver on the software device: initialisation, the device, contexts, names of functions,
// and what remains after a kernel has gone wrong.
#include <cstring>
#include <thread>

#include "tests/gpu/ptx/cuda_driver/on_driver.hpp"

using namespace plumbline::test;

namespace {

Context* current() {
  Context* context = nullptr;
  BOOST_TEST(cuCtxGetCurrent(&context) == success);
  return context;
}

int retained() {
  unsigned flags = 0;
  int active = -1;
  BOOST_TEST(cuDevicePrimaryCtxGetState(0, &flags, &active) == success);
  return active;
}

}  // namespace

// It runs first.
BOOST_AUTO_TEST_CASE(nothing_works_before_the_driver_is_initialised) {
  int number = 0;
  Address at = 0;
  BOOST_TEST(cuDeviceGetCount(&number) == Error::initialization_error);
  BOOST_TEST(cuMemAlloc_v2(&at, 4) == Error::initialization_error);
  BOOST_TEST(cuDriverGetVersion(&number) == success);
  BOOST_TEST(number == 13000);
  BOOST_TEST(cuInit(1) == Error::invalid_value);
  BOOST_TEST(cuInit(0) == success);
  BOOST_TEST(cuDeviceGetCount(&number) == success);
  BOOST_TEST(number == 1);
  BOOST_TEST(cuMemAlloc_v2(&at, 4) == Error::invalid_context);
}

BOOST_FIXTURE_TEST_CASE(the_device_says_what_it_is, InContext) {
  int device = 7, major = 0, minor = 7;
  BOOST_TEST(cuDeviceGet(&device, 0) == success);
  BOOST_TEST(device == 0);
  BOOST_TEST(cuDeviceGet(&device, 1) == Error::invalid_device);
  BOOST_TEST(cuDeviceGet(nullptr, 0) == Error::invalid_value);
  BOOST_TEST(cuDeviceComputeCapability(&major, &minor, 0) == success);
  BOOST_TEST(major == 9);
  BOOST_TEST(minor == 0);
  char name[64];
  BOOST_TEST(cuDeviceGetName(name, sizeof name, 0) == success);
  BOOST_TEST(name == std::string("Plumbline software device, compute capability 9.0"));
  BOOST_TEST(cuDeviceGetName(name, 10, 0) == success);
  BOOST_TEST(name == std::string("Plumbline"));
  BOOST_TEST(cuDeviceGetName(nullptr, 10, 0) == Error::invalid_value);
  std::size_t bytes = 0;
  BOOST_TEST(cuDeviceTotalMem_v2(&bytes, 0) == success);
  BOOST_TEST(bytes == std::size_t{8} << 30);
  int value = 0;
  BOOST_TEST(cuDeviceGetAttribute(&value, DeviceAttribute::warp_size, 0) == success);
  BOOST_TEST(value == 32);
  BOOST_TEST(cuDeviceGetAttribute(&value, DeviceAttribute::warp_size, 1) == Error::invalid_device);
  BOOST_TEST(cuDeviceGetAttribute(&value, DeviceAttribute::end, 0) == Error::invalid_value);
}

BOOST_AUTO_TEST_CASE(errors_have_the_driver_s_names) {
  const char* text = nullptr;
  BOOST_TEST(cuGetErrorName(Error::no_kernel_image_for_device, &text) == success);
  BOOST_TEST(text == std::string("CUDA_ERROR_NO_BINARY_FOR_GPU"));
  BOOST_TEST(cuGetErrorString(Error::memory_allocation, &text) == success);
  BOOST_TEST(text == std::string("out of memory"));
  // Numbers that are the runtime's alone, and no one's.
  for (const auto number : {Error::invalid_configuration, static_cast<Error>(12345)}) {
    text = "kept";
    BOOST_TEST(cuGetErrorName(number, &text) == Error::invalid_value);
    BOOST_TEST(text == nullptr);
  }
  BOOST_TEST(cuGetErrorName(success, nullptr) == Error::invalid_value);
}

BOOST_AUTO_TEST_CASE(each_thread_has_a_stack_of_contexts) {
  BOOST_TEST(cuInit(0) == success);
  Context *primary = nullptr, *made = nullptr, *popped = nullptr;
  BOOST_TEST(cuDevicePrimaryCtxRetain(&primary, 0) == success);
  BOOST_TEST(cuCtxPushCurrent_v2(primary) == success);
  BOOST_TEST(cuCtxCreate_v4(&made, nullptr, 0, 0) == success);
  BOOST_TEST(current() == made);
  std::thread([&] {
    BOOST_TEST(current() == nullptr);
    int device = 0;
    BOOST_TEST(cuCtxGetDevice(&device) == Error::invalid_context);
    BOOST_TEST(cuCtxSetCurrent(primary) == success);
    BOOST_TEST(cuCtxGetDevice(&device) == success);
  }).join();
  BOOST_TEST(cuCtxPopCurrent_v2(&popped) == success);
  BOOST_TEST(popped == made);
  BOOST_TEST(current() == primary);
  BOOST_TEST(cuCtxSetCurrent(reinterpret_cast<Context*>(&popped)) == Error::invalid_context);
  BOOST_TEST(cuCtxDestroy_v2(made) == success);
  BOOST_TEST(cuCtxDestroy_v2(made) == Error::invalid_context);
  BOOST_TEST(cuCtxDestroy_v2(primary) == Error::invalid_context);
  BOOST_TEST(cuCtxPopCurrent_v2(nullptr) == success);
  BOOST_TEST(cuCtxPopCurrent_v2(nullptr) == Error::invalid_context);
  BOOST_TEST(retained() == 1);
  BOOST_TEST(cuDevicePrimaryCtxRelease_v2(0) == success);
  BOOST_TEST(retained() == 0);
  BOOST_TEST(cuDevicePrimaryCtxRelease_v2(0) == Error::invalid_context);
  BOOST_TEST(cuCtxPushCurrent_v2(primary) == Error::invalid_context);
}

BOOST_FIXTURE_TEST_CASE(what_belongs_to_a_context_ends_with_it, InContext) {
  std::size_t before = 0, after = 0, total = 0;
  BOOST_TEST(cuMemGetInfo_v2(&before, &total) == success);
  Context* made = nullptr;
  Address at = 0;
  Module* module = nullptr;
  Stream* stream = nullptr;
  Event* event = nullptr;
  BOOST_TEST(cuCtxCreate_v4(&made, nullptr, 0, 0) == success);
  BOOST_TEST(cuMemAlloc_v2(&at, 1000) == success);
  BOOST_TEST(cuModuleLoadData(&module, kernels.c_str()) == success);
  BOOST_TEST(cuStreamCreate(&stream, 0) == success);
  BOOST_TEST(cuEventCreate(&event, 0) == success);
  BOOST_TEST(cuCtxDestroy_v2(made) == success);
  BOOST_TEST(cuMemGetInfo_v2(&after, &total) == success);
  BOOST_TEST(after == before);
  BOOST_TEST(cuMemFree_v2(at) == Error::invalid_value);
  BOOST_TEST(cuModuleUnload(module) == Error::invalid_resource_handle);
  BOOST_TEST(cuStreamSynchronize(stream) == Error::invalid_resource_handle);
  BOOST_TEST(cuEventDestroy_v2(event) == Error::invalid_resource_handle);
  BOOST_TEST(cuMemAlloc_v2(&at, 1000) == success);
  BOOST_TEST(cuDevicePrimaryCtxReset_v2(0) == success);
  BOOST_TEST(cuMemFree_v2(at) == Error::invalid_value);
}

BOOST_FIXTURE_TEST_CASE(limits_are_kept, InContext) {
  std::size_t value = 0;
  BOOST_TEST(cuCtxGetLimit(&value, 2) == success);
  BOOST_TEST(value == std::size_t{8} << 20);
  BOOST_TEST(cuCtxSetLimit(2, 1 << 20) == success);
  BOOST_TEST(cuCtxGetLimit(&value, 2) == success);
  BOOST_TEST(value == std::size_t{1} << 20);
  BOOST_TEST(cuCtxSetLimit(99, 1) == Error::unsupported_limit);
  BOOST_TEST(cuCtxGetLimit(nullptr, 2) == Error::invalid_value);
}

BOOST_AUTO_TEST_CASE(functions_are_found_by_their_names) {
  void* function = nullptr;
  int status = -1;
  const auto find = [&](const char* name, int version) {
    BOOST_TEST(cuGetProcAddress_v2(name, &function, version, 0, &status) == success);
    return function;
  };
  BOOST_TEST(find("cuMemAlloc", 12000) == reinterpret_cast<void*>(&cuMemAlloc_v2));
  BOOST_TEST(find("cuLaunchKernel", 12000) == reinterpret_cast<void*>(&cuLaunchKernel));
  BOOST_TEST(find("cuCtxCreate", 13000) == reinterpret_cast<void*>(&cuCtxCreate_v4));
  BOOST_TEST((find("cuCtxCreate", 12000) != nullptr && function != (void*)&cuCtxCreate_v4));
  BOOST_TEST(status == 0);
  BOOST_TEST(find("cuGetProcAddress", 11000) == nullptr);
  BOOST_TEST(status == 2);
  BOOST_TEST(find("cuNoSuchFunction", 13000) == nullptr);
  BOOST_TEST(status == 1);
  BOOST_TEST(find("malloc", 13000) == nullptr);
  BOOST_TEST(cuGetProcAddress_v2(nullptr, &function, 12000, 0, &status) == Error::invalid_value);
  BOOST_TEST(cuGetProcAddress_v2("cuInit", &function, 99000, 0, &status) == Error::invalid_value);
}

BOOST_FIXTURE_TEST_CASE(what_the_device_lacks_says_so, InContext) {
  void* array = nullptr;
  BOOST_TEST(cuArrayCreate_v2(&array, nullptr) == Error::not_supported);
  const void* table = nullptr;
  BOOST_TEST(cuGetExportTable(&table, "0123456789abcdef") == Error::not_supported);
}

// It runs last: a fault ends the device.
BOOST_FIXTURE_TEST_CASE(the_process_is_over_after_a_fault, Loaded) {
  Function* scale = function("scale");
  const OnDevice memory(400);
  BOOST_TEST(cuMemsetD8_v2(memory.at, 0, 400) == success);
  Address pointer = memory.at;
  float by = 1;
  unsigned n = 101;
  void* arguments[] = {&pointer, &by, &n};
  const auto launch = [&] {
    return cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
  };
  BOOST_TEST(launch() == Error::illegal_address);
  n = 1;
  BOOST_TEST(launch() == Error::illegal_address);
  BOOST_TEST(cuCtxSynchronize() == Error::illegal_address);
  BOOST_TEST(cuMemFree_v2(memory.at) == Error::illegal_address);
  int number = 0;  // what is not the context's still answers
  BOOST_TEST(cuDeviceGetCount(&number) == success);
}
