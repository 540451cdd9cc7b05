// SPDX-License-Identifier: Apache-2.0
// CUDA's driver on the software device: modules, kernels and launches.
#include <cstdio>
#include <cstring>
#include <fstream>

#include "tests/gpu/ptx/cuda/fat_bytes.hpp"
#include "tests/gpu/ptx/cuda_driver/on_driver.hpp"

using namespace plumbline::test;

namespace {

/// Launches `scale` over 99 of 100 numbers by a function of its pointer and arguments.
template <class Launch>
void expect_scaled(const Launch& launch) {
  auto expected = counted(100);
  const OnDevice memory(400);
  BOOST_TEST(cuMemcpyHtoD_v2(memory.at, expected.data(), 400) == success);
  Address pointer = memory.at;
  float by = 3;
  unsigned n = 99;
  void* arguments[] = {&pointer, &by, &n};
  BOOST_TEST(launch(arguments) == success);
  for (unsigned i = 0; i < n; ++i) expected[i] *= 3;
  BOOST_TEST(read<float>(memory.at, 100) == expected, boost::test_tools::per_element());
}

Error launch_count(Function* count, unsigned grid, unsigned block, unsigned shared) {
  const OnDevice memory(4);
  Address pointer = memory.at;
  void* arguments[] = {&pointer};
  return cuLaunchKernel(count, grid, 1, 1, block, 1, 1, shared, nullptr, arguments, nullptr);
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_kernel_runs_by_every_way_to_launch_it, Loaded) {
  Function* scale = function("scale");
  expect_scaled([&](void** arguments) {
    return cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
  });
  expect_scaled([&](void** arguments) {
    return cuLaunchCooperativeKernel(scale, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments);
  });
  expect_scaled([&](void** arguments) {
    LaunchAttribute cooperative{.id = 2, .padding = {}, .bytes = {1}};
    DriverConfiguration configuration{{4}, {32}, 0, nullptr, &cooperative, 1};
    return cuLaunchKernelEx(&configuration, scale, arguments, nullptr);
  });
  expect_scaled([&](void** arguments) {  // one block of parameters: 8, 4 and 4 bytes
    char block[16];
    std::memcpy(block, arguments[0], 8);
    std::memcpy(block + 8, arguments[1], 4);
    std::memcpy(block + 12, arguments[2], 4);
    std::size_t bytes = sizeof block;
    const auto name = [](std::uintptr_t number) { return reinterpret_cast<void*>(number); };
    void* extra[] = {name(1), block, name(2), &bytes, name(0)};
    return cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra);
  });
}

BOOST_FIXTURE_TEST_CASE(launches_that_cuda_refuses_are_refused_with_its_errors, Loaded) {
  Function *scale = function("scale"), *count = function("count");
  BOOST_TEST(launch_count(count, 1, 256, 0) == success);
  BOOST_TEST(launch_count(count, 0, 32, 0) == Error::invalid_value);
  BOOST_TEST(launch_count(count, 1, 1025, 0) == Error::invalid_value);
  BOOST_TEST(launch_count(count, 1, 257, 0) == Error::invalid_value);  // .maxntid
  BOOST_TEST(launch_count(count, 1, 32, 48129) == Error::invalid_value);
  BOOST_TEST(launch_count(nullptr, 1, 32, 0) == Error::invalid_resource_handle);
  BOOST_TEST(launch_count(reinterpret_cast<Function*>(module), 1, 32, 0) ==
             Error::invalid_resource_handle);
  const auto launch = [&](void** arguments, void** extra, Stream* stream) {
    return cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, stream, arguments, extra);
  };
  BOOST_TEST(launch(nullptr, nullptr, nullptr) == Error::invalid_value);
  void* end[] = {nullptr};
  BOOST_TEST(launch(nullptr, end, nullptr) == Error::invalid_value);
  void* unknown[] = {reinterpret_cast<void*>(7), end, nullptr};
  BOOST_TEST(launch(nullptr, unknown, nullptr) == Error::invalid_value);
  void* absent[] = {nullptr, nullptr, nullptr};
  BOOST_TEST(launch(absent, nullptr, nullptr) == Error::invalid_value);
  Address pointer = 0;
  float by = 1;
  unsigned n = 0;
  void* arguments[] = {&pointer, &by, &n};
  BOOST_TEST(launch(arguments, nullptr, reinterpret_cast<Stream*>(&n)) ==
             Error::invalid_resource_handle);
  BOOST_TEST(cuLaunchKernelEx(nullptr, scale, arguments, nullptr) == Error::invalid_value);
  // 132 multiprocessors with 2048 threads each.
  const auto cooperative = [&](unsigned blocks) {
    return cuLaunchCooperativeKernel(scale, blocks, 1, 1, 1024, 1, 1, 0, nullptr, arguments);
  };
  BOOST_TEST(cooperative(264) == success);
  BOOST_TEST(cooperative(265) == Error::cooperative_launch_too_large);
}

BOOST_FIXTURE_TEST_CASE(a_kernel_s_attributes_and_its_occupancy_are_told, Loaded) {
  Function* count = function("count");
  const auto get = [&](int attribute) {
    int value = -1;
    BOOST_TEST(cuFuncGetAttribute(&value, static_cast<FunctionAttribute>(attribute), count) ==
               success);
    return value;
  };
  BOOST_TEST(get(0) == 256);   // threads
  BOOST_TEST(get(1) == 1024);  // static shared memory
  BOOST_TEST(get(5) == 80);    // .target
  BOOST_TEST(get(6) == 90);
  BOOST_TEST(get(8) == 48128);
  int value = 0;
  BOOST_TEST(cuFuncGetAttribute(&value, static_cast<FunctionAttribute>(16), count) ==
             Error::invalid_value);
  BOOST_TEST(cuFuncGetAttribute(nullptr, FunctionAttribute::registers, count) ==
             Error::invalid_value);
  const auto set = [&](int attribute, int to) {
    return cuFuncSetAttribute(count, static_cast<FunctionAttribute>(attribute), to);
  };
  BOOST_TEST(set(8, 232448 - 1024 + 1) == Error::invalid_value);
  BOOST_TEST(set(8, 100000) == success);
  BOOST_TEST(set(0, 1) == Error::invalid_value);
  BOOST_TEST(launch_count(count, 1, 32, 100000) == success);
  BOOST_TEST(launch_count(count, 1, 32, 100001) == Error::invalid_value);
  const char* name = nullptr;
  BOOST_TEST(cuFuncGetName(&name, count) == success);
  BOOST_TEST(name == std::string("count"));
  std::size_t offset = 0, bytes = 0;
  BOOST_TEST(cuFuncGetParamInfo(function("scale"), 2, &offset, &bytes) == success);
  BOOST_TEST(offset == 12U);
  BOOST_TEST(bytes == 4U);
  BOOST_TEST(cuFuncGetParamInfo(function("scale"), 3, &offset, &bytes) == Error::invalid_value);

  // 2048 threads, 32 blocks; 228 KiB, of which a block takes 1 KiB for the system and 1 KiB itself.
  int blocks = 0, grid = 0, block = 0;
  BOOST_TEST(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count, 32, 112 * 1024) ==
             success);
  BOOST_TEST(blocks == 2);
  BOOST_TEST(cuOccupancyMaxPotentialBlockSize(&grid, &block, count, nullptr, 0, 0) == success);
  BOOST_TEST(block == 256);
  BOOST_TEST(grid == 8 * 132);
  BOOST_TEST(cuOccupancyMaxPotentialBlockSize(
                 &grid, &block, count, [](int threads) { return threads > 64 ? 232448UL : 0UL; }, 0,
                 0) == success);
  BOOST_TEST(block == 64);
  BOOST_TEST(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, count, 2, 32) == success);
  BOOST_TEST(bytes == 112U * 1024);
}

BOOST_FIXTURE_TEST_CASE(modules_give_their_kernels_and_variables, Loaded) {
  unsigned number = 0;
  BOOST_TEST(cuModuleGetFunctionCount(&number, module) == success);
  BOOST_TEST(number == 2U);
  Function* all[3] = {};
  BOOST_TEST(cuModuleEnumerateFunctions(all, 3, module) == success);
  BOOST_TEST((all[0] == function("scale") && all[1] == function("count") && all[2] == nullptr));
  Function* none = nullptr;
  BOOST_TEST(cuModuleGetFunction(&none, module, "missing") == Error::symbol_not_found);
  BOOST_TEST(cuModuleGetFunction(&none, module, nullptr) == Error::invalid_value);
  BOOST_TEST(cuModuleGetFunction(nullptr, module, "scale") == Error::invalid_value);
  BOOST_TEST(cuModuleGetFunction(&none, nullptr, "scale") == Error::invalid_resource_handle);
  Address counter = 0;
  std::size_t bytes = 0;
  BOOST_TEST(cuModuleGetGlobal_v2(&counter, &bytes, module, "counter") == success);
  BOOST_TEST(bytes == 4U);
  BOOST_TEST(read<unsigned>(counter, 1)[0] == 7U);
  const unsigned eleven = 11;
  BOOST_TEST(cuMemcpyHtoD_v2(counter, &eleven, 4) == success);
  const OnDevice memory(4);
  Address pointer = memory.at;
  void* arguments[] = {&pointer};
  BOOST_TEST(cuLaunchKernel(function("count"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) ==
             success);
  BOOST_TEST(read<unsigned>(memory.at, 1)[0] == 11U);
  BOOST_TEST(cuModuleGetGlobal_v2(&counter, &bytes, module, "scale") == Error::symbol_not_found);
}

BOOST_FIXTURE_TEST_CASE(a_module_that_is_unloaded_is_no_handle_any_more, InContext) {
  Module* module = nullptr;
  Function* scale = nullptr;
  BOOST_TEST(cuModuleLoadData(&module, kernels.c_str()) == success);
  BOOST_TEST(cuModuleGetFunction(&scale, module, "scale") == success);
  BOOST_TEST(cuModuleUnload(module) == success);
  BOOST_TEST(cuModuleUnload(module) == Error::invalid_resource_handle);
  BOOST_TEST(cuModuleGetFunction(&scale, module, "scale") == Error::invalid_resource_handle);
  BOOST_TEST(launch_count(scale, 1, 1, 0) == Error::invalid_resource_handle);
}

BOOST_FIXTURE_TEST_CASE(images_are_ptx_or_fat_binaries_with_ptx, InContext) {
  Module* module = nullptr;
  Function* scale = nullptr;
  const auto expect_loaded = [&](Error error) {
    BOOST_TEST(error == success);
    BOOST_TEST(cuModuleGetFunction(&scale, module, "scale") == success);
    BOOST_TEST(cuModuleUnload(module) == success);
  };
  const Bytes bytes = container({entry(kernels, {.packed = Packed::zstd})});
  expect_loaded(cuModuleLoadFatBinary(&module, bytes.data()));
  const Wrapper wrapper{.container = bytes.data()};
  expect_loaded(cuModuleLoadData(&module, &wrapper));
  const std::string path = "driver_test_module.ptx";
  std::ofstream(path) << kernels;
  expect_loaded(cuModuleLoad(&module, path.c_str()));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  expect_loaded(cuModuleLoad(&module, path.c_str()));
  // Cut off, and with pointers of another process.
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), 100);
  BOOST_TEST(cuModuleLoad(&module, path.c_str()) == Error::invalid_image);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(&wrapper), sizeof wrapper);
  BOOST_TEST(cuModuleLoad(&module, path.c_str()) == Error::invalid_image);
  std::remove(path.c_str());
  BOOST_TEST(cuModuleLoad(&module, path.c_str()) == Error::file_not_found);
}

BOOST_FIXTURE_TEST_CASE(images_that_the_device_cannot_run_are_refused_with_cuda_s_errors,
                        InContext) {
  Module* module = nullptr;
  const auto load = [&](const void* image) { return cuModuleLoadData(&module, image); };
  BOOST_TEST(load(nullptr) == Error::invalid_value);
  BOOST_TEST(cuModuleLoadData(nullptr, kernels.c_str()) == Error::invalid_value);
  BOOST_TEST(load("") == Error::invalid_image);
  BOOST_TEST(load("\x7f") == Error::invalid_image);
  BOOST_TEST(load("no PTX at all") == Error::invalid_image);
  BOOST_TEST(load("\x7f"
                  "ELF a cubin") == Error::no_kernel_image_for_device);
  BOOST_TEST(load(".version 8.0\n.target sm_100a\n.address_size 64\n") == Error::invalid_ptx);
  BOOST_TEST(load(".version 8.0\n.target sm_80\n.address_size 64\noops\n") == Error::invalid_ptx);
  const Bytes cubin = container({entry("code", {.kind = 2, .architecture = 90})});
  BOOST_TEST(load(cubin.data()) == Error::no_kernel_image_for_device);
  Bytes damaged = container({entry(kernels)});
  damaged[16 + 8] = std::byte{0xFF};  // the size of the entry
  damaged[16 + 10] = std::byte{0xFF};
  BOOST_TEST(load(damaged.data()) == Error::invalid_image);
}

BOOST_FIXTURE_TEST_CASE(what_a_jit_compiler_would_say_is_in_the_error_log, InContext) {
  Module* module = nullptr;
  char log[256];
  const auto load = [&](const char* ptx, std::size_t room) {
    std::memset(log, '#', sizeof log);
    int options[] = {5, 6, 7};  // error log, its size, level of optimisation
    void* values[] = {log, reinterpret_cast<void*>(room), reinterpret_cast<void*>(4)};
    const Error error = cuModuleLoadDataEx(&module, ptx, 3, options, values);
    const auto used = reinterpret_cast<std::uintptr_t>(values[1]);
    BOOST_TEST(used <= room);
    if (used > 0) BOOST_TEST(log[used - 1] == '\0');
    BOOST_TEST(log[room] == '#');
    return error;
  };
  const char* wrong = ".version 8.0\n.target sm_80\n.address_size 64\noops\n";
  BOOST_TEST(load(wrong, 200) == Error::invalid_ptx);
  BOOST_TEST(std::string(log).find("line 4") != std::string::npos);
  BOOST_TEST(load(wrong, 10) == Error::invalid_ptx);
  BOOST_TEST(std::strlen(log) == 9U);
  BOOST_TEST(load(kernels.c_str(), 200) == success);
  BOOST_TEST(log == std::string(""));
  BOOST_TEST(cuModuleUnload(module) == success);
  int unknown = 99, symbols = 17;
  void* value = nullptr;
  BOOST_TEST(cuModuleLoadDataEx(&module, kernels.c_str(), 1, &unknown, &value) ==
             Error::invalid_value);
  BOOST_TEST(cuModuleLoadDataEx(&module, kernels.c_str(), 1, &symbols, &value) ==
             Error::not_supported);
  BOOST_TEST(cuModuleLoadDataEx(&module, kernels.c_str(), 1, nullptr, nullptr) ==
             Error::invalid_value);
}

BOOST_FIXTURE_TEST_CASE(a_library_s_kernels_are_launched_as_functions, InContext) {
  Module* library = nullptr;
  const auto load = [&](const char* ptx) {
    return cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  BOOST_TEST(load("no PTX at all") == Error::invalid_image);
  BOOST_TEST(load(kernels.c_str()) == success);
  Function *kernel = nullptr, *function = nullptr;
  BOOST_TEST(cuLibraryGetKernel(&kernel, library, "missing") == Error::symbol_not_found);
  BOOST_TEST(cuLibraryGetKernel(&kernel, library, "scale") == success);
  BOOST_TEST(cuKernelGetFunction(&function, kernel) == success);
  for (Function* one : {kernel, function}) {
    expect_scaled([&](void** arguments) {
      return cuLaunchKernel(one, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
    });
  }
  BOOST_TEST(cuKernelSetAttribute(FunctionAttribute::max_dynamic_shared, 100000, kernel, 0) ==
             success);
  BOOST_TEST(cuKernelSetAttribute(FunctionAttribute::max_dynamic_shared, 100000, kernel, 1) ==
             Error::invalid_device);
  BOOST_TEST(cuModuleUnload(library) == Error::invalid_resource_handle);
  BOOST_TEST(cuLibraryUnload(library) == success);
  BOOST_TEST(cuLibraryUnload(library) == Error::invalid_resource_handle);
}

BOOST_FIXTURE_TEST_CASE(ptx_is_linked_with_ptx, InContext) {
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
  // to[0] = offset + 1, by a function and a variable of another PTX
  const std::string caller = head + R"(
.extern .func (.param .b32 result) next(.param .b32 value);
.extern .global .u32 offset;
.visible .entry call(.param .u64 to)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<2>;
  .param .b32 value, result;
  ld.param.u64 %d1, [to];
  ld.global.u32 %r1, [offset];
  st.param.b32 [value], %r1;
  call (result), next, (value);
  ld.param.b32 %r2, [result];
  st.global.u32 [%d1], %r2;
  ret;
}
)";
  const std::string callee = head + R"(
.file 1 "other.cu"
.visible .global .u32 offset = 41;
.visible .func (.param .b32 result) next(.param .b32 value)
{
  .reg .b32 %r<3>;
  .loc 1 7 3
  ld.param.b32 %r1, [value];
  add.u32 %r2, %r1, 1;
  st.param.b32 [result], %r2;
  ret;
}
)";
  Link* link = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  const auto add = [&](int kind, std::string text) {
    return cuLinkAddData_v2(link, kind, text.data(), text.size(), "name", 0, nullptr, nullptr);
  };
  for (const bool caller_first : {true, false}) {
    BOOST_TEST(cuLinkCreate_v2(0, nullptr, nullptr, &link) == success);
    BOOST_TEST(cuLinkComplete(link, &image, &bytes) == Error::invalid_value);
    BOOST_TEST(add(1, caller_first ? caller : callee) == success);
    BOOST_TEST(add(1, caller_first ? callee : caller) == success);
    BOOST_TEST(cuLinkComplete(link, &image, &bytes) == success);
    BOOST_TEST(static_cast<const char*>(image)[bytes - 1] == '\0');
    const std::string all = static_cast<const char*>(image);
    BOOST_TEST(all.find(".version", 1) == std::string::npos);
    // Files are counted anew in each: only those of the first remain.
    BOOST_TEST((all.find("other.cu") == std::string::npos) == caller_first);
    Module* module = nullptr;
    Function* call = nullptr;
    BOOST_TEST(cuModuleLoadData(&module, image) == success);
    BOOST_TEST(cuModuleGetFunction(&call, module, "call") == success);
    const OnDevice memory(4);
    Address pointer = memory.at;
    void* arguments[] = {&pointer};
    BOOST_TEST(cuLaunchKernel(call, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) == success);
    BOOST_TEST(read<unsigned>(memory.at, 1)[0] == 42U);
    BOOST_TEST(cuModuleUnload(module) == success);
    BOOST_TEST(cuLinkDestroy(link) == success);
  }
  BOOST_TEST(cuLinkDestroy(link) == Error::invalid_resource_handle);

  BOOST_TEST(cuLinkCreate_v2(0, nullptr, nullptr, &link) == success);
  BOOST_TEST(add(0,
                 "\x7f"
                 "ELF") == Error::not_supported);
  BOOST_TEST(add(9, kernels) == Error::invalid_value);
  BOOST_TEST(add(1, "no PTX at all") == Error::invalid_ptx);
  BOOST_TEST(add(1, ".version 8.6\n.target sm_100a\n") == Error::invalid_ptx);
  BOOST_TEST(add(1, kernels) == success);
  BOOST_TEST(add(1, kernels) == success);  // both have a kernel `scale`
  BOOST_TEST(cuLinkComplete(link, &image, &bytes) == Error::invalid_ptx);
  BOOST_TEST(cuLinkDestroy(link) == success);
}
