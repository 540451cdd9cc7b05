// SPDX-License-Identifier: Apache-2.0
// A cache that grows: what is appended stands where decoding reads it, bit by bit, and nothing
// else changes.
#include "attention/cache.cuh"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/device_buffer.cuh"

BOOST_AUTO_TEST_SUITE(cache_test)

namespace {

using namespace plumbline::gpu;

constexpr int kHeads = 4, kKvHeads = 2, kCapacity = 11, kDim = 48;
constexpr int kStride = (kHeads + 2 * kKvHeads) * kDim + 5;  // of a token: q | k | v, and more

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

/// What three calls leave, of 4, 1 and 5 tokens: the last place stays free. `rotate` is what is
/// expected of component d of a row at a position.
template <class Number, class Rotate>
void check_rows(Format format, const Rotation& rotation, const Rotate& rotate) {
  const Stream stream;
  std::vector<Number> expected_k(kKvHeads * kCapacity * kDim, Number{9}), expected_v = expected_k;
  const auto k = on_device(stream, expected_k), v = on_device(stream, expected_v);
  int before = 0;
  for (const int count : {4, 1, 5}) {
    std::vector<Number> columns(count * kStride), expected_q(kHeads * count * kDim);
    std::iota(columns.begin(), columns.end(), static_cast<Number>(7000 + 1000 * count));
    const auto rows = on_device(stream, columns);
    const DeviceBuffer<Number> queries(stream, expected_q.size());
    const int first_k = kHeads * kDim, first_v = first_k + kKvHeads * kDim;
    append_tokens(stream,
                  {kHeads, kKvHeads, kDim, kCapacity, count,
                   on_device(stream, std::vector<int>{before}).data()},
                  {format,
                   {rows.data(), kStride},
                   {rows.data() + first_k, kStride},
                   {rows.data() + first_v, kStride},
                   rotation,
                   queries.data(),
                   k.data(),
                   v.data(),
                   nullptr,
                   nullptr});
    for (int t = 0; t < count; ++t) {
      const Number* const token = columns.data() + t * kStride;
      for (int d = 0; d < kDim; ++d) {
        for (int h = 0; h < kHeads; ++h)
          expected_q[(h * count + t) * kDim + d] = rotate(token + h * kDim, d, before + t);
        for (int h = 0; h < kKvHeads; ++h) {
          const int place = (h * kCapacity + before + t) * kDim + d;
          expected_k[place] = rotate(token + first_k + h * kDim, d, before + t);
          expected_v[place] = token[first_v + h * kDim + d];
        }
      }
    }
    BOOST_TEST(from_device(stream, queries) == expected_q);
    before += count;
  }
  BOOST_TEST(from_device(stream, k) == expected_k);
  BOOST_TEST(from_device(stream, v) == expected_v);
}

BOOST_AUTO_TEST_CASE(rows_stand_after_those_before) {
  const auto same = [](const auto* row, int d, int) { return row[d]; };
  check_rows<float>(Format::fp32, {}, same);
  check_rows<std::uint16_t>(Format::bf16, {}, same);
}

// Angles of a quarter turn times pair and position: the components change places and signs exactly.
BOOST_AUTO_TEST_CASE(queries_and_keys_are_rotated_by_their_own_position) {
  for (const bool interleaved : {false, true}) {
    for (const int dim : {kDim, 32}) {
      const Stream stream;
      const float quarters[] = {1.0f, 0.0f, -1.0f, 0.0f};  // cosines
      std::vector<float> cosine, sine;
      for (int position = 0; position < kCapacity; ++position)
        for (int pair = 0; pair < dim / 2; ++pair) {
          cosine.push_back(quarters[position * (pair + 1) % 4]);
          sine.push_back(quarters[(position * (pair + 1) + 3) % 4]);
        }
      const auto cosines = on_device(stream, cosine), sines = on_device(stream, sine);
      check_rows<float>(Format::fp32, {cosines.data(), sines.data(), interleaved, dim},
                        [&](const float* row, int d, int position) {
                          if (d >= dim) return row[d];
                          const int pair = interleaved ? d / 2 : d % (dim / 2);
                          const int first = interleaved ? 2 * pair : pair,
                                    step = interleaved ? 1 : dim / 2;
                          const float a = row[first], b = row[first + step];
                          const int turns = position * (pair + 1) % 4;  // (a, b) -> (-b, a)
                          const float turned[] = {a, -b, -a, b};
                          return turned[(d == first ? turns : turns + 3) % 4];
                        });
    }
  }
}

BOOST_AUTO_TEST_CASE(sums_go_on_from_the_last_one_in_double) {
  const Stream stream;
  // 1 + 2^-30 k: a sum in float would lose it.
  const auto increment = [](int head, int i) {
    return i == 0 ? 1.0f : 0x1p-30f * static_cast<float>(head + i);
  };
  std::vector<double> expected(kHeads * kCapacity, -1.0);
  const auto sums = on_device(stream, expected);
  const DeviceBuffer<float> rows(stream, 5 * kStride), cache(stream, kHeads * kCapacity * kDim);
  int before = 0;
  for (const int count : {4, 1, 5}) {
    std::vector<float> increments;
    for (int head = 0; head < kHeads; ++head)
      for (int t = 0; t < count; ++t) increments.push_back(increment(head, before + t));
    const HeadRows same{rows.data(), kStride};
    append_tokens(stream,
                  {kHeads, kKvHeads, kDim, kCapacity, count,
                   on_device(stream, std::vector<int>{before}).data()},
                  {Format::fp32,
                   same,
                   same,
                   same,
                   {},
                   cache.data(),
                   cache.data(),
                   cache.data(),
                   on_device(stream, increments).data(),
                   sums.data()});
    before += count;
  }
  for (int head = 0; head < kHeads; ++head) {
    double sum = 0.0;
    for (int i = 0; i < before; ++i)
      expected[head * kCapacity + i] = sum += static_cast<double>(increment(head, i));
  }
  BOOST_TEST(from_device(stream, sums) == expected);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Stream stream;
  const DeviceBuffer<float> rows(stream, 4096);
  const DeviceBuffer<int> before(stream, 1);
  const HeadRows some{rows.data(), 64};
  const AppendedArrays good{Format::fp32, some,        some,        some,    {},
                            rows.data(),  rows.data(), rows.data(), nullptr, nullptr};
  const auto refusal = [&](const Appended& shape, const AppendedArrays& arrays) -> std::string {
    try {
      append_tokens(stream, shape, arrays);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const int* const n = before.data();
  BOOST_TEST(refusal({0, 1, 16, 8, 1, n}, good) == "heads is 0, must be at least 1");
  BOOST_TEST(refusal({1, 0, 16, 8, 1, n}, good) == "kv_heads is 0, must be at least 1");
  BOOST_TEST(refusal({1, 1, 0, 8, 1, n}, good) == "head_dim is 0, must be at least 1");
  BOOST_TEST(refusal({1, 1, 16, 8, 0, n}, good) == "count is 0, must be at least 1");
  BOOST_TEST(refusal({1, 1, 16, 8, 9, n}, good) == "capacity is 8, must be at least count");
  BOOST_TEST(refusal({1, 1, 16, 8, 1, nullptr}, good) == "before is null, expected 1 elements");
  AppendedArrays bad = good;
  bad.k.first = nullptr;
  BOOST_TEST(refusal({1, 1, 16, 8, 1, n}, bad) == "k is null, expected 48 elements");
  bad = good;
  bad.increments = rows.data();
  BOOST_TEST(refusal({1, 1, 16, 8, 1, n}, bad) == "sums is null, expected 8 elements");
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
