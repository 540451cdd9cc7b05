// SPDX-License-Identifier: Apache-2.0
// Matrix products under emulation, with epilogues where D has a multiple of 8 columns, as cuBLASLt
// has them: of ops/linear.cu, both what uses them and what does without is seen by the tests.
#include <Eigen/Core>

#include "ops/gelu_value.cuh"
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

/// The sums of the rows or of the columns, in fp32.
void store_sums(const Matrix& terms, bool of_rows, void* sums, Format format) {
  const Eigen::Index count = of_rows ? terms.rows() : terms.cols();
  for (Eigen::Index n = 0; n < count; ++n) {
    const float sum = of_rows ? terms.row(n).sum() : terms.col(n).sum();
    store_element(sums, format, static_cast<std::size_t>(n), sum);
  }
}

/// What the epilogue makes of the product, before it is stored.
void apply_epilogue(const Product& p, const Matrix& a, Format format, Matrix& product) {
  if (p.epilogue == Epilogue::sum_of_a) return store_sums(a, true, p.bias_grad, format);
  for (Eigen::Index n = 0; n < product.size(); ++n) {
    const auto index = static_cast<std::size_t>(n);
    float& x = product.data()[n];
    if (p.bias) x += load_element(p.bias, format, index % static_cast<std::size_t>(p.n));
    if (p.epilogue == Epilogue::gelu_bias) {
      store_element(p.aux, format, index, x);
      x = gelu_value(GeluForm::tanh, x);
    } else if (p.aux) {
      x *= gelu_derivative(GeluForm::tanh, load_element(p.aux, format, index));
    }
  }
  if (p.epilogue == Epilogue::gelu_bias_gradient) store_sums(product, false, p.bias_grad, format);
}

}  // namespace

struct MatrixProducts::State {};

MatrixProducts::MatrixProducts(const Stream&) {}
MatrixProducts::~MatrixProducts() = default;

bool MatrixProducts::multiply(const Product& p) {
  if (p.epilogue != Epilogue::none && p.n % 8 != 0) return false;
  const Matrix a = operand(p.a, p.format, p.m, p.k, p.a_transposed);
  const Matrix b = operand(p.b, p.format, p.k, p.n, p.b_transposed);
  Matrix product = a * b;
  const Format format = p.d_is_fp32 ? Format::fp32 : p.format;
  if (p.epilogue != Epilogue::none) apply_epilogue(p, a, format, product);
  for (Eigen::Index n = 0; n < product.size(); ++n) {
    const auto index = static_cast<std::size_t>(n);
    const float old = p.accumulate ? load_element(p.d, format, index) : 0.0f;
    const float value = product.data()[n];
    store_element(p.d, format, index, p.accumulate ? old + value : value);
  }
  return true;
}

}  // namespace plumbline::gpu
