// SPDX-License-Identifier: Apache-2.0
// on_device: elementwise operations and linear layers, forward and backward, against double
// arithmetic within the bounds of docs/bounds-ops.md. One source for a GPU and for the emulation,
// with nothing in it that nvcc would not take; status 77 (ctest: skipped) without a GPU. The full
// tests, on the emulation alone, are beside it.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/device_buffer.cuh"
#include "core/formats.cuh"
#include "ops/dropout.cuh"
#include "ops/gelu.cuh"
#include "ops/linear.cuh"
#include "ops/swiglu.cuh"
#include "verdict/bounds/ops/gelu.hpp"
#include "verdict/bounds/ops/linear.hpp"
#include "verdict/bounds/ops/swiglu.hpp"

namespace {

using namespace plumbline::gpu;
namespace bounds = plumbline::op_bounds;
using bounds::Computed;

int failures = 0;

/// A format's bits, decoded here and not by what is tested.
struct Encoding {
  Format format;
  const char* name;
  int exponent_bits, mantissa_bits;
  bounds::Storage storage;
  bounds::ProductNumerics numerics;

  double decode(std::uint32_t bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
    const double mantissa = std::ldexp(bits & ((1u << mantissa_bits) - 1), -mantissa_bits);
    const double sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return mantissa > 0 ? std::nan("") : sign * HUGE_VAL;
    return sign * (exponent == 0 ? std::ldexp(mantissa, 1 - bias)
                                 : std::ldexp(1 + mantissa, exponent - bias));
  }
};
// Tensor cores may cut off bits: of tf32's operands, and of every accumulation.
constexpr double kAccumulation = PLUMBLINE_ON_GPU ? 0x1p-23 : 0x1p-24;
constexpr double kOperand = PLUMBLINE_ON_GPU ? 0x1p-10 : 0x1p-11;
const Encoding kEncodings[] = {
    {Format::fp32, "fp32", 8, 23, bounds::stored_fp32, {0, 0x1p-24}},
    {Format::tf32, "tf32", 8, 23, bounds::stored_fp32, {kOperand, kAccumulation}},
    {Format::bf16, "bf16", 8, 7, bounds::stored_bf16, {0, kAccumulation}},
    {Format::fp16, "fp16", 5, 10, bounds::stored_fp16, {0, kAccumulation}},
};

std::uint64_t random_bits() {  // Knuth's MMIX generator
  static std::uint64_t state = 7;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 16;
}

/// An array on the device in one of the formats, and its numbers.
class Array {
 public:
  /// Random numbers of magnitudes from 2^low to 2^high.
  Array(const Stream& stream, const Encoding& e, std::size_t count, int low, int high)
      : Array(stream, e, count) {
    std::vector<std::uint32_t> words(count);
    const int bias = (1 << (e.exponent_bits - 1)) - 1;
    for (std::uint32_t& bits : words) {
      const auto exponent = static_cast<std::uint32_t>(
          bias + low + static_cast<int>(random_bits() % static_cast<unsigned>(high - low)));
      bits = static_cast<std::uint32_t>(random_bits()) & ((1u << e.mantissa_bits) - 1);
      bits |= exponent << e.mantissa_bits;
      bits |= static_cast<std::uint32_t>(random_bits() & 1) << (e.exponent_bits + e.mantissa_bits);
    }
    std::vector<unsigned char> bytes(count * width());
    for (std::size_t n = 0; n < count; ++n)
      std::memcpy(&bytes[n * width()], &words[n], width());  // little-endian
    buffer_.copy_from_host(stream, bytes.data(), 0, bytes.size());
    stream.wait();
  }
  Array(const Stream& stream, const Encoding& e, std::size_t count)
      : stream_(stream), encoding_(e), buffer_(stream, count * element_bytes(e.format)) {}

  void* data() const { return buffer_.data(); }
  std::vector<double> numbers() const {
    std::vector<unsigned char> bytes(buffer_.size());
    buffer_.copy_to_host(stream_, bytes.data());
    stream_.wait();
    std::vector<double> values;
    for (std::size_t n = 0; n < bytes.size(); n += width()) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &bytes[n], width());
      values.push_back(encoding_.decode(bits));
    }
    return values;
  }

 private:
  std::size_t width() const { return element_bytes(encoding_.format); }

  const Stream& stream_;
  const Encoding& encoding_;
  DeviceBuffer<unsigned char> buffer_;
};

/// Compares element by element; `judged` false only tells.
void compare(const std::string& what, const Encoding& e, const std::vector<double>& got,
             const std::vector<Computed>& expected, const bounds::Storage& storage,
             bool judged = true) {
  double worst = 0;
  bool good = got.size() == expected.size();
  for (std::size_t n = 0; good && n < got.size(); ++n) {
    const double limit = bounds::stored_error(expected[n], storage);
    if (std::isinf(limit)) continue;
    const double error = std::fabs(got[n] - expected[n].value);
    if (!(error <= limit)) {
      worst = error / limit;
      good = false;
    } else if (error > 0) {
      worst = std::fmax(worst, error / limit);
    }
  }
  std::printf("%s: %s %s, error / limit %.3g of %zu\n",
              good ? "ok" : (judged ? "FAILED" : "beyond the kernels' bound"), what.c_str(), e.name,
              worst, got.size());
  if (!good && judged) ++failures;
}

template <class Element>
void elementwise(const Stream& stream, const Encoding& e) {
  constexpr std::size_t count = 5000;
  const Array a(stream, e, count, -8, 5), b(stream, e, count, -4, 2), grad(stream, e, count, -4, 2);
  const Array y(stream, e, count), grad_a(stream, e, count), grad_b(stream, e, count);
  const auto in = [](const Array& x) { return static_cast<const Element*>(x.data()); };
  const auto out = [](const Array& x) { return static_cast<Element*>(x.data()); };
  const auto na = a.numbers(), nb = b.numbers(), ng = grad.numbers();
  const auto expect = [&](const char* what, const Array& got, auto&& computed) {
    std::vector<Computed> expected;
    for (std::size_t n = 0; n < count; ++n) expected.push_back(computed(n));
    compare(what, e, got.numbers(), expected, e.storage);
  };
  gelu(stream, GeluForm::tanh, in(a), out(y), count);
  gelu_backward(stream, GeluForm::tanh, in(a), in(grad), out(grad_a), count);
  expect("gelu tanh y", y, [&](std::size_t n) { return bounds::gelu_tanh(na[n]); });
  expect("gelu tanh grad_x", grad_a,
         [&](std::size_t n) { return Computed{ng[n]} * bounds::gelu_tanh_derivative(na[n]); });
  gelu(stream, GeluForm::erf, in(a), out(y), count);
  gelu_backward(stream, GeluForm::erf, in(a), in(grad), out(grad_a), count);
  expect("gelu erf y", y, [&](std::size_t n) { return bounds::gelu_erf(na[n]); });
  expect("gelu erf grad_x", grad_a,
         [&](std::size_t n) { return Computed{ng[n]} * bounds::gelu_erf_derivative(na[n]); });
  swiglu(stream, in(a), in(b), out(y), count);
  swiglu_backward(stream, in(a), in(b), in(grad), out(grad_a), out(grad_b), count);
  expect("swiglu y", y, [&](std::size_t n) { return bounds::swiglu(na[n], nb[n]); });
  expect("swiglu grad_a", grad_a,
         [&](std::size_t n) { return bounds::swiglu_grad_a(na[n], nb[n], ng[n]); });
  expect("swiglu grad_b", grad_b,
         [&](std::size_t n) { return bounds::swiglu_grad_b(na[n], ng[n]); });
  // Random123's first vector for a counter and a key of 0: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  dropout(stream, {0.7, 0, 0}, in(a), out(y), 4);
  const auto kept = y.numbers();
  const bool mask = kept[0] == 0 && kept[1] != 0 && kept[2] != 0 && kept[3] == 0;
  std::printf("%s: dropout's mask %s\n", mask ? "ok" : "FAILED", e.name);
  if (!mask) ++failures;
}

void linear(const Stream& stream, const Encoding& e, const LinearShape& s, GeluEpilogue epilogue) {
  const auto [rows, in, out] = s;
  const Encoding& wide = kEncodings[0];
  const auto size = [](int a, int b) { return static_cast<std::size_t>(a) * b; };
  const Array x(stream, e, size(rows, in), -6, 1), w(stream, e, size(out, in), -6, 0);
  const Array b(stream, e, out, -3, 1), pre_in(stream, e, size(rows, in), -4, 2);
  const Array grad_y(stream, e, size(rows, out), -6, 0), y(stream, e, size(rows, out));
  const Array pre(stream, e, size(rows, out)), gelu_y(stream, e, size(rows, out));
  const Array grad_x(stream, e, size(rows, in)), grad_pre(stream, e, size(rows, in));
  const Array grad_w(stream, wide, size(out, in), -3, 1), grad_b(stream, wide, out, -3, 1);
  const Array grad_bias(stream, wide, in);
  const auto nx = x.numbers(), nw = w.numbers(), nb = b.numbers(), ng = grad_y.numbers();
  const auto np = pre_in.numbers(), old_w = grad_w.numbers(), old_b = grad_b.numbers();
  Linear layer(stream, epilogue);
  layer.forward(s, e.format, x.data(), w.data(), b.data(), y.data());
  layer.forward_gelu(s, e.format, GeluForm::tanh, x.data(), w.data(), b.data(), pre.data(),
                     gelu_y.data());
  layer.backward_input(s, e.format, grad_y.data(), w.data(), grad_x.data());
  layer.backward_input_gelu(s, e.format, GeluForm::tanh, grad_y.data(), w.data(), pre_in.data(),
                            grad_pre.data(), static_cast<float*>(grad_bias.data()),
                            Gradient::overwrite);
  layer.backward_weight(s, e.format, x.data(), grad_y.data(), static_cast<float*>(grad_w.data()),
                        static_cast<float*>(grad_b.data()), Gradient::accumulate);

  std::vector<Computed> sums, values, inputs, slopes, weights, biases, bias_sums;
  for (int t = 0; t < rows; ++t)
    for (int o = 0; o < out; ++o) {
      sums.push_back(bounds::dot(&nx[size(t, in)], 1, &nw[size(o, in)], 1, in, e.numerics) +
                     Computed{nb[o]});
      values.push_back(
          bounds::through_gelu(bounds::gelu_tanh(sums.back().value), sums.back().error));
    }
  for (int t = 0; t < rows; ++t)
    for (int c = 0; c < in; ++c) {
      inputs.push_back(bounds::dot(&ng[size(t, out)], 1, &nw[c], in, out, e.numerics));
      slopes.push_back(inputs.back() * bounds::gelu_tanh_derivative(np[size(t, in) + c]));
    }
  for (int o = 0; o < out; ++o) {
    std::vector<Computed> terms{{old_b[o]}};
    for (int t = 0; t < rows; ++t) terms.push_back({ng[size(t, out) + o]});
    biases.push_back(bounds::sum(terms, rows + 1));
    for (int c = 0; c < in; ++c)
      weights.push_back(bounds::dot(&ng[o], out, &nx[c], in, rows, e.numerics) +
                        Computed{old_w[size(o, in) + c]});
  }
  for (int c = 0; c < in; ++c) {
    std::vector<Computed> terms;
    for (int t = 0; t < rows; ++t) {
      const Computed& slope = slopes[size(t, in) + c];
      terms.push_back({slope.value, bounds::stored_error(slope, e.storage)});
    }
    bias_sums.push_back(bounds::sum(terms, rows + 1));
  }
  const bool judged = epilogue == GeluEpilogue::never;
  const std::string shape = "linear " + std::to_string(rows) + "x" + std::to_string(in) + "x" +
                            std::to_string(out) + (judged ? " " : " (GELU epilogue) ");
  compare(shape + "y", e, y.numbers(), sums, e.storage);
  compare(shape + "pre", e, pre.numbers(), sums, e.storage);
  compare(shape + "gelu", e, gelu_y.numbers(), values, e.storage, judged);
  compare(shape + "grad_x", e, grad_x.numbers(), inputs, e.storage);
  compare(shape + "grad_pre", e, grad_pre.numbers(), slopes, e.storage, judged);
  compare(shape + "grad_bias", e, grad_bias.numbers(), bias_sums, bounds::stored_fp32, judged);
  compare(shape + "grad_w", e, grad_w.numbers(), weights, bounds::stored_fp32);
  compare(shape + "grad_b", e, grad_b.numbers(), biases, bounds::stored_fp32);
}

}  // namespace

int main() {
#if PLUMBLINE_ON_GPU
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no GPU");
    return 77;
  }
#endif
  const Stream stream;
  elementwise<float>(stream, kEncodings[0]);
  elementwise<bfloat16>(stream, kEncodings[2]);
  elementwise<float16>(stream, kEncodings[3]);
  for (const Encoding& e : kEncodings)
    for (const LinearShape& shape :
         {LinearShape{1, 1, 1}, {70, 33, 40}, {64, 64, 128}, {130, 24, 8}})
      for (const GeluEpilogue epilogue : {GeluEpilogue::never, GeluEpilogue::where_possible})
        linear(stream, e, shape, epilogue);
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
