// SPDX-License-Identifier: Apache-2.0
// Matrix products under emulation. Epilogues are none of its business: it knows no algorithm for
// them, so that the kernels of ops/linear.cu are what the tests see.
#include <Eigen/Core>

#include "ops/matrix_product.cuh"

namespace plumbline::gpu {

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A copy in fp32, so that the sums' order does not depend on addresses; in tf32 rounded.
Matrix operand(const void* data, Format format, int rows, int columns, bool transposed) {
  if (transposed) return operand(data, format, columns, rows, false).transpose();
  Matrix x(rows, columns);
  for (Eigen::Index n = 0; n < x.size(); ++n) {
    const float value = load_element(data, format, static_cast<std::size_t>(n));
    x.data()[n] = format == Format::tf32 ? round_to_tf32(value) : value;
  }
  return x;
}

}  // namespace

struct MatrixProducts::State {};

MatrixProducts::MatrixProducts(const Stream&) {}
MatrixProducts::~MatrixProducts() = default;

bool MatrixProducts::multiply(const Product& p) {
  if (p.epilogue != Epilogue::none) return false;
  const Matrix a = operand(p.a, p.format, p.m, p.k, p.a_transposed);
  const Matrix b = operand(p.b, p.format, p.k, p.n, p.b_transposed);
  const Matrix product = a * b;
  const Format format = p.d_is_fp32 ? Format::fp32 : p.format;
  for (Eigen::Index n = 0; n < product.size(); ++n) {
    const auto index = static_cast<std::size_t>(n);
    const float old = p.accumulate ? load_element(p.d, format, index) : 0.0f;
    const float value = product.data()[n];
    store_element(p.d, format, index, p.accumulate ? old + value : value);
  }
  return true;
}

}  // namespace plumbline::gpu
