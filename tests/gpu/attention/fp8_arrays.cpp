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

constexpr int kBatch = 2, kHeads = 3, kKeys = 70, kQueries = 4;

/// Transposes values of `dim` components, no byte of which is 0, and compares: sees(b, key) says
/// whether the key's values stay.
template <class Sees>
void judge(Mask mask, int dim, Sees sees) {
  const Stream stream;
  std::vector<unsigned char> v(kBatch * kHeads * kKeys * dim);
  for (std::size_t n = 0; n < v.size(); ++n) v[n] = static_cast<unsigned char>(1 + n % 251);
  DeviceBuffer<unsigned char> given(stream, v.size());
  given.copy_from_host(stream, v.data(), 0, v.size());
  Problem problem{};
  problem.batch = kBatch;
  problem.kv_heads = kHeads;
  problem.queries = kQueries;
  problem.keys = kKeys;
  problem.value_dim = dim;
  problem.mask = mask;
  const int padded = padded_keys(kKeys);
  BOOST_TEST(padded == 96);
  const DeviceBuffer<unsigned char> made(stream,
                                         static_cast<std::size_t>(kBatch) * kHeads * dim * padded);
  transpose_fp8_values(stream, problem, given.data(), made.data());
  std::vector<unsigned char> got(made.size()), expected(made.size());
  made.copy_to_host(stream, got.data());
  stream.wait();
  for (int head = 0; head < kBatch * kHeads; ++head) {
    for (int d = 0; d < dim; ++d)
      for (int place = 0; place < padded; ++place) {
        const int key = place / 32 * 32 + key_in_place(place % 32);
        expected[(head * dim + d) * padded + place] =
            key < kKeys && sees(head / kHeads, key) ? v[(head * kKeys + key) * dim + d] : 0;
      }
  }
  BOOST_TEST(got == expected);
}

BOOST_AUTO_TEST_CASE(values_stand_in_their_places_and_unseen_ones_are_0) {
  constexpr int kLengths[] = {70, 41};
  const Stream stream;
  DeviceBuffer<int> lengths(stream, kBatch);
  lengths.copy_from_host(stream, kLengths, 0, kBatch);
  stream.wait();
  // The last queries of each sequence, with a window of 20 keys before them.
  const Mask mask{kKeys, true, 20, -1, lengths.data(), nullptr, kKeys - kQueries, true, nullptr};
  for (const int dim : {64, 128})
    judge(mask, dim,
          [&](int b, int key) { return key < kLengths[b] && key >= kLengths[b] - kQueries - 20; });
}

// The queries are at the keys 50 ... 53, and see 20 keys before and 9 behind them. Of the second
// sequence the key 51 begins a document, to which the key 40 belongs, too; of the first the keys 45
// and 60 do, and the key 33 belongs to that of the queries.
BOOST_AUTO_TEST_CASE(values_of_documents_that_no_query_belongs_to_are_0) {
  const auto document = [](int b, int key) {
    if (b == 1) return key >= 51 || key == 40 ? 7 : 3;
    return key == 33 ? 1 : key < 45 ? 0 : key < 60 ? 1 : 2;
  };
  std::vector<int> all;
  for (int b = 0; b < kBatch; ++b)
    for (int key = 0; key < kKeys; ++key) all.push_back(document(b, key));
  const Stream stream;
  DeviceBuffer<int> documents(stream, all.size());
  documents.copy_from_host(stream, all.data(), 0, all.size());
  stream.wait();
  const Mask mask{kKeys, false, 20, 9, nullptr, documents.data(), 50, false, nullptr};
  for (const int dim : {64, 128})
    judge(mask, dim, [&](int b, int key) {
      bool seen = false;
      for (int position = 50; position < 50 + kQueries; ++position)
        seen |= key >= position - 20 && key <= position + 9 &&
                document(b, position) == document(b, key);
      return seen;
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
