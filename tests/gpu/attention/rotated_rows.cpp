// SPDX-License-Identifier: Apache-2.0
// Rotated copies of q and k against the formula in double: every row of every head, at its own
// position.
#include "attention/rotated_rows.cuh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/gpu/small_case.hpp"

BOOST_AUTO_TEST_SUITE(rotated_rows_test)

namespace {

using namespace plumbline::gpu;
using plumbline::gpu_tests::Numbers;

constexpr double kBase = 10000;
constexpr int kBatch = 2, kHeads = 19, kKeyHeads = 1, kQueries = 37, kKeys = 53;
// Queries stand at their sequence's end: of the first, 17 of the 37 rows lie before its first key.
constexpr int kLengths[kBatch] = {20, 53};

template <class T>
struct Array {
  std::vector<T> elements;

  Array(int heads, int rows, int dim, std::uint64_t seed) {
    Numbers numbers(seed);
    for (const float x : numbers.many(std::size_t{kBatch} * heads * rows * dim, -2.0f, 2.0f))
      elements.push_back(from_float<T>(x));
  }
  DeviceBuffer<T> on_device(const Stream& stream) const {
    DeviceBuffer<T> buffer(stream, elements.size());
    buffer.copy_from_host(stream, elements.data(), 0, elements.size());
    stream.wait();
    return buffer;
  }
};

/// Rounding to a format: relative, and what a subnormal number loses.
struct Roundoff {
  double relative, absolute;
};

/// One row as it should be, and how far each component may be off: 4 2^-24 (|a| + |b|) of the pair
/// (docs/bounds.md), and the rounding to the format.
struct ExpectedRow {
  std::vector<double> exact, bound;

  template <class T>
  ExpectedRow(const T* row, int head_dim, const Rotation& rotation, int position,
              Roundoff roundoff) {
    for (int d = 0; d < head_dim; ++d) exact.push_back(to_float(row[d]));
    bound.assign(head_dim, 0.0);
    for (int pair = 0; pair < rotation.dim / 2; ++pair) {
      const int first = rotation.interleaved ? 2 * pair : pair;
      const int second = rotation.interleaved ? first + 1 : first + rotation.dim / 2;
      const double angle = position * std::pow(kBase, -2.0 * pair / rotation.dim);
      const double a = exact[first], b = exact[second];
      exact[first] = a * std::cos(angle) - b * std::sin(angle);
      exact[second] = a * std::sin(angle) + b * std::cos(angle);
      const double off = 4 * 0x1p-24 * (std::abs(a) + std::abs(b));
      for (const int d : {first, second})
        bound[d] = off + roundoff.relative * (std::abs(exact[d]) + off) + roundoff.absolute;
    }
  }
};

template <class T>
void check_rows(const T* given, const T* rotated, int heads, int rows, int head_dim,
                const Rotation& rotation, bool of_queries, Roundoff roundoff) {
  int wrong = 0;
  for (int b = 0; b < kBatch; ++b) {
    for (int head = 0; head < heads; ++head) {
      for (int row = 0; row < rows; ++row) {
        const int position = of_queries ? std::max(row + kLengths[b] - kQueries, 0) : row;
        const std::size_t start = ((std::size_t{1} * b * heads + head) * rows + row) * head_dim;
        const ExpectedRow expected(given + start, head_dim, rotation, position, roundoff);
        for (int d = 0; d < head_dim; ++d) {
          const double error = std::abs(to_float(rotated[start + d]) - expected.exact[d]);
          wrong += !(error <= expected.bound[d]);
        }
      }
    }
  }
  BOOST_TEST(wrong == 0);
}

template <class T>
void check_format(Format format, Roundoff roundoff) {
  const Stream stream;
  DeviceBuffer<int> lengths(stream, kBatch);
  lengths.copy_from_host(stream, kLengths, 0, kBatch);
  for (const int head_dim : {32, 48, 128}) {
    const Array<T> q(kHeads, kQueries, head_dim, 1), k(kKeyHeads, kKeys, head_dim, 2);
    const DeviceBuffer<T> device_q = q.on_device(stream), device_k = k.on_device(stream);
    for (const bool interleaved : {false, true}) {
      for (const int dim : {head_dim, 16, 12}) {
        BOOST_TEST_CONTEXT("format " << static_cast<int>(format) << " head_dim " << head_dim
                                     << " rotary_dim " << dim << " interleaved " << interleaved) {
          const RotationTables tables = rotation_tables(kKeys, dim, kBase);
          DeviceBuffer<float> cosine(stream, tables.cosine.size());
          DeviceBuffer<float> sine(stream, tables.sine.size());
          cosine.copy_from_host(stream, tables.cosine.data(), 0, tables.cosine.size());
          sine.copy_from_host(stream, tables.sine.data(), 0, tables.sine.size());
          Task task{};
          Problem& p = task.problem;
          p.batch = kBatch;
          p.heads = kHeads;
          p.kv_heads = kKeyHeads;
          p.queries = kQueries;
          p.keys = kKeys;
          p.format = format;
          p.mask = {kKeys, true, -1, -1, lengths.data(), nullptr, kKeys - kQueries, true, nullptr};
          p.rotation = {cosine.data(), sine.data(), interleaved, dim};
          p.q = device_q.data();
          p.k = device_k.data();
          task.head_dim = head_dim;

          const RotatedRows rows(stream, task);
          const Task made = rows.of(stream, task);
          BOOST_TEST(!made.problem.rotation.cosine);
          BOOST_TEST(made.problem.rotation.dim == 0);
          stream.wait();
          const auto host = [](const Array<T>& like, const void* rotated) {
            std::vector<T> copy(like.elements.size());
            std::memcpy(static_cast<void*>(copy.data()), rotated, copy.size() * sizeof(T));
            return copy;
          };
          check_rows(q.elements.data(), host(q, made.problem.q).data(), kHeads, kQueries, head_dim,
                     p.rotation, true, roundoff);
          check_rows(k.elements.data(), host(k, made.problem.k).data(), kKeyHeads, kKeys, head_dim,
                     p.rotation, false, roundoff);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_row_is_rotated_at_its_own_position) {
  check_format<bfloat16>(Format::bf16, {0x1p-8, 0.0});
  check_format<float16>(Format::fp16, {0x1p-11, 0x1p-25});
  check_format<float>(Format::tf32, {0.0, 0.0});
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
