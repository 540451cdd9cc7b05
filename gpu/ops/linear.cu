// SPDX-License-Identifier: Apache-2.0
#include "ops/linear.cuh"

#include "ops/linear_kernels.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

void check_shape(const LinearShape& shape) {
  require(shape.rows >= 1, "rows", shape.rows, "at least 1");
  require(shape.in >= 1, "in", shape.in, "at least 1");
  require(shape.out >= 1, "out", shape.out, "at least 1");
}

std::size_t product_of(int rows, int columns) { return static_cast<std::size_t>(rows) * columns; }

/// Products of x, W and their gradients, as ops/matrix_product.cuh has them.
Product forward_product(const LinearShape& s, Format format, const void* x, const void* w) {
  return {
      .m = s.rows, .n = s.out, .k = s.in, .format = format, .a = x, .b = w, .b_transposed = true};
}
Product input_product(const LinearShape& s, Format format, const void* grad_y, const void* w) {
  return {.m = s.rows, .n = s.in, .k = s.out, .format = format, .a = grad_y, .b = w};
}
Product weight_product(const LinearShape& s, Format format, const void* grad_y, const void* x) {
  return {.m = s.out,
          .n = s.in,
          .k = s.rows,
          .format = format,
          .a = grad_y,
          .b = x,
          .a_transposed = true,
          .d_is_fp32 = true};
}

}  // namespace

float* Linear::working_memory(std::size_t count) {
  if (!working_memory_ || working_memory_->size() < count)
    working_memory_ = std::make_unique<DeviceBuffer<float>>(stream_, count);
  return working_memory_->data();
}

void Linear::multiply(const Product& product) {
  if (!products_.multiply(product)) throw std::logic_error("a plain product was not possible");
}

float* Linear::multiply_in_fp32(Product product, std::size_t count) {
  float* products = working_memory(count);
  product.d = products;
  product.d_is_fp32 = true;
  multiply(product);
  return products;
}

void Linear::sum_columns(const void* matrix, Format format, int rows, int columns, float* sums,
                         Gradient mode) {
  const RowChunks chunks = row_chunks(rows);
  float* partial = working_memory(product_of(chunks.count, columns));
  launch(stream_,
         {dim3{static_cast<unsigned>((columns - 1) / kSumColumns + 1),
               static_cast<unsigned>(chunks.count)},
          dim3{kSumWarps * kWarpSize}, shared_bytes<float>(kSumWarps * kSumColumns)},
         column_sums_kernel, matrix, format, rows, columns, chunks.rows_per_chunk, partial);
  add_partial_sums(stream_, partial, chunks.count, columns, sums, mode);
}

void Linear::forward(const LinearShape& shape, Format format, const void* x, const void* w,
                     const void* b, void* y) {
  check_shape(shape);
  const std::size_t count = product_of(shape.rows, shape.out);
  require_array(x, product_of(shape.rows, shape.in), "x");
  require_array(w, product_of(shape.out, shape.in), "w");
  require_array(y, count, "y");
  Product product = forward_product(shape, format, x, w);
  product.d = y;
  if (!b) return multiply(product);
  product.epilogue = Epilogue::bias;
  product.bias = b;
  if (products_.multiply(product)) return;

  const float* sums = multiply_in_fp32(forward_product(shape, format, x, w), count);
  launch(stream_, elementwise_shape(count), bias_kernel, sums, b, format, y, count, shape.out);
}

void Linear::forward_gelu(const LinearShape& shape, Format format, GeluForm form, const void* x,
                          const void* w, const void* b, void* pre, void* y) {
  check_shape(shape);
  const std::size_t count = product_of(shape.rows, shape.out);
  require_array(x, product_of(shape.rows, shape.in), "x");
  require_array(w, product_of(shape.out, shape.in), "w");
  require_array(pre, count, "pre");
  require_array(y, count, "y");
  Product product = forward_product(shape, format, x, w);
  if (b && form == GeluForm::tanh && gelu_epilogue_ == GeluEpilogue::where_possible) {
    product.d = y;
    product.epilogue = Epilogue::gelu_bias;
    product.bias = b;
    product.aux = pre;
    if (products_.multiply(product)) return;
  }
  const float* sums = multiply_in_fp32(forward_product(shape, format, x, w), count);
  launch(stream_, elementwise_shape(count), bias_gelu_kernel, sums, b, format, form, pre, y, count,
         shape.out);
}

void Linear::backward_input(const LinearShape& shape, Format format, const void* grad_y,
                            const void* w, void* grad_x) {
  check_shape(shape);
  require_array(grad_y, product_of(shape.rows, shape.out), "grad_y");
  require_array(w, product_of(shape.out, shape.in), "w");
  require_array(grad_x, product_of(shape.rows, shape.in), "grad_x");
  Product product = input_product(shape, format, grad_y, w);
  product.d = grad_x;
  multiply(product);
}

void Linear::backward_input_gelu(const LinearShape& shape, Format format, GeluForm form,
                                 const void* grad_y, const void* w, const void* pre, void* grad_pre,
                                 float* grad_bias, Gradient mode) {
  check_shape(shape);
  const std::size_t count = product_of(shape.rows, shape.in);
  require_array(grad_y, product_of(shape.rows, shape.out), "grad_y");
  require_array(w, product_of(shape.out, shape.in), "w");
  require_array(pre, count, "pre");
  require_array(grad_pre, count, "grad_pre");
  if (form == GeluForm::tanh && gelu_epilogue_ == GeluEpilogue::where_possible) {
    float* sums = working_memory(shape.in);  // room for any format
    Product product = input_product(shape, format, grad_y, w);
    product.d = grad_pre;
    product.aux = const_cast<void*>(pre);  // an input here, an output of forward_gelu
    product.epilogue = grad_bias ? Epilogue::gelu_bias_gradient : Epilogue::gelu_gradient;
    if (grad_bias) product.bias_grad = sums;
    if (products_.multiply(product)) {
      if (grad_bias)
        launch(stream_, elementwise_shape(shape.in), take_sums_kernel, sums, format, grad_bias,
               static_cast<std::size_t>(shape.in), mode == Gradient::accumulate);
      return;
    }
  }
  const float* products = multiply_in_fp32(input_product(shape, format, grad_y, w), count);
  launch(stream_, elementwise_shape(count), gelu_gradient_kernel, products, pre, format, form,
         grad_pre, count);
  if (grad_bias) sum_columns(grad_pre, format, shape.rows, shape.in, grad_bias, mode);
}

void Linear::backward_weight(const LinearShape& shape, Format format, const void* x,
                             const void* grad_y, float* grad_w, float* grad_b, Gradient mode) {
  check_shape(shape);
  require_array(x, product_of(shape.rows, shape.in), "x");
  require_array(grad_y, product_of(shape.rows, shape.out), "grad_y");
  require_array(grad_w, product_of(shape.out, shape.in), "grad_w");
  const bool accumulate = mode == Gradient::accumulate;
  Product product = weight_product(shape, format, grad_y, x);
  product.d = grad_w;
  product.accumulate = accumulate;
  if (!grad_b) return multiply(product);
  float* sums = working_memory(shape.out);
  Product fused = product;
  fused.epilogue = Epilogue::sum_of_a;
  fused.bias_grad = sums;
  // In tf32 a library may sum the rounded operands.
  if (format != Format::tf32 && products_.multiply(fused)) {
    launch(stream_, elementwise_shape(shape.out), take_sums_kernel, sums, Format::fp32, grad_b,
           static_cast<std::size_t>(shape.out), accumulate);
    return;
  }
  multiply(product);
  sum_columns(grad_y, format, shape.rows, shape.out, grad_b, mode);
}

}  // namespace plumbline::gpu
