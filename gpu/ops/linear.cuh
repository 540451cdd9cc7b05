// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_LINEAR_CUH
#define PLUMBLINE_GPU_OPS_LINEAR_CUH

#include <memory>

#include "core/device_buffer.cuh"
#include "core/formats.cuh"
#include "core/launch.cuh"
#include "ops/column_sums.cuh"
#include "ops/gelu.cuh"
#include "ops/matrix_product.cuh"

namespace plumbline::gpu {

/// All at least 1.
struct LinearShape {
  int rows;  ///< tokens
  int in, out;
};

/// Who computes GELU and its gradient.
enum class GeluEpilogue {
  /// Kernels after the product: within the error of docs/bounds-ops.md.
  never,
  /// cuBLASLt's epilogue where it has one (the tanh form), which reads the product from registers.
  /// NVIDIA does not document its error.
  where_possible,
};

/// Linear layers y = x W^T + b and their gradients on one stream: by cuBLASLt on a GPU, bias, GELU
/// and bias gradients in its epilogues where it has them, else in kernels after it.
///
/// All arrays are row-major in device memory: x, grad_x, pre [rows, in] or [rows, out] as named; W
/// [out, in] as PyTorch's Linear; b [out]. They are in `format` (tf32: floats, whose products are
/// taken of operands rounded to tf32), but the gradients of W and b, which are fp32 in every
/// format. Products are accumulated in fp32 and rounded to the format once, after bias and GELU.
/// Error: docs/bounds-ops.md. The same bits every run; on a GPU by cuBLAS's promise for one GPU and
/// one stream. In the order of the stream; every function throws std::invalid_argument for a shape
/// below 1 and for null arrays.
class Linear {
 public:
  /// The stream must outlive it.
  explicit Linear(const Stream& stream, GeluEpilogue gelu_epilogue = GeluEpilogue::never)
      : stream_(stream), products_(stream), gelu_epilogue_(gelu_epilogue) {}

  /// y = x W^T + b; without bias where b is null.
  void forward(const LinearShape& shape, Format format, const void* x, const void* w, const void* b,
               void* y);

  /// pre = x W^T + b, y = gelu(x W^T + b); pre [rows, out] is what the gradient needs.
  void forward_gelu(const LinearShape& shape, Format format, GeluForm form, const void* x,
                    const void* w, const void* b, void* pre, void* y);

  /// grad_x = grad_y W.
  void backward_input(const LinearShape& shape, Format format, const void* grad_y, const void* w,
                      void* grad_x);

  /// Through the GELU that made this layer's x from `pre` [rows, in]: grad_pre = (grad_y W)
  /// gelu'(pre), and grad_bias [in] = sum over the rows of grad_pre, the gradient of the bias
  /// before that GELU; null: not wanted. In bf16 and fp16 cuBLASLt's epilogue hands that
  /// sum over in the format.
  void backward_input_gelu(const LinearShape& shape, Format format, GeluForm form,
                           const void* grad_y, const void* w, const void* pre, void* grad_pre,
                           float* grad_bias, Gradient mode);

  /// grad_w [out, in] = grad_y^T x and grad_b [out] = sum over the rows of grad_y, or added to what
  /// is there; grad_b null: not wanted.
  void backward_weight(const LinearShape& shape, Format format, const void* x, const void* grad_y,
                       float* grad_w, float* grad_b, Gradient mode);

  /// What its launches have for their own use; another one after it had to grow.
  const float* working_memory() const {
    return working_memory_ ? working_memory_->data() : nullptr;
  }

 private:
  /// Room for one product, sum or set of partial sums; the next call may take it.
  float* working_memory(std::size_t count);  // grows
  void multiply(const Product& product);
  /// The product in fp32, `count` numbers in the working memory: for an epilogue of our own.
  float* multiply_in_fp32(Product product, std::size_t count);
  void sum_columns(const void* matrix, Format format, int rows, int columns, float* sums,
                   Gradient mode);

  const Stream& stream_;
  MatrixProducts products_;
  GeluEpilogue gelu_epilogue_;
  std::unique_ptr<DeviceBuffer<float>> working_memory_;
};

}  // namespace plumbline::gpu

#endif
