// SPDX-License-Identifier: Apache-2.0
// CUDA's runtime on the software device, called as a program calls it that nvcc has compiled. Its
// kernels are PTX by hand.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/gpu/ptx/cuda/fat_bytes.hpp"
#include "tests/gpu/ptx/cudart/cuda_functions.hpp"

using namespace plumbline::test;

namespace plumbline::ptx::cuda {

static std::ostream& operator<<(std::ostream& out, Error error) {
  return out << cudaGetErrorName(error);
}

}  // namespace plumbline::ptx::cuda

namespace {

const std::string kernels = R"(
.version 8.0
.target sm_80
.address_size 64

.global .align 4 .u32 counter = 7;
.const .align 4 .b8 table[16];

// p[i] *= by for i < n
.visible .entry scale(.param .u64 p, .param .f32 by, .param .u32 n)
{
  .reg .pred %q;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [p];
  ld.param.f32 %f1, [by];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %q, %r5, %r1;
  @%q bra done;
  cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r5, 4;
  add.s64 %d3, %d1, %d2;
  ld.global.f32 %f2, [%d3];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%d3], %f3;
done:
  ret;
}

// to[0] = counter by one thread, 1024 bytes of shared memory
.visible .entry count(.param .u64 to)
.maxntid 256, 1, 1
{
  .reg .pred %q;
  .reg .b32 %r<4>;
  .reg .b64 %d<2>;
  .shared .align 4 .b8 room[1024];
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %q, %r3, 0;
  @%q bra done;
  ld.param.u64 %d1, [to];
  ld.global.u32 %r1, [counter];
  st.shared.u32 [room], %r1;
  ld.shared.u32 %r2, [room];
  st.global.u32 [%d1], %r2;
done:
  ret;
}
)";

/// What nvcc's code for the host does before main.
class Program {
 public:
  explicit Program(const std::string& ptx, const EntryFields& fields = {})
      : Program(container({entry(ptx, fields)})) {}
  explicit Program(Bytes fat_binary) : bytes_(std::move(fat_binary)) {
    wrapper_.container = bytes_.data();
    handle_ = __cudaRegisterFatBinary(&wrapper_);
  }
  ~Program() { __cudaUnregisterFatBinary(handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void add_kernel(const char* host, const char* name) {
    __cudaRegisterFunction(handle_, host, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
  }
  void add_variable(char* host, const char* name, std::size_t bytes) {
    __cudaRegisterVar(handle_, host, nullptr, name, 0, bytes, 0, 0);
  }

 private:
  Bytes bytes_;
  Wrapper wrapper_;
  void** handle_;
};

// What the program knows its kernels and variables by.
char scale, count, missing, counter, table, unknown;

Program& program() {
  static Program& all = *[] {
    auto* made = new Program(kernels, {.packed = Packed::zstd});
    made->add_kernel(&scale, "scale");
    made->add_kernel(&count, "count");
    made->add_kernel(&missing, "missing");
    made->add_variable(&counter, "counter", 4);
    made->add_variable(&table, "table", 16);
    return made;
  }();
  return all;
}

struct OnDevice {
  explicit OnDevice(std::size_t bytes) {
    BOOST_TEST(cudaMalloc(&pointer, bytes) == Error::success);
  }
  ~OnDevice() { cudaFree(pointer); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  void* pointer = nullptr;
};

std::vector<float> counted(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

/// Launches `scale` over 100 numbers by a function of its pointer and arguments.
template <class Launch>
void expect_scaled(const Launch& launch) {
  program();
  auto values = counted(100);
  const OnDevice memory(400);
  BOOST_TEST(cudaMemcpy(memory.pointer, values.data(), 400, CopyKind::host_to_device) ==
             Error::success);
  void* pointer = memory.pointer;
  float by = 3;
  unsigned n = 99;
  void* arguments[] = {&pointer, &by, &n};
  BOOST_TEST(launch(arguments) == Error::success);
  std::vector<float> expected = values;
  for (unsigned i = 0; i < n; ++i) expected[i] *= 3;
  BOOST_TEST(cudaMemcpy(values.data(), memory.pointer, 400, CopyKind::device_to_host) ==
             Error::success);
  BOOST_TEST(values == expected, boost::test_tools::per_element());
}

Error launch_count(const void* kernel, Dim3 grid, Dim3 block, std::size_t shared) {
  program();
  const OnDevice memory(4);
  void* pointer = memory.pointer;
  void* arguments[] = {&pointer};
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, nullptr);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_kernel_runs_by_every_way_to_launch_it) {
  const Dim3 grid{4}, block{32};
  expect_scaled([&](void** arguments) {
    return cudaLaunchKernel(&scale, grid, block, arguments, 0, nullptr);
  });
  expect_scaled([&](void** arguments) {
    return cudaLaunchCooperativeKernel(&scale, grid, block, arguments, 0, nullptr);
  });
  expect_scaled([&](void** arguments) {
    LaunchConfiguration configuration{grid, block, 0, nullptr, nullptr, 0};
    return cudaLaunchKernelExC(&configuration, &scale, arguments);
  });
  expect_scaled([&](void** arguments) {  // <<<4, 32>>> of nvcc 13
    __cudaPushCallConfiguration(grid, block, 0, nullptr);
    Dim3 popped_grid, popped_block;
    std::size_t shared = 1;
    Stream* stream = nullptr;
    Function* kernel = nullptr;
    BOOST_TEST(__cudaGetKernel(&kernel, &scale) == Error::success);
    BOOST_TEST(__cudaPopCallConfiguration(&popped_grid, &popped_block, &shared, &stream) ==
               Error::success);
    return __cudaLaunchKernel(kernel, popped_grid, popped_block, arguments, shared, stream);
  });
  Dim3 dim;
  std::size_t shared;
  Stream* stream;
  BOOST_TEST(__cudaPopCallConfiguration(&dim, &dim, &shared, &stream) ==
             Error::missing_configuration);
}

BOOST_AUTO_TEST_CASE(launches_that_cuda_refuses_are_refused_with_its_errors) {
  BOOST_TEST(launch_count(&count, {1}, {256}, 0) == Error::success);
  BOOST_TEST(launch_count(&count, {0}, {32}, 0) == Error::invalid_configuration);
  BOOST_TEST(launch_count(&count, {1}, {1, 0}, 0) == Error::invalid_configuration);
  BOOST_TEST(launch_count(&scale, {1}, {1025}, 0) == Error::invalid_configuration);
  BOOST_TEST(launch_count(&count, {1, 65536}, {32}, 0) == Error::invalid_configuration);
  BOOST_TEST(launch_count(&unknown, {1}, {32}, 0) == Error::invalid_device_function);
  BOOST_TEST(launch_count(&missing, {1}, {32}, 0) == Error::symbol_not_found);
  BOOST_TEST(cudaLaunchKernel(&count, {1}, {32}, nullptr, 0, nullptr) == Error::invalid_value);
  // The device does not end by them.
  BOOST_TEST(launch_count(&count, {1}, {32}, 0) == Error::success);
  // 132 multiprocessors with 2048 threads each.
  void* none = nullptr;
  float by = 1;
  unsigned n = 0;
  void* arguments[] = {&none, &by, &n};
  BOOST_TEST(cudaLaunchCooperativeKernel(&scale, {264}, {1024}, arguments, 0, nullptr) ==
             Error::success);
  BOOST_TEST(cudaLaunchCooperativeKernel(&scale, {265}, {1024}, arguments, 0, nullptr) ==
             Error::cooperative_launch_too_large);
}

BOOST_AUTO_TEST_CASE(more_registers_than_a_multiprocessor_has_are_refused) {
  // As ptxas compiled it, 168 registers a thread: room for 12 warps of 168 * 32 each, 384 threads.
  Program compiled(container(
      {entry(kernels), entry(machine_code("scale", 168), {.kind = 2, .architecture = 90})}));
  char kernel;
  compiled.add_kernel(&kernel, "scale");
  const auto launch = [&](unsigned threads) {
    void* none = nullptr;
    float by = 1;
    unsigned n = 0;
    void* arguments[] = {&none, &by, &n};
    return cudaLaunchKernel(&kernel, {1}, {threads}, arguments, 0, nullptr);
  };
  BOOST_TEST(launch(384) == Error::success);
  BOOST_TEST(launch(385) == Error::launch_out_of_resources);
  FunctionAttributes attributes;
  BOOST_TEST(cudaFuncGetAttributes(&attributes, &kernel) == Error::success);
  BOOST_TEST(attributes.threads_per_block == 384);
  BOOST_TEST(launch(32) == Error::success);
}

BOOST_AUTO_TEST_CASE(clusters_of_more_than_8_blocks_must_be_asked_for) {
  const auto launch = [](unsigned blocks) {
    program();
    const OnDevice memory(4);
    void* pointer = memory.pointer;
    void* arguments[] = {&pointer};
    LaunchAttribute cluster{};
    cluster.id = plumbline::ptx::cuda::attribute_cluster;
    cluster.cluster = {blocks};
    LaunchConfiguration configuration{{48}, {32}, 0, nullptr, &cluster, 1};
    return cudaLaunchKernelExC(&configuration, &count, arguments);
  };
  BOOST_TEST(launch(8) == Error::success);
  BOOST_TEST(launch(12) == Error::invalid_cluster_size);
  BOOST_TEST(cudaFuncSetAttribute(&count, FunctionAttribute::non_portable_cluster, 1) ==
             Error::success);
  BOOST_TEST(launch(12) == Error::success);
  BOOST_TEST(launch(16) == Error::success);
  BOOST_TEST(launch(24) == Error::invalid_configuration);
}

BOOST_AUTO_TEST_CASE(clusters_that_a_kernel_itself_states_must_be_asked_for_too) {
  std::string ptx = kernels;
  ptx.replace(ptx.find("sm_80"), 5, "sm_90");
  const std::string threads = ".maxntid 256, 1, 1\n";
  ptx.insert(ptx.find(threads) + threads.size(), ".reqnctapercluster 12, 1, 1\n");
  Program stating(ptx);
  static const char in_clusters = 0;
  stating.add_kernel(&in_clusters, "count");
  BOOST_TEST(launch_count(&in_clusters, {24}, {32}, 0) == Error::invalid_cluster_size);
  BOOST_TEST(cudaFuncSetAttribute(&in_clusters, FunctionAttribute::non_portable_cluster, 1) ==
             Error::success);
  BOOST_TEST(launch_count(&in_clusters, {24}, {32}, 0) == Error::success);
}

BOOST_AUTO_TEST_CASE(more_shared_memory_than_48_kib_must_be_asked_for) {
  program();
  // 1024 bytes are the kernel's own.
  BOOST_TEST(launch_count(&count, {1}, {32}, 48128) == Error::success);
  BOOST_TEST(launch_count(&count, {1}, {32}, 48129) == Error::invalid_value);
  const auto set = [](int bytes) {
    return cudaFuncSetAttribute(&count, FunctionAttribute::max_dynamic_shared, bytes);
  };
  BOOST_TEST(set(232448 - 1024 + 1) == Error::invalid_value);
  BOOST_TEST(set(-1) == Error::invalid_value);
  BOOST_TEST(set(100000) == Error::success);
  BOOST_TEST(launch_count(&count, {1}, {32}, 100000) == Error::success);
  BOOST_TEST(launch_count(&count, {1}, {32}, 100001) == Error::invalid_value);
  FunctionAttributes attributes{};
  BOOST_TEST(cudaFuncGetAttributes(&attributes, &count) == Error::success);
  BOOST_TEST(attributes.shared_bytes == 1024U);
  BOOST_TEST(attributes.dynamic_shared_bytes == 100000);
  BOOST_TEST(attributes.threads_per_block == 256);
  BOOST_TEST(attributes.ptx_version == 80);
  BOOST_TEST(attributes.binary_version == 90);
}

BOOST_AUTO_TEST_CASE(occupancy_is_what_fits_into_a_multiprocessor) {
  program();
  const auto blocks = [](const void* kernel, int threads, std::size_t shared) {
    int number = -1;
    BOOST_TEST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, kernel, threads, shared) ==
               Error::success);
    return number;
  };
  // 2048 threads, 32 blocks; 228 KiB, of which a block takes 1 KiB for the system.
  BOOST_TEST(blocks(&scale, 1024, 0) == 2);
  BOOST_TEST(blocks(&scale, 32, 0) == 32);
  BOOST_TEST(blocks(&scale, 96, 0) == 21);
  BOOST_TEST(blocks(&scale, 32, 99 * 1024) == 2);
  BOOST_TEST(blocks(&scale, 32, 113 * 1024) == 2);
  BOOST_TEST(blocks(&scale, 32, 114 * 1024) == 1);
  BOOST_TEST(blocks(&count, 32, 112 * 1024) == 2);
  BOOST_TEST(blocks(&count, 32, 113 * 1024) == 1);
  BOOST_TEST(blocks(&scale, 1025, 0) == 0);
}

BOOST_AUTO_TEST_CASE(memory_is_copied_between_the_host_and_the_device) {
  const auto values = counted(64);
  std::vector<float> back(64);
  const OnDevice one(256), other(256);
  Stream* stream = nullptr;
  BOOST_TEST(cudaStreamCreate(&stream) == Error::success);
  BOOST_TEST(cudaMemcpyAsync(one.pointer, values.data(), 256, CopyKind::by_address, stream) ==
             Error::success);
  BOOST_TEST(cudaMemcpy(other.pointer, one.pointer, 256, CopyKind::by_address) == Error::success);
  BOOST_TEST(cudaMemset(other.pointer, 0, 8) == Error::success);
  BOOST_TEST(cudaMemcpyAsync(back.data(), other.pointer, 256, CopyKind::by_address, stream) ==
             Error::success);
  BOOST_TEST(cudaStreamSynchronize(stream) == Error::success);
  auto expected = values;
  expected[0] = expected[1] = 0;
  BOOST_TEST(back == expected, boost::test_tools::per_element());
  BOOST_TEST(cudaStreamDestroy(stream) == Error::success);
  BOOST_TEST(cudaStreamSynchronize(stream) == Error::invalid_resource_handle);

  // The columns 1 and 2 of 4 rows of 4 numbers.
  std::vector<float> columns(8);
  BOOST_TEST(cudaMemcpy2D(columns.data(), 8, static_cast<float*>(one.pointer) + 1, 16, 8, 4,
                          CopyKind::device_to_host) == Error::success);
  BOOST_TEST(columns == (std::vector<float>{2, 3, 6, 7, 10, 11, 14, 15}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(copies_and_frees_of_what_is_not_there_fail) {
  std::vector<char> host(64);
  const OnDevice memory(32);
  BOOST_TEST(cudaMemcpy(memory.pointer, host.data(), 33, CopyKind::host_to_device) ==
             Error::invalid_value);
  BOOST_TEST(cudaMemcpy(host.data(), host.data(), 1, CopyKind::device_to_host) ==
             Error::invalid_value);
  BOOST_TEST(cudaMemcpy(host.data(), memory.pointer, 33, CopyKind::by_address) ==
             Error::invalid_value);
  BOOST_TEST(cudaMemcpy(nullptr, host.data(), 1, CopyKind::by_address) == Error::invalid_value);
  BOOST_TEST(cudaMemcpy(host.data(), host.data(), 1, static_cast<CopyKind>(5)) ==
             Error::invalid_memcpy_direction);
  BOOST_TEST(cudaMemset(memory.pointer, 0, 33) == Error::invalid_value);
  BOOST_TEST(cudaFree(nullptr) == Error::success);
  BOOST_TEST(cudaFree(host.data()) == Error::invalid_value);
  BOOST_TEST(cudaFree(static_cast<char*>(memory.pointer) + 8) == Error::invalid_value);
  BOOST_TEST(cudaFreeHost(memory.pointer) == Error::invalid_value);
  std::size_t free = 0, total = 0, less = 0;
  BOOST_TEST(cudaMemGetInfo(&free, &total) == Error::success);
  void* pointer = nullptr;
  BOOST_TEST(cudaMalloc(&pointer, total) == Error::memory_allocation);
  BOOST_TEST(pointer == nullptr);
  BOOST_TEST(cudaMalloc(&pointer, 1000) == Error::success);
  BOOST_TEST(cudaMemGetInfo(&less, &total) == Error::success);
  BOOST_TEST(free - less == 1000U);
  BOOST_TEST(cudaFree(pointer) == Error::success);
  BOOST_TEST(cudaFree(pointer) == Error::invalid_value);
  BOOST_TEST(cudaMemGetInfo(&less, &total) == Error::success);
  BOOST_TEST(less == free);
  BOOST_TEST(cudaMalloc(&pointer, 0) == Error::success);
  BOOST_TEST(pointer == nullptr);
}

BOOST_AUTO_TEST_CASE(host_memory_is_the_device_s_too) {
  using plumbline::ptx::cuda::MemoryType;
  const auto type = [](const void* pointer) {
    PointerAttributes13 attributes;
    std::memset(&attributes, 0xFF, sizeof attributes);
    BOOST_TEST(cudaPointerGetAttributes(&attributes, pointer) == Error::success);
    BOOST_TEST(attributes.reserved[7] == 0);
    return attributes.type;
  };
  void *pinned = nullptr, *managed = nullptr;
  BOOST_TEST(cudaMallocHost(&pinned, 100) == Error::success);
  BOOST_TEST(cudaMallocManaged(&managed, 100, 1) == Error::success);
  std::vector<char> pageable(100);
  const OnDevice memory(100);
  BOOST_TEST((type(pinned) == MemoryType::host));
  BOOST_TEST((type(static_cast<char*>(pinned) + 99) == MemoryType::host));
  BOOST_TEST((type(static_cast<char*>(pinned) + 100) == MemoryType::unregistered));
  BOOST_TEST((type(managed) == MemoryType::managed));
  BOOST_TEST((type(memory.pointer) == MemoryType::device));
  BOOST_TEST((type(pageable.data()) == MemoryType::unregistered));
  BOOST_TEST(cudaHostRegister(pageable.data(), 100, 0) == Error::success);
  BOOST_TEST((type(pageable.data()) == MemoryType::host));
  BOOST_TEST(cudaHostRegister(pageable.data() + 50, 10, 0) ==
             Error::host_memory_already_registered);
  BOOST_TEST(cudaHostUnregister(pageable.data()) == Error::success);
  BOOST_TEST(cudaHostUnregister(pageable.data()) == Error::host_memory_not_registered);
  program();
  auto* numbers = static_cast<float*>(managed);
  numbers[1] = 5;
  float by = 2;
  unsigned n = 2;
  void* arguments[] = {&managed, &by, &n};
  BOOST_TEST(cudaLaunchKernel(&scale, {1}, {32}, arguments, 0, nullptr) == Error::success);
  BOOST_TEST(numbers[1] == 10);
  BOOST_TEST(cudaFreeHost(pinned) == Error::success);
  BOOST_TEST(cudaFree(managed) == Error::success);
}

BOOST_AUTO_TEST_CASE(variables_are_found_by_their_shadow) {
  program();
  unsigned value = 0;
  const auto from = CopyKind::device_to_host, to = CopyKind::host_to_device;
  BOOST_TEST(cudaMemcpyFromSymbol(&value, &counter, 4, 0, from) == Error::success);
  BOOST_TEST(value == 7U);
  value = 11;
  BOOST_TEST(cudaMemcpyToSymbol(&counter, &value, 4, 0, to) == Error::success);
  const OnDevice memory(4);
  void* pointer = memory.pointer;
  void* arguments[] = {&pointer};
  BOOST_TEST(cudaLaunchKernel(&count, {1}, {1}, arguments, 0, nullptr) == Error::success);
  value = 0;
  BOOST_TEST(cudaMemcpy(&value, memory.pointer, 4, from) == Error::success);
  BOOST_TEST(value == 11U);
  std::size_t size = 0;
  BOOST_TEST(cudaGetSymbolSize(&size, &table) == Error::success);
  BOOST_TEST(size == 16U);
  BOOST_TEST(cudaMemcpyToSymbol(&table, &value, 4, 12, to) == Error::success);
  BOOST_TEST(cudaMemcpyToSymbol(&table, &value, 4, 13, to) == Error::invalid_value);
  BOOST_TEST(cudaMemcpyToSymbol(&table, &value, 4, 0, from) == Error::invalid_memcpy_direction);
  BOOST_TEST(cudaMemcpyToSymbol(&unknown, &value, 4, 0, to) == Error::invalid_symbol);
  BOOST_TEST(cudaGetSymbolAddress(&pointer, &unknown) == Error::invalid_symbol);
}

BOOST_AUTO_TEST_CASE(a_reset_loads_the_program_s_kernels_and_variables_anew) {
  program();
  unsigned value = 99;
  BOOST_TEST(cudaMemcpyToSymbol(&counter, &value, 4, 0, CopyKind::host_to_device) ==
             Error::success);
  BOOST_TEST(cudaDeviceReset() == Error::success);
  BOOST_TEST(cudaMemcpyFromSymbol(&value, &counter, 4, 0, CopyKind::device_to_host) ==
             Error::success);
  BOOST_TEST(value == 7U);
  BOOST_TEST(launch_count(&count, {1}, {32}, 0) == Error::success);
}

BOOST_AUTO_TEST_CASE(the_device_says_what_it_is) {
  int number = 0;
  BOOST_TEST(cudaGetDeviceCount(&number) == Error::success);
  BOOST_TEST(number == 1);
  BOOST_TEST(cudaSetDevice(0) == Error::success);
  BOOST_TEST(cudaSetDevice(1) == Error::invalid_device);
  BOOST_TEST(cudaRuntimeGetVersion(&number) == Error::success);
  BOOST_TEST(number == 13000);
  BOOST_TEST(cudaDeviceGetAttribute(&number, DeviceAttribute::max_shared_per_block_optin, 0) ==
             Error::success);
  BOOST_TEST(number == 232448);
  BOOST_TEST(cudaDeviceGetAttribute(&number, DeviceAttribute::warp_size, 1) ==
             Error::invalid_device);
  BOOST_TEST(cudaDeviceGetAttribute(&number, DeviceAttribute::end, 0) == Error::invalid_value);
  DeviceProperties properties;
  std::memset(&properties, 0xFF, sizeof properties);
  BOOST_TEST(cudaGetDeviceProperties(&properties, 0) == Error::success);
  BOOST_TEST(properties.name == std::string("Plumbline software device, compute capability 9.0"));
  BOOST_TEST(properties.multiprocessors == 132);
  BOOST_TEST(properties.max_grid[2] == 65535);
  BOOST_TEST(properties.integrated == 0);
  BOOST_TEST(cudaGetDeviceProperties(&properties, 1) == Error::invalid_device);
}

BOOST_AUTO_TEST_CASE(the_last_error_is_kept_until_it_is_read_and_is_the_thread_s_own) {
  cudaGetLastError();
  BOOST_TEST(cudaSetDevice(7) == Error::invalid_device);
  BOOST_TEST(cudaSetDevice(0) == Error::success);
  std::thread([] { BOOST_TEST(cudaGetLastError() == Error::success); }).join();
  BOOST_TEST(cudaPeekAtLastError() == Error::invalid_device);
  BOOST_TEST(cudaGetLastError() == Error::invalid_device);
  BOOST_TEST(cudaGetLastError() == Error::success);
  BOOST_TEST(cudaGetErrorName(Error::invalid_device) == std::string("cudaErrorInvalidDevice"));
  BOOST_TEST(cudaGetErrorString(Error::invalid_device) == std::string("invalid device ordinal"));
  BOOST_TEST(cudaGetErrorString(static_cast<Error>(12345)) ==
             std::string("unrecognized error code"));
}

// As static objects do, which are destroyed after what is thread_local.
BOOST_AUTO_TEST_CASE(what_outlives_the_thread_s_own_objects_still_calls_cuda) {
  static Error popped, unknown_name, destroyed;
  struct Last {
    Stream* stream = nullptr;

    void launch() const {
      Dim3 dim;
      std::size_t shared;
      Stream* used;
      __cudaPushCallConfiguration({1}, {32}, 0, stream);
      popped = __cudaPopCallConfiguration(&dim, &dim, &shared, &used);
      unknown_name = launch_count(&missing, {1}, {32}, 0);
    }
    ~Last() {
      launch();
      destroyed = cudaStreamDestroy(stream);
    }
  };
  std::thread([] {
    static thread_local Last last;
    BOOST_TEST(cudaStreamCreate(&last.stream) == Error::success);
    last.launch();
    popped = unknown_name = destroyed = Error::unknown;
  }).join();
  BOOST_TEST(popped == Error::success);
  BOOST_TEST(unknown_name == Error::symbol_not_found);
  BOOST_TEST(destroyed == Error::success);
}

BOOST_AUTO_TEST_CASE(events_have_the_time_of_the_clock) {
  Event *first = nullptr, *second = nullptr;
  BOOST_TEST(cudaEventCreate(&first) == Error::success);
  BOOST_TEST(cudaEventCreate(&second) == Error::success);
  float milliseconds = -1;
  BOOST_TEST(cudaEventRecord(first, nullptr) == Error::success);
  BOOST_TEST(cudaEventElapsedTime(&milliseconds, first, second) == Error::invalid_resource_handle);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  BOOST_TEST(cudaEventRecord(second, nullptr) == Error::success);
  BOOST_TEST(cudaEventElapsedTime(&milliseconds, first, second) == Error::success);
  BOOST_TEST(milliseconds >= 20);
  BOOST_TEST(milliseconds < 20000);
  BOOST_TEST(cudaEventDestroy(first) == Error::success);
  BOOST_TEST(cudaEventDestroy(second) == Error::success);
}

BOOST_AUTO_TEST_CASE(a_program_without_ptx_or_with_ptx_that_is_none_is_told_so) {
  char text[1000] = "";
  {
    Program machine_code("code", {.kind = 2, .architecture = 90});
    machine_code.add_kernel(&unknown, "kernel");
    BOOST_TEST(launch_count(&unknown, {1}, {32}, 0) == Error::no_kernel_image_for_device);
    BOOST_TEST(plumbline_device_binaries(text, sizeof text) == -1);
    BOOST_TEST(std::string(text).starts_with("it has machine code for sm_90 and no PTX"));
  }
  {
    Program broken(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel( oops");
    broken.add_kernel(&unknown, "kernel");
    BOOST_TEST(launch_count(&unknown, {1}, {32}, 0) == Error::invalid_ptx);
    BOOST_TEST(plumbline_device_trouble(text, sizeof text, nullptr) == 3);
    BOOST_TEST(std::string(text).starts_with("PTX line 4: "));
    BOOST_TEST(plumbline_device_trouble(text, sizeof text, nullptr) == 0);
  }
  // Unregistered, they are no more.
  BOOST_TEST(launch_count(&unknown, {1}, {32}, 0) == Error::invalid_device_function);
  BOOST_TEST(plumbline_device_binaries(text, sizeof text) == 1);
}

struct {
  int kind = 0;
  std::string text;
  std::uint64_t address = 0;
} heard;

void hear(int kind, const char* text, std::uint64_t address) { heard = {kind, text, address}; }

// The last: it leaves a device that does nothing any more.
BOOST_AUTO_TEST_CASE(after_a_fault_every_call_fails_with_its_error) {
  program();
  const OnDevice memory(400);
  BOOST_TEST(cudaMemset(memory.pointer, 0, 400) == Error::success);
  void* pointer = memory.pointer;
  float by = 3;
  unsigned n = 101;
  void* arguments[] = {&pointer, &by, &n};
  plumbline_device_listen(hear);
  cudaGetLastError();
  BOOST_TEST(cudaLaunchKernel(&scale, {4}, {32}, arguments, 0, nullptr) == Error::illegal_address);
  BOOST_TEST(cudaDeviceSynchronize() == Error::illegal_address);
  BOOST_TEST(cudaMemset(pointer, 0, 4) == Error::illegal_address);
  for (int n = 0; n < 2; ++n) BOOST_TEST(cudaGetLastError() == Error::illegal_address);
  std::thread([] { BOOST_TEST(cudaPeekAtLastError() == Error::illegal_address); }).join();
  char text[1000] = "";
  for (int n = 0; n < 2; ++n) {
    std::uint64_t address = 0;
    BOOST_TEST(plumbline_device_trouble(text, sizeof text, &address) == 1);
    BOOST_TEST(address == reinterpret_cast<std::uint64_t>(pointer) + 400);
  }
  const std::string words = text;
  BOOST_TEST(heard.kind == 1);
  BOOST_TEST(heard.text == words);
  BOOST_TEST(heard.address == reinterpret_cast<std::uint64_t>(pointer) + 400);
  BOOST_TEST(words.find("scale") != words.npos);
  BOOST_TEST(words.find("ld.global.f32") != words.npos);
  BOOST_TEST(words.find("PTX line 28") != words.npos);
}
