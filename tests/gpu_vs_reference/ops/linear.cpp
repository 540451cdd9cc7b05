// SPDX-License-Identifier: Apache-2.0
#include "ops/linear.cuh"

#include "reference/model/gelu.hpp"
#include "reference/model/linear_layer.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/op_bounds/gelu.hpp"
#include "verdict/op_bounds/linear.hpp"

using namespace plumbline;
using namespace plumbline::op_tests;
using gpu::Format;
using op_bounds::Computed;
using reference::RunningError;

namespace {

struct FormatOf {
  Format format;
  const char* name;
  op_bounds::Storage storage;
  op_bounds::ProductNumerics numerics;
};
const FormatOf formats[] = {
    {Format::fp32, "fp32", op_bounds::stored_fp32, op_bounds::fp32_products},
    {Format::tf32, "tf32", op_bounds::stored_fp32, op_bounds::tf32_products},
    {Format::bf16, "bf16", op_bounds::stored_bf16, op_bounds::fp32_products},
    {Format::fp16, "fp16", op_bounds::stored_fp16, op_bounds::fp32_products},
};

std::vector<double> representable_in(Format format, std::vector<double> x) {
  if (format == Format::bf16) return representable<gpu::bfloat16>(x);
  if (format == Format::fp16) return representable<gpu::float16>(x);
  return representable<float>(x);
}

/// An array of a format that is known at run time only.
class Array {
 public:
  Array(Format format, std::size_t count)
      : format_(format), count_(count), bytes_(count * gpu::element_bytes(format)) {}
  Array(Format format, const std::vector<double>& numbers)
      : format_(format), count_(numbers.size()), bytes_(stored(format, numbers)) {}
  void* data() const { return bytes_.data(); }
  std::vector<double> numbers() const {
    const auto bytes = bytes_.values();
    std::vector<double> x(count_);
    for (std::size_t n = 0; n < count_; ++n) x[n] = gpu::load_element(bytes.data(), format_, n);
    return x;
  }

 private:
  static std::vector<unsigned char> stored(Format format, const std::vector<double>& numbers) {
    std::vector<unsigned char> bytes(numbers.size() * gpu::element_bytes(format));
    for (std::size_t n = 0; n < numbers.size(); ++n)
      gpu::store_element(bytes.data(), format, n, static_cast<float>(numbers[n]));
    return bytes;
  }

  Format format_;
  std::size_t count_;
  Device<unsigned char> bytes_;
};

struct Problem {
  gpu::LinearShape shape;
  std::vector<double> x, w, b, pre, grad_y, old_w, old_b;
  bool bias, accumulate;
};

Problem problem(std::uint64_t seed, Format format) {
  reference::Numbers numbers(seed);
  constexpr int sizes[] = {1, 2, 3, 7, 8, 31, 33, 48, 70};
  constexpr int heights[] = {1, 2, 9, 63, 65, 130};
  const auto size = [&] { return sizes[static_cast<int>(numbers.between(0, 8.99))]; };
  Problem p;
  p.shape = {heights[static_cast<int>(numbers.between(0, 5.99))], size(), size()};
  p.bias = numbers.between(0, 1) < 0.8;
  p.accumulate = numbers.between(0, 1) < 0.5;
  const auto many = [&](int rows, int columns, double most) {
    return representable_in(format, numbers.between(-most, most, rows * columns));
  };
  const auto [rows, in, out] = p.shape;
  p.x = many(rows, in, 2);
  p.w = many(out, in, 0.5);
  p.b = many(1, out, 3);
  p.pre = many(rows, in, 4);
  p.grad_y = many(rows, out, 1);
  p.old_w = representable<float>(numbers.between(-1, 1, out * in));
  p.old_b = representable<float>(numbers.between(-1, 1, out));
  return p;
}

/// The oracle's layer.
struct Exact {
  reference::Matrix<RunningError> y;
  reference::LinearLayerGrad<RunningError> grad;

  explicit Exact(const Problem& p) {
    const auto [rows, in, out] = p.shape;
    const auto x = matrix(p.x, rows, in), w = matrix(p.w, out, in);
    const auto b =
        p.bias ? reference::lifted<RunningError>(p.b) : reference::Vector<RunningError>();
    y = reference::linear_layer(x, w, b);
    grad = reference::linear_layer_grad(x, w, matrix(p.grad_y, rows, out));
  }
};

/// x W^T + b in fp32, not yet stored.
std::vector<Computed> computed_sums(const Problem& p, const FormatOf& f) {
  std::vector<Computed> sums;
  const auto [rows, in, out] = p.shape;
  for (int t = 0; t < rows; ++t)
    for (int o = 0; o < out; ++o) {
      const Computed product = op_bounds::dot(&p.x[t * in], 1, &p.w[o * in], 1, in, f.numerics);
      sums.push_back(p.bias ? product + Computed{p.b[o]} : product);
    }
  return sums;
}

/// The sum over the rows of one column, in fp32, and what was there before.
Computed computed_column(const std::vector<double>& matrix, int rows, int columns, int column,
                         double old, bool accumulate) {
  std::vector<Computed> terms;
  for (int t = 0; t < rows; ++t) terms.push_back(Computed{matrix[t * columns + column]});
  if (accumulate) terms.push_back(Computed{old});
  // In an epilogue one term after the other, or as the kernel has it.
  return op_bounds::sum(terms, std::max(gpu::column_chain(rows), rows + 1));
}

std::string called(const char* what, const FormatOf& f) { return std::string(what) + " " + f.name; }

BOOST_AUTO_TEST_CASE(the_layer_is_within_its_bounds) {
  for (const FormatOf& f : formats) {
    Comparison forward(called("linear y", f)), backward(called("linear grad_x", f));
    for_seeds(20, [&](std::uint64_t seed) {
      const Problem p = problem(seed, f.format);
      const auto [rows, in, out] = p.shape;
      const Exact exact(p);
      const gpu::Stream stream;
      gpu::Linear linear(stream);
      const Array x(f.format, p.x), w(f.format, p.w), b(f.format, p.b), grad_y(f.format, p.grad_y);
      const Array y(f.format, p.grad_y.size()), grad_x(f.format, p.x.size());
      linear.forward(p.shape, f.format, x.data(), w.data(), p.bias ? b.data() : nullptr, y.data());
      linear.backward_input(p.shape, f.format, grad_y.data(), w.data(), grad_x.data());
      std::vector<double> limits;
      for (const Computed& sum : computed_sums(p, f))
        limits.push_back(stored_error(sum, f.storage));
      forward.check(y.numbers(), exact.y, limits);
      limits.clear();
      for (int t = 0; t < rows; ++t)
        for (int c = 0; c < in; ++c)
          limits.push_back(stored_error(
              op_bounds::dot(&p.grad_y[t * out], 1, &p.w[c], in, out, f.numerics), f.storage));
      backward.check(grad_x.numbers(), exact.grad.x, limits);
    });
    forward.finish(0.05);
    backward.finish(0.05);
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_weight_and_bias_are_within_their_bounds) {
  for (const FormatOf& f : formats) {
    Comparison weights(called("linear grad_w", f)), biases(called("linear grad_b", f));
    for_seeds(20, [&](std::uint64_t seed) {
      const Problem p = problem(seed, f.format);
      const auto [rows, in, out] = p.shape;
      const Exact exact(p);
      const gpu::Stream stream;
      gpu::Linear linear(stream);
      const Array x(f.format, p.x), grad_y(f.format, p.grad_y);
      const auto grad_w = on_device<float>(p.old_w), grad_b = on_device<float>(p.old_b);
      linear.backward_weight(p.shape, f.format, x.data(), grad_y.data(), grad_w.data(),
                             p.bias ? grad_b.data() : nullptr,
                             p.accumulate ? gpu::Gradient::accumulate : gpu::Gradient::overwrite);
      const auto got_w = grad_w.numbers(), got_b = grad_b.numbers();
      if (!p.bias) BOOST_TEST(got_b == p.old_b);
      for (int o = 0; o < out; ++o) {
        const RunningError old_b(p.accumulate ? p.old_b[o] : 0.0);
        if (p.bias)
          biases.element(
              o, got_b[o], exact.grad.b[o] + old_b,
              stored_error(computed_column(p.grad_y, rows, out, o, p.old_b[o], p.accumulate),
                           op_bounds::stored_fp32));
        for (int c = 0; c < in; ++c) {
          Computed sum = op_bounds::dot(&p.grad_y[o], out, &p.x[c], in, rows, f.numerics);
          RunningError expected = exact.grad.w(o, c);
          if (p.accumulate) {
            sum = sum + Computed{p.old_w[o * in + c]};
            expected += RunningError(p.old_w[o * in + c]);
          }
          weights.element(o * in + c, got_w[o * in + c], expected,
                          stored_error(sum, op_bounds::stored_fp32));
        }
      }
    });
    weights.finish(0.05);
    biases.finish(0.05);
  }
}

gpu::GeluEpilogue epilogue(std::uint64_t seed) {
  return seed % 2 ? gpu::GeluEpilogue::never : gpu::GeluEpilogue::where_possible;
}

struct Form {
  gpu::GeluForm form;
  const char* name;
  RunningError (*value)(const RunningError&);
  RunningError (*derivative)(const RunningError&);
  Computed (*computed)(double);
  Computed (*computed_derivative)(double);
};
const Form forms[] = {
    {gpu::GeluForm::tanh, "gelu_tanh", reference::gelu_tanh<RunningError>,
     reference::gelu_tanh_derivative<RunningError>, op_bounds::gelu_tanh,
     op_bounds::gelu_tanh_derivative},
    {gpu::GeluForm::erf, "gelu_erf", reference::gelu_erf<RunningError>,
     reference::gelu_erf_derivative<RunningError>, op_bounds::gelu_erf,
     op_bounds::gelu_erf_derivative},
};

BOOST_AUTO_TEST_CASE(gelu_after_the_layer_is_within_its_bounds) {
  for (const FormatOf& f : formats) {
    for (const Form& form : forms) {
      Comparison pre_activation(called(form.name, f) + " pre"), value(called(form.name, f) + " y");
      for_seeds(16, [&](std::uint64_t seed) {
        const Problem p = problem(seed, f.format);
        const Exact exact(p);
        const gpu::Stream stream;
        gpu::Linear linear(stream, epilogue(seed));
        const Array x(f.format, p.x), w(f.format, p.w), b(f.format, p.b);
        const Array pre(f.format, p.grad_y.size()), y(f.format, p.grad_y.size());
        linear.forward_gelu(p.shape, f.format, form.form, x.data(), w.data(),
                            p.bias ? b.data() : nullptr, pre.data(), y.data());
        const auto got_pre = pre.numbers(), got = y.numbers();
        const std::vector<Computed> sums = computed_sums(p, f);
        for (std::size_t n = 0; n < sums.size(); ++n) {
          const RunningError sum = exact.y.data()[n];
          pre_activation.element(n, got_pre[n], sum, stored_error(sums[n], f.storage));
          const Computed gelu =
              op_bounds::through_gelu(form.computed(sums[n].value), sums[n].error);
          value.element(n, got[n], form.value(sum), stored_error(gelu, f.storage));
        }
      });
      pre_activation.finish(0.05);
      value.finish(0.05);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_gradient_through_gelu_is_within_its_bounds) {
  for (const FormatOf& f : formats) {
    for (const Form& form : forms) {
      Comparison gradients(called(form.name, f) + " grad_pre");
      Comparison biases(called(form.name, f) + " grad_bias");
      for_seeds(16, [&](std::uint64_t seed) {
        const Problem p = problem(seed, f.format);
        const auto [rows, in, out] = p.shape;
        const Exact exact(p);
        const gpu::Stream stream;
        gpu::Linear linear(stream, epilogue(seed));
        const Array w(f.format, p.w), grad_y(f.format, p.grad_y), pre(f.format, p.pre);
        const Array grad_pre(f.format, p.x.size());
        const std::vector<double> old(p.pre.begin(), p.pre.begin() + in);
        const auto grad_bias = on_device<float>(old);
        linear.backward_input_gelu(
            p.shape, f.format, form.form, grad_y.data(), w.data(), pre.data(), grad_pre.data(),
            p.bias ? grad_bias.data() : nullptr,
            p.accumulate ? gpu::Gradient::accumulate : gpu::Gradient::overwrite);
        const auto got = grad_pre.numbers(), got_bias = grad_bias.numbers();
        if (!p.bias) BOOST_TEST(got_bias == old);
        for (int c = 0; c < in; ++c) {
          RunningError total(p.accumulate ? old[c] : 0.0);
          double stored = 0;  // what the terms of the sum are off by
          for (int t = 0; t < rows; ++t) {
            const int n = t * in + c;
            const RunningError expected =
                exact.grad.x(t, c) * form.derivative(RunningError(p.pre[n]));
            const Computed product =
                op_bounds::dot(&p.grad_y[t * out], 1, &p.w[c], in, out, f.numerics) *
                form.computed_derivative(p.pre[n]);
            const double limit = stored_error(product, f.storage);
            gradients.element(n, got[n], expected, limit);
            total += expected;
            stored += limit;
          }
          if (!p.bias) continue;
          Computed sum = computed_column(got, rows, in, c, old[c], p.accumulate);
          sum.error += stored;
          // The epilogue hands the sum over in the format.
          if (epilogue(seed) == gpu::GeluEpilogue::where_possible)
            sum.error +=
                f.storage.unit_roundoff * sum.magnitude() + f.storage.half_smallest_subnormal;
          biases.element(c, got_bias[c], total, stored_error(sum, op_bounds::stored_fp32));
        }
      });
      gradients.finish(0.05);
      biases.finish(0.02);
    }
  }
}

BOOST_AUTO_TEST_CASE(subnormal_and_huge_numbers_are_within_their_bounds) {
  for (const FormatOf& f : formats) {
    const bool narrow = f.format == Format::fp16;
    // Products around the smallest number, and sums around the largest, of fp32 or of fp16.
    for (const double exponent : narrow ? std::vector{-13.0, 7.5} : std::vector{-74.0, 62.5}) {
      Problem p = problem(5, f.format);
      for (auto* numbers : {&p.x, &p.w, &p.grad_y}) {
        for (double& x : *numbers) x *= std::exp2(exponent);
        *numbers = representable_in(f.format, *numbers);
      }
      p.bias = false;
      const gpu::Stream stream;
      gpu::Linear linear(stream);
      const Array x(f.format, p.x), w(f.format, p.w), y(f.format, p.grad_y.size());
      linear.forward(p.shape, f.format, x.data(), w.data(), nullptr, y.data());
      const Exact exact(p);
      const auto got = y.numbers();
      const std::vector<Computed> sums = computed_sums(p, f);
      Comparison results(called("extreme linear y", f));
      for (std::size_t n = 0; n < sums.size(); ++n)
        results.element(n, got[n], exact.y.data()[n], stored_error(sums[n], f.storage));
      BOOST_TEST(results.worst() <= 1.0);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_bits_do_not_depend_on_threads_workers_and_what_came_before) {
  const gpu::Stream stream;
  gpu::Linear linear(stream);
  const gpu::LinearShape shape{130, 33, 70};
  const auto x = on_device<float>(reference::Numbers(1).between(-2, 2, 130 * 33));
  const auto w = on_device<float>(reference::Numbers(2).between(-1, 1, 70 * 33));
  const auto grad_y = on_device<float>(reference::Numbers(3).between(-1, 1, 130 * 70));
  expect_same_bits([&] {
    const Device<float> y(130 * 70), pre(130 * 70), grad_w(70 * 33), grad_b(70);
    linear.forward_gelu(shape, Format::fp32, gpu::GeluForm::tanh, x.data(), w.data(), w.data(),
                        pre.data(), y.data());
    linear.backward_weight(shape, Format::fp32, x.data(), grad_y.data(), grad_w.data(),
                           grad_b.data(), gpu::Gradient::overwrite);
    auto bits = y.values();
    for (const Device<float>* more : {&pre, &grad_w, &grad_b})
      for (const float value : more->values()) bits.push_back(value);
    return bits;
  });
}

BOOST_AUTO_TEST_CASE(shapes_below_one_and_missing_arrays_are_refused) {
  const gpu::Stream stream;
  gpu::Linear linear(stream);
  const Device<float> a(4);
  const std::pair<gpu::LinearShape, const char*> shapes[] = {
      {{0, 1, 1}, "rows is 0"}, {{1, -3, 1}, "in is -3"}, {{1, 1, 0}, "out is 0"}};
  for (const auto& [shape, text] : shapes) {
    BOOST_CHECK_EXCEPTION(
        linear.forward(shape, Format::fp32, a.data(), a.data(), nullptr, a.data()),
        std::invalid_argument, says(text));
    BOOST_CHECK_EXCEPTION(linear.backward_weight(shape, Format::fp32, a.data(), a.data(), a.data(),
                                                 nullptr, gpu::Gradient::overwrite),
                          std::invalid_argument, says(text));
  }
  BOOST_CHECK_EXCEPTION(
      linear.forward({2, 2, 2}, Format::fp32, a.data(), nullptr, nullptr, a.data()),
      std::invalid_argument, says("w is null"));
  BOOST_CHECK_EXCEPTION(linear.backward_input({2, 2, 2}, Format::fp32, a.data(), a.data(), nullptr),
                        std::invalid_argument, says("grad_x is null"));
}

}  // namespace
