// SPDX-License-Identifier: Apache-2.0
// Transposed values: where each key stands, and that of keys that nobody sees there is 0.
#include "attention/fp8_arrays.cuh"

#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

#include "core/device_buffer.cuh"

BOOST_AUTO_TEST_SUITE(fp8_arrays_test)

namespace {

using namespace plumbline::gpu;

// PTX ISA, fragments of m64k32: a lane's accumulators of eight columns each are 2 l and 2 l + 1,
// its numbers of A are 4 l ... 4 l + 3, and those 16 later.
BOOST_AUTO_TEST_CASE(a_lane_finds_its_own_accumulators_in_its_places) {
  std::set<int> all;
  for (int lane = 0; lane < 4; ++lane) {
    for (int half = 0; half < 2; ++half) {
      const int accumulators[] = {16 * half + 2 * lane, 16 * half + 2 * lane + 1,
                                  16 * half + 8 + 2 * lane, 16 * half + 8 + 2 * lane + 1};
      for (int n = 0; n < 4; ++n) {
        BOOST_TEST(key_in_place(16 * half + 4 * lane + n) == accumulators[n]);
        all.insert(accumulators[n]);
      }
    }
  }
  BOOST_TEST(all.size() == 32u);
}

BOOST_AUTO_TEST_CASE(values_stand_in_their_places_and_unseen_ones_are_0) {
  constexpr int kBatch = 2, kHeads = 3, kKeys = 70, kQueries = 4;
  constexpr int kLengths[] = {70, 41};
  const Stream stream;
  std::vector<unsigned char> v(kBatch * kHeads * kKeys * kFp8Dim);
  for (std::size_t n = 0; n < v.size(); ++n) v[n] = static_cast<unsigned char>(1 + n % 251);
  DeviceBuffer<unsigned char> given(stream, v.size());
  given.copy_from_host(stream, v.data(), 0, v.size());
  DeviceBuffer<int> lengths(stream, kBatch);
  lengths.copy_from_host(stream, kLengths, 0, kBatch);
  Problem problem{};
  problem.batch = kBatch;
  problem.kv_heads = kHeads;
  problem.queries = kQueries;
  problem.keys = kKeys;
  // The last queries of each sequence, with a window of 20 keys before them.
  problem.mask = {kKeys, true, 20, -1, lengths.data(), nullptr, kKeys - kQueries, true, nullptr};
  const int padded = padded_keys(kKeys);
  BOOST_TEST(padded == 96);
  const DeviceBuffer<unsigned char> made(
      stream, static_cast<std::size_t>(kBatch) * kHeads * kFp8Dim * padded);
  transpose_fp8_values(stream, problem, given.data(), made.data());
  std::vector<unsigned char> got(made.size()), expected(made.size());
  made.copy_to_host(stream, got.data());
  stream.wait();
  for (int head = 0; head < kBatch * kHeads; ++head) {
    const int length = kLengths[head / kHeads];
    for (int d = 0; d < kFp8Dim; ++d)
      for (int place = 0; place < padded; ++place) {
        const int key = place / 32 * 32 + key_in_place(place % 32);
        const bool seen = key < length && key >= length - kQueries - 20;
        expected[(head * kFp8Dim + d) * padded + place] =
            seen ? v[(head * kKeys + key) * kFp8Dim + d] : 0;
      }
  }
  BOOST_TEST(got == expected);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
