// SPDX-License-Identifier: Apache-2.0
// Matrix products for ops/linear.cu. Two implementations, of which a build has one:
// matrix_product_cublaslt.cu on a GPU, matrix_product_eigen.cu under emulation.
#ifndef PLUMBLINE_GPU_OPS_MATRIX_PRODUCT_CUH
#define PLUMBLINE_GPU_OPS_MATRIX_PRODUCT_CUH

#include <memory>

#include "core/formats.cuh"
#include "core/launch.cuh"

namespace plumbline::gpu {

/// What is done to the accumulators before they are stored, in fp32. Row i, column j of D.
enum class Epilogue {
  none,                ///< D = AB
  bias,                ///< D = AB + bias_j
  gelu_bias,           ///< aux = AB + bias_j, D = gelu(AB + bias_j), the tanh form
  gelu_gradient,       ///< D = AB gelu'(aux), the tanh form
  gelu_bias_gradient,  ///< the same, and bias_grad_j = sum_i D
  sum_of_a,            ///< D = AB, and bias_grad_i = sum_k A_ik
};

/// D = A B, or D + A B, all row-major: A [m, k], or [k, m] where it is stored transposed; B [k, n],
/// or [n, k]; D [m, n].
struct Product {
  int m = 0, n = 0, k = 0;
  Format format = Format::fp32;  ///< of A, B and, unless d_is_fp32, of D
  const void *a = nullptr, *b = nullptr;
  bool a_transposed = false, b_transposed = false;
  void* d = nullptr;
  bool d_is_fp32 = false;
  bool accumulate = false;  ///< into D, which then is fp32
  Epilogue epilogue = Epilogue::none;
  const void* bias = nullptr;  ///< [n], in D's format
  void* aux = nullptr;         ///< [m, n], in D's format
  void* bias_grad = nullptr;   ///< [n], or [m] for sum_of_a, in D's format
};

/// A stream's matrix products, with the working memory that they need.
class MatrixProducts {
 public:
  explicit MatrixProducts(const Stream& stream);
  ~MatrixProducts();
  MatrixProducts(const MatrixProducts&) = delete;
  MatrixProducts& operator=(const MatrixProducts&) = delete;

  /// The product with its epilogue, accumulated in fp32, in the order of the stream. False, and
  /// nothing done, where there is no algorithm for that epilogue, format and shape: then the caller
  /// multiplies without one. Without an epilogue every product is possible, or CudaError is thrown.
  bool multiply(const Product& product);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plumbline::gpu

#endif
