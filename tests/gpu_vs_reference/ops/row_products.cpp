// SPDX-License-Identifier: Apache-2.0
#include "ops/row_products.cuh"

#include "reference/core/primitives.hpp"
#include "reference/model/gelu.hpp"
#include "reference/model/layernorm.hpp"
#include "reference/model/rmsnorm.hpp"
#include "reference/model/swiglu.hpp"
#include "tests/gpu_vs_reference/ops/linear_problem.hpp"
#include "verdict/bounds/ops/head_gate.hpp"
#include "verdict/bounds/ops/norm.hpp"
#include "verdict/bounds/ops/row_products.hpp"

BOOST_AUTO_TEST_SUITE(row_products_test)

using namespace plumbline;
using namespace plumbline::op_tests;
using namespace plumbline::op_tests::linear_problem;
using gpu::RowFunction;

namespace {

enum class NormKind { none, layernorm, rmsnorm };
constexpr NormKind norms[] = {NormKind::none, NormKind::layernorm, NormKind::rmsnorm};
constexpr RowFunction functions[] = {RowFunction::identity, RowFunction::gelu,
                                     RowFunction::swiglu,   RowFunction::increment,
                                     RowFunction::gain,     RowFunction::log_forget};
constexpr const char* names[] = {"identity", "gelu", "swiglu", "increment", "gain", "log_forget"};
constexpr double epsilon = 0x1p-17;

bool is_gate(RowFunction f) { return f >= RowFunction::increment; }

/// A map with what it reads; gates are in fp32 whatever the row's format.
struct MapProblem {
  RowFunction function;
  FormatOf format;
  int out;
  std::vector<double> w, b, gate, residual;  // b and residual empty: none
  bool odd = false;                          // w begins one number after a boundary of 16 bytes
};

struct Problem {
  NormKind norm;
  std::vector<double> x, gamma, beta;
  std::vector<MapProblem> maps;
};

Problem problem(std::uint64_t seed, const FormatOf& format, NormKind norm) {
  reference::Numbers numbers(seed);
  constexpr int widths[] = {1, 7, 8, 33, 255, 264, 2056};
  const int in = widths[numbers.whole(0, seed % 4 == 0 ? 6 : 5)];
  Problem p{.norm = norm};
  p.x = representable_in(format.format, numbers.between(-2, 2, in));
  p.gamma = representable<float>(numbers.between(-2, 2, in));
  p.beta = representable<float>(numbers.between(-1, 1, in));
  const int maps = numbers.whole(1, gpu::kMostRowMaps);
  for (int n = 0; n < maps; ++n) {
    MapProblem map{.function = functions[(seed + 2 * n) % 6]};
    map.format = is_gate(map.function) ? formats[0] : format;
    map.out = numbers.whole(1, 19);
    const auto many = [&](int count, double most) {
      return representable_in(map.format.format, numbers.between(-most, most, count));
    };
    const double size = 3.0 / std::sqrt(in);
    map.w = many(map.out * in, size);
    if (numbers.whole(0, 3) > 0) map.b = many(map.out, 2);
    if (map.function == RowFunction::swiglu) map.gate = many(map.out * in, size);
    if (!is_gate(map.function) && numbers.whole(0, 1)) map.residual = many(map.out, 3);
    map.odd = seed % 3 == 0;
    p.maps.push_back(map);
  }
  return p;
}

std::vector<RunningError> exact_row(const Problem& p) {
  const int in = static_cast<int>(p.x.size());
  const auto x = matrix(p.x, 1, in);
  const auto gamma = reference::lifted<RunningError>(p.gamma);
  const auto beta = reference::lifted<RunningError>(p.beta);
  const auto row =
      p.norm == NormKind::layernorm ? reference::layernorm(x, gamma, beta, RunningError(epsilon))
      : p.norm == NormKind::rmsnorm ? reference::rmsnorm(x, gamma, RunningError(epsilon))
                                    : x;
  return {row.data(), row.data() + in};
}

std::vector<Computed> computed_row(const Problem& p, const std::vector<RunningError>& exact) {
  const int in = static_cast<int>(p.x.size());
  std::vector<double> errors(in, 0.0);
  if (p.norm != NormKind::none) {
    const op_bounds::NormProblem norm{
        .rows = 1, .width = in, .epsilon = epsilon, .x = p.x, .gamma = p.gamma, .beta = p.beta};
    const op_bounds::NormContract contract{op_bounds::stored_fp32, in, 1, true};
    errors = (p.norm == NormKind::layernorm ? layernorm_bounds(norm, contract)
                                            : rmsnorm_bounds(norm, contract))
                 .y;
  }
  std::vector<Computed> row;
  for (int c = 0; c < in; ++c) row.push_back({exact[c].value(), errors[c]});
  return row;
}

RunningError exact_product(const std::vector<RunningError>& row, const double* w) {
  RunningError sum(0.0);
  for (std::size_t c = 0; c < row.size(); ++c) sum += row[c] * RunningError(w[c]);
  return sum;
}

RunningError exact_value(RowFunction f, const RunningError& z, const RunningError& gate) {
  switch (f) {
    case RowFunction::identity:
      return z;
    case RowFunction::gelu:
      return reference::gelu_tanh(z);
    case RowFunction::swiglu:
      return reference::swiglu(gate, z);
    case RowFunction::increment:
      return reference::relu(z);
    case RowFunction::gain:
      return reference::softplus(z);
    default:
      return -reference::softplus(-z);
  }
}

Computed computed_value(RowFunction f, const Computed& z, const Computed& gate) {
  const op_bounds::HeadGateContract contract{.exp_error = op_bounds::exp_error,
                                             .log1p_error = 2 * op_bounds::unit_roundoff};
  switch (f) {
    case RowFunction::identity:
      return z;
    case RowFunction::gelu:
      return op_bounds::gelu_of(z);
    case RowFunction::swiglu:
      return op_bounds::swiglu_of(gate, z);
    case RowFunction::increment:
      return head_gate_value(op_bounds::HeadGate::increment, z, contract);
    case RowFunction::gain:
      return head_gate_value(op_bounds::HeadGate::gain, z, contract);
    default:
      return head_gate_value(op_bounds::HeadGate::log_forget, z, contract);
  }
}

/// The device's results, map by map. A residual stands where the result comes.
std::vector<std::vector<double>> results(const Problem& p, const FormatOf& format) {
  const gpu::Stream stream;
  const Array x(format.format, p.x);
  const auto gamma = on_device<float>(p.gamma), beta = on_device<float>(p.beta);
  std::vector<Array> kept;  // the maps' arrays
  kept.reserve(5 * p.maps.size());
  const auto given = [&](const MapProblem& map, std::vector<double> numbers,
                         bool odd = false) -> void* {
    if (numbers.empty()) return nullptr;
    if (odd) numbers.insert(numbers.begin(), 0.0);
    kept.emplace_back(map.format.format, numbers);
    const std::size_t bytes = odd ? gpu::element_bytes(map.format.format) : 0;
    return static_cast<unsigned char*>(kept.back().data()) + bytes;
  };
  std::vector<gpu::RowMap> maps;
  std::vector<std::size_t> places;
  for (const MapProblem& map : p.maps) {
    gpu::RowMap on_device{.out = map.out,
                          .format = map.format.format,
                          .w = given(map, map.w, map.odd),
                          .b = given(map, map.b),
                          .y = nullptr,
                          .function = map.function,
                          .gate = given(map, map.gate, map.odd)};
    if (map.residual.empty())
      kept.emplace_back(map.format.format, static_cast<std::size_t>(map.out));
    else
      on_device.residual = given(map, map.residual);
    on_device.y = kept.back().data();
    places.push_back(kept.size() - 1);
    maps.push_back(on_device);
  }
  gpu::row_products(stream,
                    {.in = static_cast<int>(p.x.size()),
                     .format = format.format,
                     .x = x.data(),
                     .gamma = p.norm == NormKind::none ? nullptr : gamma.data(),
                     .beta = p.norm == NormKind::layernorm ? beta.data() : nullptr,
                     .epsilon = static_cast<float>(epsilon)},
                    maps);
  stream.wait();
  std::vector<std::vector<double>> all;
  for (const std::size_t place : places) all.push_back(kept[place].numbers());
  return all;
}

BOOST_AUTO_TEST_CASE(maps_of_a_row_are_within_their_bounds) {
  for (const FormatOf& format : formats) {
    std::vector<Comparison> comparisons;
    for (const char* name : names) comparisons.emplace_back(called(name, format));
    for (const NormKind norm : norms) {
      for_seeds(40, [&](std::uint64_t seed) {
        const Problem p = problem(seed, format, norm);
        const auto got = results(p, format);
        const std::vector<RunningError> exact = exact_row(p);
        const std::vector<Computed> row = computed_row(p, exact);
        for (std::size_t m = 0; m < p.maps.size(); ++m) {
          const MapProblem& map = p.maps[m];
          for (int n = 0; n < map.out; ++n) {
            const double* const w = &map.w[n * row.size()];
            RunningError z = exact_product(exact, w), gate(0.0);
            Computed computed_z = op_bounds::row_product(row, w), computed_gate;
            if (!map.b.empty()) {
              z += RunningError(map.b[n]);
              computed_z = computed_z + Computed{map.b[n]};
            }
            if (!map.gate.empty()) {
              gate = exact_product(exact, &map.gate[n * row.size()]);
              computed_gate = op_bounds::row_product(row, &map.gate[n * row.size()]);
            }
            RunningError y = exact_value(map.function, z, gate);
            Computed computed = computed_value(map.function, computed_z, computed_gate);
            if (!map.residual.empty()) {
              y += RunningError(map.residual[n]);
              computed = computed + Computed{map.residual[n]};
            }
            comparisons[static_cast<int>(map.function)].element(
                n, got[m][n], y, stored_error(computed, map.format.storage));
          }
        }
      });
    }
    for (const Comparison& comparison : comparisons) comparison.finish(0.02);
  }
}

BOOST_AUTO_TEST_CASE(the_bits_do_not_depend_on_threads_and_workers) {
  const Problem p = problem(3, formats[2], NormKind::layernorm);
  expect_same_bits([&] { return results(p, formats[2])[0]; });
}

BOOST_AUTO_TEST_CASE(what_cannot_be_multiplied_is_refused) {
  const gpu::Stream stream;
  const Device<float> a(64);
  const gpu::RowInput row{.in = 4, .format = Format::fp32, .x = a.data()};
  const gpu::RowMap map{.out = 2, .format = Format::fp32, .w = a.data(), .y = a.data() + 32};
  const auto refused = [&](const gpu::RowInput& of, const std::vector<gpu::RowMap>& maps,
                           const char* text) {
    BOOST_CHECK_EXCEPTION(gpu::row_products(stream, of, maps), std::invalid_argument, says(text));
  };
  refused(row, {}, "maps is 0, must be 1 to 5");
  refused(row, std::vector<gpu::RowMap>(6, map), "maps is 6, must be 1 to 5");
  gpu::RowInput bad_row = row;
  bad_row.in = 0;
  refused(bad_row, {map}, "in is 0");
  bad_row = row;
  bad_row.x = nullptr;
  refused(bad_row, {map}, "x is null");
  bad_row = row;
  bad_row.gamma = a.data();
  refused(bad_row, {map}, "epsilon is 0");
  gpu::RowMap bad = map;
  bad.out = 0;
  refused(row, {bad}, "out is 0");
  bad = map;
  bad.w = nullptr;
  refused(row, {bad}, "w is null");
  bad = map;
  bad.y = nullptr;
  refused(row, {bad}, "y is null");
  bad = map;
  bad.function = RowFunction::swiglu;
  refused(row, {bad}, "gate is null");
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
