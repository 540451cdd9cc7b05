// SPDX-License-Identifier: Apache-2.0
// Matrix products by kernels of one thread an element, for the software device, which cannot run
// cuBLASLt. Of the epilogues they have sum_of_a; the others are left to ops/linear.cu's kernels, so
// that those run, too.
#include "ops/elementwise.cuh"
#include "ops/matrix_product.cuh"

namespace plumbline::gpu {

namespace {

__device__ float operand(const void* data, Format format, std::size_t index) {
  const float value = load_element(data, format, index);
  return format == Format::tf32 ? round_to_tf32(value) : value;
}

__device__ std::size_t index_in_a(const Product& p, int row, int inner) {
  return p.a_transposed ? static_cast<std::size_t>(inner) * p.m + row
                        : static_cast<std::size_t>(row) * p.k + inner;
}
__device__ std::size_t index_in_b(const Product& p, int inner, int column) {
  return p.b_transposed ? static_cast<std::size_t>(column) * p.k + inner
                        : static_cast<std::size_t>(inner) * p.n + column;
}

__global__ void product_kernel(Product p) {
  const Format of_d = p.d_is_fp32 ? Format::fp32 : p.format;
  for_own_elements(static_cast<std::size_t>(p.m) * p.n, [&](std::size_t index) {
    const int row = static_cast<int>(index / p.n), column = static_cast<int>(index % p.n);
    float sum = 0.0f;
    for (int inner = 0; inner < p.k; ++inner)
      sum += operand(p.a, p.format, index_in_a(p, row, inner)) *
             operand(p.b, p.format, index_in_b(p, inner, column));
    if (p.accumulate) sum += load_element(p.d, of_d, index);
    store_element(p.d, of_d, index, sum);
  });
}

__global__ void sum_of_a_kernel(Product p) {
  for_own_elements(p.m, [&](std::size_t row) {
    float sum = 0.0f;
    for (int inner = 0; inner < p.k; ++inner)
      sum += load_element(p.a, p.format, index_in_a(p, static_cast<int>(row), inner));
    store_element(p.bias_grad, p.d_is_fp32 ? Format::fp32 : p.format, row, sum);
  });
}

}  // namespace

struct MatrixProducts::State {
  const Stream& stream;
};

MatrixProducts::MatrixProducts(const Stream& stream)
    : state_(std::make_unique<State>(State{stream})) {}
MatrixProducts::~MatrixProducts() = default;

bool MatrixProducts::multiply(const Product& p) {
  if (p.epilogue != Epilogue::none && p.epilogue != Epilogue::sum_of_a) return false;
  const Stream& stream = state_->stream;
  launch(stream, elementwise_shape(static_cast<std::size_t>(p.m) * p.n), product_kernel, p);
  if (p.epilogue == Epilogue::sum_of_a) launch(stream, elementwise_shape(p.m), sum_of_a_kernel, p);
  return true;
}

}  // namespace plumbline::gpu
