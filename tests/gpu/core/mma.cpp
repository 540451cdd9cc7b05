// SPDX-License-Identifier: Apache-2.0
// The tensor core's emulated counterpart, and ldmatrix, against a product in double.
#include "core/mma.cuh"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/launch.cuh"
#include "core/ldmatrix.cuh"
#include "core/shared_memory.cuh"

BOOST_AUTO_TEST_SUITE(mma_test)

namespace {

using namespace plumbline::gpu;

constexpr int kSteps = 3;
constexpr int kTiles = 4;
constexpr int kColumns = 8 * kTiles;

struct Matrix {
  int rows, columns;
  std::vector<float> at;
  Matrix(int r, int c) : rows(r), columns(c), at(static_cast<std::size_t>(r) * c) {}
  float& operator()(int i, int j) { return at[static_cast<std::size_t>(i) * columns + j]; }
  float operator()(int i, int j) const { return at[static_cast<std::size_t>(i) * columns + j]; }
};

template <class Element>
float rounded(float x) {
  if constexpr (std::is_same_v<Element, tf32>)
    return round_to_tf32(x);
  else
    return to_float(from_float<Element>(x));
}

template <class Element>
Matrix random_matrix(int rows, int columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Matrix m(rows, columns);
  for (float& x : m.at) x = rounded<Element>(normal(random));
  return m;
}

template <class Element>
std::vector<typename MmaStorage<Element>::type> stored(const Matrix& m) {
  std::vector<typename MmaStorage<Element>::type> out;
  for (const float x : m.at) {
    if constexpr (std::is_same_v<Element, tf32>)
      out.push_back(x);
    else
      out.push_back(from_float<Element>(x));
  }
  return out;
}

/// Every |c - (c0 + a b)| is below the bound of a sum of n products and c0 with a unit roundoff u,
/// n u / (1 - n u) times the sum of their sizes. Cutting at 2^-24 of the largest term is worse than
/// u = 2^-23 for no term but the one that was cut, and the groups are fewer than the additions.
void check_product(const Matrix& a, const Matrix& b, const Matrix& c0, const Matrix& c) {
  const double nu = (a.columns + 1) * 0x1p-23;
  int wrong = 0;
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.columns; ++j) {
      double sum = c0(i, j), size = std::abs(sum);
      for (int k = 0; k < a.columns; ++k) {
        sum += static_cast<double>(a(i, k)) * b(k, j);
        size += std::abs(static_cast<double>(a(i, k)) * b(k, j));
      }
      if (!(std::abs(c(i, j) - sum) <= nu / (1 - nu) * size)) ++wrong;
    }
  BOOST_TEST(wrong == 0);
}

/// C += A B, the fragments gathered element by element as PTX has them.
template <class Element>
__global__ void multiply_by_elements(const typename MmaStorage<Element>::type* a,
                                     const typename MmaStorage<Element>::type* b, float* c) {
  constexpr int depth = kMmaDepth<Element>;
  constexpr int k = kSteps * depth;
  const int group = static_cast<int>(lane_index()) / 4, place = static_cast<int>(lane_index()) % 4;
  float sum[kTiles][4];
  for (int tile = 0; tile < kTiles; ++tile)
    for (int n = 0; n < 4; ++n)
      sum[tile][n] = c[(group + n / 2 * 8) * kColumns + 8 * tile + 2 * place + n % 2];
  multiply_add<Element, kSteps, kTiles>(
      sum,
      [&](int step, std::uint32_t(&fragment)[4]) {
        for (int r = 0; r < 4; ++r) {
          const auto* row = a + (group + r % 2 * 8) * k + step * depth;
          if constexpr (depth == 8)
            fragment[r] = std::bit_cast<std::uint32_t>(row[place + r / 2 * 4]);
          else
            fragment[r] = row[2 * place + r / 2 * 8].bits |
                          std::uint32_t{row[2 * place + 1 + r / 2 * 8].bits} << 16;
        }
      },
      [&](int step, int tile, std::uint32_t(&fragment)[4]) {
        for (int r = 0; r < 4; ++r) {
          const auto* column = b + step * depth * kColumns + 8 * (tile + r / 2) + group;
          if constexpr (depth == 8)
            fragment[r] = std::bit_cast<std::uint32_t>(column[(place + r % 2 * 4) * kColumns]);
          else
            fragment[r] = column[(2 * place + r % 2 * 8) * kColumns].bits |
                          std::uint32_t{column[(2 * place + 1 + r % 2 * 8) * kColumns].bits} << 16;
        }
      });
  for (int tile = 0; tile < kTiles; ++tile)
    for (int n = 0; n < 4; ++n)
      c[(group + n / 2 * 8) * kColumns + 8 * tile + 2 * place + n % 2] = sum[tile][n];
}

template <class Element>
void check_elements() {
  const int depth = kSteps * kMmaDepth<Element>;
  const Matrix a = random_matrix<Element>(16, depth, 1);
  const Matrix b = random_matrix<Element>(depth, kColumns, 2);
  const Matrix c0 = random_matrix<Element>(16, kColumns, 3);
  Matrix c = c0;
  const auto stored_a = stored<Element>(a), stored_b = stored<Element>(b);
  const Stream stream;
  launch(stream, {dim3{1}, dim3{32}, 0}, multiply_by_elements<Element>, stored_a.data(),
         stored_b.data(), c.at.data());
  check_product(a, b, c0, c);
}

BOOST_AUTO_TEST_CASE(products_of_fragments_are_products_of_matrices) {
  for (const bool truncating : {false, true}) {
    plumbline::emulation::set_truncating_mma(truncating);
    check_elements<bfloat16>();
    check_elements<float16>();
    check_elements<tf32>();
  }
  plumbline::emulation::set_truncating_mma(false);
}

/// One product with a row of A and a column of B, everything else zero.
template <class Element>
float dot(const std::vector<float>& row, const std::vector<float>& column, float c0) {
  const int depth = kSteps * kMmaDepth<Element>;
  Matrix a(16, depth), b(depth, kColumns), c(16, kColumns);
  for (std::size_t k = 0; k < row.size(); ++k) {
    a(5, static_cast<int>(k)) = row[k];
    b(static_cast<int>(k), 19) = column[k];
  }
  c(5, 19) = c0;
  const auto stored_a = stored<Element>(a), stored_b = stored<Element>(b);
  const Stream stream;
  launch(stream, {dim3{1}, dim3{32}, 0}, multiply_by_elements<Element>, stored_a.data(),
         stored_b.data(), c.at.data());
  return c(5, 19);
}

BOOST_AUTO_TEST_CASE(the_truncating_model_cuts_where_the_other_rounds) {
  // 1 + 1.5 * 2^-24 lies closer to 1 + 2^-23 than to 1.
  BOOST_TEST(dot<float16>({0x1.8p-12f}, {0x1p-12f}, 1.0f) == 1.0f + 0x1p-23f);
  plumbline::emulation::set_truncating_mma(true);
  BOOST_TEST(dot<float16>({0x1.8p-12f}, {0x1p-12f}, 1.0f) == 1.0f);
  BOOST_TEST(dot<float16>({-0x1.8p-12f}, {0x1p-12f}, 1.0f) == 1.0f - 0x1p-24f);
  BOOST_TEST(std::isinf(dot<bfloat16>({0x1p127f, 1.0f}, {2.0f, 1.0f}, 0.0f)));
  BOOST_TEST(dot<bfloat16>({}, {}, 0.0f) == 0.0f);
  plumbline::emulation::set_truncating_mma(false);
}

BOOST_AUTO_TEST_CASE(tf32_operands_are_cut) {
  const auto product = [](float x) {
    Matrix a(16, 8 * kSteps), b(8 * kSteps, kColumns), c(16, kColumns);
    a(0, 0) = x;
    b(0, 0) = 1.0f;
    const Stream stream;
    launch(stream, {dim3{1}, dim3{32}, 0}, multiply_by_elements<tf32>, a.at.data(), b.at.data(),
           c.at.data());
    return c(0, 0);
  };
  BOOST_TEST(product(1.0f + 0x1p-10f + 0x1.ff8p-11f) == 1.0f + 0x1p-10f);
}

/// C = A B^T from row-major A [16, depth] and B [columns, depth] in shared memory, by ldmatrix.
template <class Element>
__global__ void multiply_rows(const typename MmaStorage<Element>::type* a,
                              const typename MmaStorage<Element>::type* b, float* c) {
  using Storage = typename MmaStorage<Element>::type;
  constexpr int depth = kMmaDepth<Element>;
  constexpr int k = kSteps * depth;
  SharedMemory shared;
  Storage* rows_a = shared.take<Storage>(16 * k);
  Storage* rows_b = shared.take<Storage>(kColumns * k);
  const int lane = static_cast<int>(lane_index());
  for (int n = lane; n < 16 * k; n += 32) rows_a[n] = a[n];
  for (int n = lane; n < kColumns * k; n += 32) rows_b[n] = b[n];
  __syncthreads();
  float sum[kTiles][4] = {};
  multiply_add<Element, kSteps, kTiles>(
      sum,
      [&](int step, std::uint32_t(&fragment)[4]) {
        ldmatrix_x4(fragment, lane, [&](int n) {
          return rows_a + n % 16 * k + step * depth + n / 16 * (depth / 2);
        });
      },
      [&](int step, int tile, std::uint32_t(&fragment)[4]) {
        ldmatrix_x4(fragment, lane, [&](int n) {
          return rows_b + (8 * tile + n % 8 + n / 16 * 8) * k + step * depth +
                 n / 8 % 2 * (depth / 2);
        });
      });
  for (int tile = 0; tile < kTiles; ++tile)
    for (int n = 0; n < 4; ++n)
      c[(lane / 4 + n / 2 * 8) * kColumns + 8 * tile + 2 * (lane % 4) + n % 2] = sum[tile][n];
}

template <class Element>
void check_rows() {
  const int depth = kSteps * kMmaDepth<Element>;
  const Matrix a = random_matrix<Element>(16, depth, 4);
  const Matrix b = random_matrix<Element>(depth, kColumns, 5);
  Matrix transposed(kColumns, depth), c(16, kColumns);
  for (int i = 0; i < depth; ++i)
    for (int j = 0; j < kColumns; ++j) transposed(j, i) = b(i, j);
  const auto stored_a = stored<Element>(a), stored_b = stored<Element>(transposed);
  const Stream stream;
  const std::size_t bytes = sizeof stored_a[0];
  launch(stream, {dim3{1}, dim3{32}, bytes * static_cast<std::size_t>((16 + kColumns) * depth)},
         multiply_rows<Element>, stored_a.data(), stored_b.data(), c.at.data());
  check_product(a, b, Matrix(16, kColumns), c);
}

BOOST_AUTO_TEST_CASE(ldmatrix_reads_operands_whose_rows_are_contiguous) {
  check_rows<bfloat16>();
  check_rows<float16>();
  check_rows<tf32>();
}

/// Four matrices of 8 x 8, element (m, row, column) being 64 m + 8 row + column, read transposed.
__global__ void transpose(std::uint32_t* out) {
  SharedMemory shared;
  auto* elements = shared.take<std::uint16_t>(256);
  const int lane = static_cast<int>(lane_index());
  for (int n = lane; n < 256; n += 32) elements[n] = static_cast<std::uint16_t>(n);
  __syncthreads();
  std::uint32_t registers[4];
  ldmatrix_x4_trans(registers, lane, [&](int n) { return elements + 8 * n; });
  for (int m = 0; m < 4; ++m) out[4 * lane + m] = registers[m];
}

BOOST_AUTO_TEST_CASE(ldmatrix_transposes) {
  std::vector<std::uint32_t> out(128);
  const Stream stream;
  launch(stream, {dim3{1}, dim3{32}, shared_bytes<std::uint16_t>(256)}, transpose, out.data());
  int wrong = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    for (std::uint32_t m = 0; m < 4; ++m) {
      const std::uint32_t low = 64 * m + 8 * (2 * (lane % 4)) + lane / 4;
      wrong += out[4 * lane + m] != (low | (low + 8) << 16);
    }
  BOOST_TEST(wrong == 0);
}

template <class... Parameters, class... Arguments>
std::string failure(unsigned threads, void (*kernel)(Parameters...), Arguments... arguments) {
  const Stream stream;
  try {
    launch(stream, {dim3{1}, dim3{threads}, 1024}, kernel, arguments...);
  } catch (const plumbline::emulation::Error& error) {
    return error.what();
  }
  return "";
}

constexpr int kDivergentLine = __LINE__ + 5;

__global__ void diverge(float* c) {
  float sum[2][4] = {};
  if (threadIdx.x != 9)
    multiply_add<bfloat16, 1, 2>(
        sum, [](int, std::uint32_t(&a)[4]) { a[0] = a[1] = a[2] = a[3] = 0; },
        [](int, int, std::uint32_t(&b)[4]) { b[0] = b[1] = b[2] = b[3] = 0; });
  c[threadIdx.x] = sum[0][0];
}

BOOST_AUTO_TEST_CASE(a_product_without_the_whole_warp_is_reported_with_its_line) {
  std::vector<float> c(32);
  const std::string message = failure(32, diverge, c.data());
  BOOST_TEST_CONTEXT(message) {
    BOOST_TEST(message.find("mma.cpp:" + std::to_string(kDivergentLine)) != std::string::npos);
    BOOST_TEST(message.find("divergent warp collective") != std::string::npos);
    BOOST_TEST(message.find("thread (9,0,0) has returned") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_product_by_half_a_warp_is_reported) {
  std::vector<float> c(16);
  BOOST_TEST(failure(8, diverge, c.data()).find("a collective of all lanes in a warp of 8") !=
             std::string::npos);
}

__global__ void misaligned_row() {
  SharedMemory shared;
  auto* elements = shared.take<std::uint16_t>(256);
  std::uint32_t registers[4];
  ldmatrix_x4(registers, static_cast<int>(threadIdx.x), [&](int n) { return elements + 4 * n; });
}

BOOST_AUTO_TEST_CASE(a_row_off_the_boundary_is_reported) {
  BOOST_TEST(failure(32, misaligned_row).find("16-byte boundary") != std::string::npos);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
