// SPDX-License-Identifier: Apache-2.0
// CUDA's driver on the software device: memory, its copies and settings, and what is said of
// pointers.
#include <cstring>

#include "tests/gpu/ptx/cuda_driver/on_driver.hpp"

using namespace plumbline::test;

BOOST_FIXTURE_TEST_CASE(memory_is_allocated_and_freed, InContext) {
  std::size_t free = 0, total = 0, less = 0;
  BOOST_TEST(cuMemGetInfo_v2(&free, &total) == success);
  Address at = 0;
  BOOST_TEST(cuMemAlloc_v2(&at, 0) == Error::invalid_value);
  BOOST_TEST(cuMemAlloc_v2(nullptr, 1) == Error::invalid_value);
  BOOST_TEST(cuMemAlloc_v2(&at, total + 1) == Error::memory_allocation);
  BOOST_TEST(cuMemAlloc_v2(&at, 1000) == success);
  BOOST_TEST(cuMemGetInfo_v2(&less, &total) == success);
  BOOST_TEST(free - less == 1000U);
  Address begin = 0;
  std::size_t bytes = 0;
  BOOST_TEST(cuMemGetAddressRange_v2(&begin, &bytes, at + 999) == success);
  BOOST_TEST(begin == at);
  BOOST_TEST(bytes == 1000U);
  BOOST_TEST(cuMemGetAddressRange_v2(&begin, &bytes, at + 1000) == Error::symbol_not_found);
  BOOST_TEST(cuMemFree_v2(at + 8) == Error::invalid_value);
  BOOST_TEST(cuMemFree_v2(at) == success);
  BOOST_TEST(cuMemFree_v2(at) == Error::invalid_value);
  BOOST_TEST(cuMemFree_v2(0) == success);
  std::size_t pitch = 0;
  BOOST_TEST(cuMemAllocPitch_v2(&at, &pitch, 513, 3, 4) == success);
  BOOST_TEST(pitch == 1024U);
  BOOST_TEST(cuMemGetAddressRange_v2(&begin, &bytes, at) == success);
  BOOST_TEST(bytes == 3072U);
  BOOST_TEST(cuMemFree_v2(at) == success);
  BOOST_TEST(cuMemAllocPitch_v2(&at, &pitch, 513, 3, 5) == Error::invalid_value);
  void* pinned = nullptr;
  BOOST_TEST(cuMemHostAlloc(&pinned, 100, 0) == success);
  BOOST_TEST(cuMemFree_v2(reinterpret_cast<Address>(pinned)) == Error::invalid_value);
  BOOST_TEST(cuMemFreeHost(pinned) == success);
  BOOST_TEST(cuMemFreeHost(pinned) == Error::invalid_value);
  BOOST_TEST(cuMemAllocManaged(&at, 100, 0) == Error::invalid_value);
  BOOST_TEST(cuMemAllocManaged(&at, 100, 1) == success);
  std::memset(reinterpret_cast<void*>(at), 1, 100);
  BOOST_TEST(cuMemFree_v2(at) == success);
  BOOST_TEST(cuMemAllocAsync(&at, 100, nullptr) == success);
  BOOST_TEST(cuMemFreeAsync(at, nullptr) == success);
  BOOST_TEST(cuMemGetInfo_v2(&less, &total) == success);
  BOOST_TEST(less == free);
}

BOOST_FIXTURE_TEST_CASE(a_pool_keeps_what_it_is_told, InContext) {
  Pool* pool = nullptr;
  BOOST_TEST(cuDeviceGetDefaultMemPool(&pool, 1) == Error::invalid_device);
  BOOST_TEST(cuDeviceGetDefaultMemPool(&pool, 0) == success);
  std::uint64_t threshold = 12345, read_back = 0;
  BOOST_TEST(cuMemPoolSetAttribute(pool, 4, &threshold) == success);
  BOOST_TEST(cuMemPoolGetAttribute(pool, 4, &read_back) == success);
  BOOST_TEST(read_back == 12345U);
  BOOST_TEST(cuMemPoolGetAttribute(pool, 9, &read_back) == Error::invalid_value);
  BOOST_TEST(cuMemPoolGetAttribute(nullptr, 4, &read_back) == Error::invalid_value);
}

BOOST_FIXTURE_TEST_CASE(values_of_every_width_are_set, InContext) {
  const OnDevice memory(64);
  BOOST_TEST(cuMemsetD8_v2(memory.at, 0, 64) == success);
  BOOST_TEST(cuMemsetD8_v2(memory.at + 1, 0xAB, 2) == success);
  BOOST_TEST(cuMemsetD16_v2(memory.at + 4, 0x1234, 2) == success);
  BOOST_TEST(cuMemsetD32_v2(memory.at + 8, 0xDEADBEEF, 1) == success);
  BOOST_TEST(cuMemsetD2D16_v2(memory.at + 32, 8, 0x5678, 1, 3) == success);
  const std::vector<std::uint32_t> expected = {
      0x00ABAB00, 0x12341234, 0xDEADBEEF, 0, 0, 0, 0, 0, 0x5678, 0, 0x5678, 0, 0x5678, 0, 0, 0};
  BOOST_TEST(read<std::uint32_t>(memory.at, 16) == expected, boost::test_tools::per_element());
  BOOST_TEST(cuMemsetD16_v2(memory.at + 1, 0, 1) == Error::invalid_value);
  BOOST_TEST(cuMemsetD32_v2(memory.at + 2, 0, 1) == Error::invalid_value);
  BOOST_TEST(cuMemsetD32_v2(memory.at, 0, 17) == Error::invalid_value);
  BOOST_TEST(cuMemsetD32_v2(memory.at, 0, SIZE_MAX / 2) == Error::invalid_value);
  BOOST_TEST(cuMemsetD2D16_v2(memory.at, 1, 0, 1, 2) == Error::invalid_value);
  BOOST_TEST(cuMemsetD8_v2(0, 0, 1) == Error::invalid_value);
}

BOOST_FIXTURE_TEST_CASE(bytes_are_copied_one_way_and_the_other, InContext) {
  const auto values = counted(16);
  const OnDevice one(64), other(64);
  BOOST_TEST(cuMemcpyHtoD_v2(one.at, values.data(), 64) == success);
  BOOST_TEST(cuMemcpyDtoD_v2(other.at, one.at, 64) == success);
  BOOST_TEST(read<float>(other.at, 16) == values, boost::test_tools::per_element());
  std::vector<float> back(16);
  const auto host = reinterpret_cast<Address>(back.data());
  BOOST_TEST(cuMemcpy(host, other.at, 64) == success);
  BOOST_TEST(back == values, boost::test_tools::per_element());
  BOOST_TEST(cuMemcpyHtoD_v2(one.at, values.data(), 65) == Error::invalid_value);
  BOOST_TEST(cuMemcpyHtoD_v2(host, values.data(), 4) == Error::invalid_value);
  BOOST_TEST(cuMemcpyHtoD_v2(one.at, nullptr, 4) == Error::invalid_value);
  BOOST_TEST(cuMemcpyDtoH_v2(back.data(), 0, 4) == Error::invalid_value);
  BOOST_TEST(cuMemcpyDtoD_v2(other.at, one.at + 60, 8) == Error::invalid_value);
}

BOOST_FIXTURE_TEST_CASE(rectangles_and_boxes_are_copied, InContext) {
  // 3 rows of 2 numbers from (1, 1) of a host's 4 by 4 into (0, 1) of a device's 2 by 4.
  const auto values = counted(16);
  const OnDevice memory(32);
  BOOST_TEST(cuMemsetD8_v2(memory.at, 0, 32) == success);
  Copy2 flat{};
  flat.from_x = 4, flat.from_y = 1, flat.from_type = 1, flat.from_host = values.data();
  flat.from_pitch = 16;
  flat.to_y = 1, flat.to_type = 2, flat.to_device = memory.at, flat.to_pitch = 8;
  flat.width = 8, flat.height = 3;
  BOOST_TEST(cuMemcpy2D_v2(&flat) == success);
  BOOST_TEST(read<float>(memory.at, 8) == (std::vector<float>{0, 0, 6, 7, 10, 11, 14, 15}),
             boost::test_tools::per_element());
  flat.to_type = 3;  // an array
  BOOST_TEST(cuMemcpy2D_v2(&flat) == Error::not_supported);
  flat.to_type = 5;
  BOOST_TEST(cuMemcpy2D_v2(&flat) == Error::invalid_value);
  flat.to_type = 2, flat.to_pitch = 4;
  BOOST_TEST(cuMemcpy2D_v2(&flat) == Error::invalid_value);
  BOOST_TEST(cuMemcpy2D_v2(nullptr) == Error::invalid_value);
  BOOST_TEST(cuMemcpy3D_v2(nullptr) == Error::invalid_value);

  // Of 2 slices of 2 by 2 numbers the second columns, to the host.
  const OnDevice cube(32);
  BOOST_TEST(cuMemcpyHtoD_v2(cube.at, values.data(), 32) == success);
  std::vector<float> column(4);
  Copy3 box{};
  box.from_x = 4, box.from_type = 2, box.from_device = cube.at, box.from_pitch = 8;
  box.from_height = 2;
  box.to_type = 1, box.to_host = column.data(), box.to_pitch = 4, box.to_height = 2;
  box.width = 4, box.height = 2, box.depth = 2;
  BOOST_TEST(cuMemcpy3D_v2(&box) == success);
  BOOST_TEST(column == (std::vector<float>{2, 4, 6, 8}), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(pointers_are_told_apart, InContext) {
  const OnDevice memory(100);
  void* pinned = nullptr;
  Address managed = 0;
  BOOST_TEST(cuMemHostAlloc(&pinned, 100, 1) == success);
  BOOST_TEST(cuMemAllocManaged(&managed, 100, 1) == success);
  const auto type = [](Address address) {
    unsigned value = 0;
    const Error error = cuPointerGetAttribute(&value, 2, address);
    return error == success ? static_cast<int>(value) : -1;
  };
  const auto is_managed = [](Address address) {
    unsigned value = 7;
    BOOST_TEST(cuPointerGetAttribute(&value, 8, address) == success);
    return value;
  };
  BOOST_TEST(type(memory.at) == 2);
  BOOST_TEST(type(memory.at + 99) == 2);
  BOOST_TEST(type(memory.at + 100) == -1);
  BOOST_TEST(type(reinterpret_cast<Address>(pinned)) == 1);
  BOOST_TEST(type(managed) == 2);
  BOOST_TEST(is_managed(managed) == 1U);
  BOOST_TEST(is_managed(memory.at) == 0U);
  Address start = 0;
  BOOST_TEST(cuPointerGetAttribute(&start, 11, memory.at + 50) == success);
  BOOST_TEST(start == memory.at);
  BOOST_TEST(cuPointerGetAttribute(&start, 4, memory.at) == Error::invalid_value);
  BOOST_TEST(cuPointerGetAttribute(&start, 5, memory.at) == Error::not_supported);
  BOOST_TEST(cuPointerGetAttribute(&start, 99, memory.at) == Error::invalid_value);
  BOOST_TEST(cuPointerGetAttribute(nullptr, 2, memory.at) == Error::invalid_value);
  // What CUDA does not know is no error for several attributes at once.
  int names[] = {2, 9, 11}, ordinal = 7;
  unsigned kind = 7;
  void* values[] = {&kind, &ordinal, &start};
  const std::vector<char> pageable(100);
  BOOST_TEST(cuPointerGetAttributes(3, names, values, reinterpret_cast<Address>(pageable.data())) ==
             success);
  BOOST_TEST(kind == 0U);
  BOOST_TEST(ordinal == -2);
  BOOST_TEST(start == 0U);
  BOOST_TEST(cuPointerGetAttributes(3, names, values, memory.at) == success);
  BOOST_TEST(kind == 2U);
  BOOST_TEST(ordinal == 0);
  BOOST_TEST(start == memory.at);
  BOOST_TEST(cuMemFreeHost(pinned) == success);
  BOOST_TEST(cuMemFree_v2(managed) == success);
}

BOOST_FIXTURE_TEST_CASE(the_host_s_memory_is_registered, InContext) {
  std::vector<char> pageable(100);
  BOOST_TEST(cuMemHostRegister_v2(pageable.data(), 100, 0) == success);
  BOOST_TEST(cuMemHostRegister_v2(pageable.data() + 50, 10, 0) ==
             Error::host_memory_already_registered);
  BOOST_TEST(cuMemHostRegister_v2(nullptr, 10, 0) == Error::invalid_value);
  BOOST_TEST(cuMemHostRegister_v2(pageable.data(), SIZE_MAX, 0) == Error::invalid_value);
  BOOST_TEST(cuMemHostUnregister(pageable.data()) == success);
  BOOST_TEST(cuMemHostUnregister(pageable.data()) == Error::host_memory_not_registered);
}
