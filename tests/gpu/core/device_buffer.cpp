// SPDX-License-Identifier: Apache-2.0
#include "core/device_buffer.cuh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <new>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(device_buffer_test)

namespace {

using namespace plumbline::gpu;

BOOST_AUTO_TEST_CASE(memory_that_nobody_wrote_is_nan_or_minus_one) {
  const Stream stream;
  const DeviceBuffer<double> sums(stream, 5000);
  const DeviceBuffer<int> counts(stream, 5000);
  for (std::size_t n = 0; n < 5000; ++n) {
    BOOST_REQUIRE(std::isnan(sums.data()[n]));
    BOOST_REQUIRE_EQUAL(counts.data()[n], -1);
  }
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_there_is_told_by_its_bytes) {
  const Stream stream;
  // 8 PiB, beyond what a processor of today can address.
  BOOST_CHECK_EXCEPTION(
      DeviceBuffer<double>(stream, std::size_t{1} << 50), std::bad_alloc, [](const auto& error) {
        return std::string(error.what()).find("9007199254740992 bytes") != std::string::npos;
      });
  BOOST_TEST(DeviceMemory::used == 0u);
}

BOOST_AUTO_TEST_CASE(a_part_is_copied_in_and_the_whole_comes_back) {
  const Stream stream;
  DeviceBuffer<int> buffer(stream, 5);
  const std::vector<int> in{7, 8};
  buffer.copy_from_host(stream, in.data(), 2, in.size());
  std::vector<int> out(5);
  buffer.copy_to_host(stream, out.data());
  stream.wait();
  BOOST_TEST(out == (std::vector<int>{-1, -1, 7, 8, -1}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
