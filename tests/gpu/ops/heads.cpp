// SPDX-License-Identifier: Apache-2.0
// Heads taken out of rows of tokens and put back: copies, compared bit by bit with their formula.
#include "ops/heads.cuh"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/device_buffer.cuh"

BOOST_AUTO_TEST_SUITE(heads_test)

namespace {

using namespace plumbline::gpu;

constexpr int kBatch = 2, kLength = 5, kHeads = 3, kDim = 48, kWidth = kHeads * kDim;
constexpr int kStride = 3 * kWidth;  // q | k | v
constexpr HeadColumns kShape{kBatch, kLength, kHeads, kDim, kStride};

/// Numbers that tell their own place.
template <class Bits>
std::vector<Bits> numbered(std::size_t count) {
  std::vector<Bits> values(count);
  std::iota(values.begin(), values.end(), Bits{0});
  return values;
}

template <class Bits>
DeviceBuffer<Bits> on_device(const Stream& stream, const std::vector<Bits>& values) {
  DeviceBuffer<Bits> buffer(stream, values.size());
  buffer.copy_from_host(stream, values.data(), 0, values.size());
  return buffer;
}

template <class Bits>
std::vector<Bits> from_device(const Stream& stream, const DeviceBuffer<Bits>& buffer) {
  std::vector<Bits> values(buffer.size());
  buffer.copy_to_host(stream, values.data());
  stream.wait();
  return values;
}

/// Of the keys, whose columns begin at `width`.
template <class Bits>
void check_both_ways(Format format) {
  const Stream stream;
  const auto columns = numbered<Bits>(kBatch * kLength * kStride);
  const auto dev_columns = on_device(stream, columns);
  const DeviceBuffer<Bits> dev_split(stream, kBatch * kLength * kWidth);
  split_heads(stream, format, kShape, dev_columns.data() + kWidth, dev_split.data());
  const auto split = from_device(stream, dev_split);
  for (int b = 0; b < kBatch; ++b)
    for (int h = 0; h < kHeads; ++h)
      for (int t = 0; t < kLength; ++t)
        for (int d = 0; d < kDim; ++d)
          BOOST_REQUIRE(split[((b * kHeads + h) * kLength + t) * kDim + d] ==
                        columns[(b * kLength + t) * kStride + kWidth + h * kDim + d]);

  // Into rows of something else, where the columns around stay as they are.
  auto expected = std::vector<Bits>(columns.size(), Bits{7});
  const auto dev_merged = on_device(stream, expected);
  merge_heads(stream, format, kShape, dev_split.data(), dev_merged.data() + kWidth);
  for (int row = 0; row < kBatch * kLength; ++row)
    std::copy_n(columns.begin() + row * kStride + kWidth, kWidth,
                expected.begin() + row * kStride + kWidth);
  BOOST_TEST(from_device(stream, dev_merged) == expected);
}

BOOST_AUTO_TEST_CASE(heads_of_four_byte_elements_are_split_and_merged) {
  check_both_ways<std::uint32_t>(Format::fp32);
  check_both_ways<std::uint32_t>(Format::tf32);
}

BOOST_AUTO_TEST_CASE(heads_of_two_byte_elements_are_split_and_merged) {
  check_both_ways<std::uint16_t>(Format::bf16);
  check_both_ways<std::uint16_t>(Format::fp16);
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_fit_are_refused) {
  const Stream stream;
  const DeviceBuffer<float> a(stream, 1024), b(stream, 1024);
  const auto refused = [&](HeadColumns shape, const float* from, float* to) {
    BOOST_CHECK_THROW(split_heads(stream, Format::fp32, shape, from, to), std::invalid_argument);
    BOOST_CHECK_THROW(merge_heads(stream, Format::fp32, shape, from, to), std::invalid_argument);
  };
  const HeadColumns good{1, 2, 2, 16, 32};
  split_heads(stream, Format::fp32, good, a.data(), b.data());
  refused({0, 2, 2, 16, 32}, a.data(), b.data());
  refused({1, 0, 2, 16, 32}, a.data(), b.data());
  refused({1, 2, 0, 16, 32}, a.data(), b.data());
  refused({1, 2, 2, 12, 32}, a.data(), b.data());
  refused({1, 2, 2, 16, 24}, a.data(), b.data());
  refused({1, 2, 2, 16, 36}, a.data(), b.data());
  refused(good, nullptr, b.data());
  refused(good, a.data(), nullptr);
  refused(good, a.data() + 1, b.data());
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
