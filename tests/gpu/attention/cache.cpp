// SPDX-License-Identifier: Apache-2.0
// A cache that grows: what is appended stands where decoding reads it, bit by bit, and nothing
// else changes.
#include "attention/cache.cuh"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/device_buffer.cuh"

BOOST_AUTO_TEST_SUITE(cache_test)

namespace {

using namespace plumbline::gpu;

constexpr int kBatch = 2, kHeads = 3, kCapacity = 11, kDim = 48, kRows = kBatch * kHeads;

template <class T>
DeviceBuffer<T> on_device(const Stream& stream, const std::vector<T>& values) {
  DeviceBuffer<T> buffer(stream, values.size());
  buffer.copy_from_host(stream, values.data(), 0, values.size());
  return buffer;
}

template <class T>
std::vector<T> from_device(const Stream& stream, const DeviceBuffer<T>& buffer) {
  std::vector<T> values(buffer.size());
  buffer.copy_to_host(stream, values.data());
  stream.wait();
  return values;
}

template <class Bits>
void check_rows(Format format) {
  const Stream stream;
  std::vector<Bits> expected(kRows * kCapacity * kDim, Bits{9});
  const auto cache = on_device(stream, expected);
  int before = 0;
  for (const int added : {4, 1, 5}) {  // the last place stays free
    std::vector<Bits> rows(kRows * added * kDim);
    std::iota(rows.begin(), rows.end(), static_cast<Bits>(1000 * added));
    append_rows(stream, format, {kBatch, kHeads, kCapacity, before, added}, kDim,
                on_device(stream, rows).data(), cache.data());
    for (int head = 0; head < kRows; ++head)
      for (int t = 0; t < added; ++t)
        for (int d = 0; d < kDim; ++d)
          expected[(head * kCapacity + before + t) * kDim + d] =
              rows[(head * added + t) * kDim + d];
    before += added;
  }
  BOOST_TEST(from_device(stream, cache) == expected);
}

BOOST_AUTO_TEST_CASE(rows_stand_after_those_before) {
  check_rows<std::uint32_t>(Format::fp32);
  check_rows<std::uint16_t>(Format::bf16);
}

BOOST_AUTO_TEST_CASE(sums_go_on_from_the_last_one_in_double) {
  const Stream stream;
  // 1 + 2^-30 k: a sum in float would lose it.
  const auto increment = [](int head, int i) {
    return i == 0 ? 1.0f : 0x1p-30f * static_cast<float>(head + i);
  };
  std::vector<double> expected(kRows * kCapacity, -1.0);
  const auto sums = on_device(stream, expected);
  int before = 0;
  for (const int added : {4, 1, 5}) {
    std::vector<float> increments;
    for (int head = 0; head < kRows; ++head)
      for (int t = 0; t < added; ++t) increments.push_back(increment(head, before + t));
    append_prefix_sums(stream, {kBatch, kHeads, kCapacity, before, added},
                       on_device(stream, increments).data(), sums.data());
    before += added;
  }
  for (int head = 0; head < kRows; ++head) {
    double sum = 0.0;
    for (int i = 0; i < before; ++i)
      expected[head * kCapacity + i] = sum += static_cast<double>(increment(head, i));
  }
  BOOST_TEST(from_device(stream, sums) == expected);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Stream stream;
  const DeviceBuffer<float> rows(stream, 4096), cache(stream, 4096);
  const DeviceBuffer<double> sums(stream, 64);
  const auto refused = [&](const Appended& shape) {
    BOOST_CHECK_THROW(append_rows(stream, Format::fp32, shape, 16, rows.data(), cache.data()),
                      std::invalid_argument);
    BOOST_CHECK_THROW(append_prefix_sums(stream, shape, rows.data(), sums.data()),
                      std::invalid_argument);
  };
  refused({0, 1, 8, 0, 1});
  refused({1, 0, 8, 0, 1});
  refused({1, 1, 8, -1, 1});
  refused({1, 1, 8, 0, 0});
  refused({1, 1, 8, 4, 5});
  refused({1, 1, 8, 2147483647, 1});
  const Appended good{1, 1, 8, 0, 1};
  BOOST_CHECK_THROW(append_rows(stream, Format::fp32, good, 12, rows.data(), cache.data()),
                    std::invalid_argument);
  BOOST_CHECK_THROW(append_rows(stream, Format::fp32, good, 16, rows.data() + 1, cache.data()),
                    std::invalid_argument);
  BOOST_CHECK_THROW(append_prefix_sums(stream, good, nullptr, sums.data()), std::invalid_argument);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
