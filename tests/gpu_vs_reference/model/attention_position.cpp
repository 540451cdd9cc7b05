// SPDX-License-Identifier: Apache-2.0
// The position method in an attention layer, forward and backward, against the oracle's: from the
// layer's input, its queries, keys and values and what the layer learns for its positions to the
// heads' outputs and every gradient, in fp32.
//
// The tolerance: read with a running error, the oracle tells to first order what one rounding of
// 2^-53 in each of its operations can do to a result, through gates, prefix sums, logits, softmax
// and back. The kernels evaluate the same formulas with 2^-24 and differ in this: their sums have
// other orders, with shorter chains than the oracle's one after the other; exp errs by 2.5 ulp
// where the oracle counts 1; P is taken from a rounded LSE and D from rounded o, which doubles the
// roundings between the logits and P. Four times the oracle's error, in units of 2^-24, is more
// than all of it; prefix sums, which the kernels take in double, have room to spare. A gate that is
// not certain to be open or closed would have no bound: there is none among these inputs, and the
// test says so if there is.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "attention/attention.cuh"
#include "core/fill_zero.cuh"
#include "emulation/grid.hpp"
#include "methods.hpp"
#include "model/attention_problem.hpp"
#include "model/position.cuh"
#include "reference/attention/attention_grad.hpp"
#include "reference/bias/all.hpp"
#include "reference/position/context_position.hpp"
#include "reference/position/learned_position.hpp"
#include "reference/position/rotary_position.hpp"
#include "reference/scalars/running_error.hpp"
#include "tests/gpu/small_case.hpp"
#include "tests/gpu_vs_reference/compare.hpp"

BOOST_AUTO_TEST_SUITE(attention_position_test)

namespace {

namespace ref = plumbline::reference;
using namespace plumbline::gpu;
using R = ref::RunningError;
using plumbline::gpu_tests::compare;
using plumbline::gpu_tests::kUnits;
using Floats = std::vector<float>;

constexpr int kBatch = 2, kLength = 37, kLayer = 1;

DeviceBuffer<float> on_device(const Stream& stream, const Floats& values) {
  DeviceBuffer<float> buffer(stream, values.size());
  buffer.copy_from_host(stream, values.data(), 0, values.size());
  return buffer;
}

Floats from_device(const Stream& stream, const DeviceBuffer<float>& buffer) {
  Floats values(buffer.size());
  buffer.copy_to_host(stream, values.data());
  stream.wait();
  return values;
}

/// A model's sizes, and numbers for one of its attention layers.
struct Layer {
  explicit Layer(const ModelConfiguration& configuration)
      : c(configuration), layout(c), attention(attention_name(c.architecture, kLayer)) {
    plumbline::gpu_tests::Numbers numbers(5);
    const std::size_t tokens = kBatch * kLength, width = c.width;
    const std::size_t key_width = static_cast<std::size_t>(c.kv_heads) * c.head_dim();
    x = numbers.many(tokens * width, -1.0f, 1.0f);
    q = numbers.many(tokens * width, -2.0f, 2.0f);
    k = numbers.many(tokens * key_width, -2.0f, 2.0f);
    v = numbers.many(tokens * key_width, -1.0f, 1.0f);
    grad_o = numbers.many(q.size(), -1.0f, 1.0f);
    grad_x = numbers.many(x.size(), -1.0f, 1.0f);  // of the layer's other uses of x
    values.resize(layout.size());
    for (const Parameter& p : layout.all()) {
      const float least = std::max(p.least, p.name.ends_with(".c") ? 0.1f : -0.5f);
      for (std::size_t n = 0; n < p.size(); ++n)
        values[p.offset + n] = numbers.between(least, least + 0.9f);
    }
  }

  ModelConfiguration c;
  ParameterLayout layout;
  std::string attention;
  Floats x, q, k, v, grad_o, grad_x, values;
};

/// What the kernels make of it; `gradients` is a flat buffer.
struct Results {
  Floats o, grad_q, grad_k, grad_v, grad_x, gradients;
};

Results run(const Layer& layer) {
  const Stream stream;
  const ModelConfiguration& c = layer.c;
  const auto x = on_device(stream, layer.x), q = on_device(stream, layer.q),
             k = on_device(stream, layer.k), v = on_device(stream, layer.v),
             grad_o = on_device(stream, layer.grad_o), grad_x = on_device(stream, layer.grad_x),
             values = on_device(stream, layer.values);
  const DeviceBuffer<float> o(stream, layer.q.size()), grad_q(stream, layer.q.size()),
      grad_k(stream, layer.k.size()), grad_v(stream, layer.v.size()),
      lse(stream, kBatch * kLength * c.heads), gradients(stream, layer.values.size()),
      activations(stream, LayerPosition<float>::activations(c, kBatch, kLength));
  fill_zero(stream, gradients.data(), gradients.size());

  plumbline_problem problem = attention_problem(c, kBatch, kLength);
  const Attention attention(stream, problem, attention_kernels(c.format, false, true),
                            {.backward = true});
  const PositionWorkspace workspace(stream, c, kBatch, kLength);
  const LayerPosition<float> position(stream, c, layer.layout, kLayer, values.data(),
                                      gradients.data(), activations.data(), workspace);
  const std::size_t held = DeviceMemory::used;
  DeviceMemory::peak = held;
  problem.q = q.data();
  problem.k = k.data();
  problem.v = v.data();
  plumbline_problem again = problem;
  position.forward(kBatch, kLength, x.data(), problem);
  attention.forward(problem, {o.data(), lse.data()});
  plumbline_gradients to{o.data(),      lse.data(),    grad_o.data(), nullptr,
                         grad_q.data(), grad_k.data(), grad_v.data(), {}};
  position.prepare_backward(again, to);
  attention.backward(again, to, Gradient::accumulate);
  position.backward(kBatch, kLength, x.data(), grad_x.data());
  BOOST_TEST(DeviceMemory::peak == held);  // a step allocates nothing

  return {from_device(stream, o),      from_device(stream, grad_q), from_device(stream, grad_k),
          from_device(stream, grad_v), from_device(stream, grad_x), from_device(stream, gradients)};
}

ref::Matrix<R> rows(const Floats& values, std::size_t index, int columns) {
  ref::Matrix<R> m(kLength, columns);
  for (int t = 0; t < kLength; ++t)
    for (int n = 0; n < columns; ++n) m(t, n) = R(values[(index * kLength + t) * columns + n]);
  return m;
}

struct Expected {
  std::vector<R> o, grad_q, grad_k, grad_v, grad_x;
  std::map<std::string, std::vector<R>> parameters;
};

void append(std::vector<R>& to, const ref::Matrix<R>& m) {
  for (int t = 0; t < m.rows(); ++t)
    for (int n = 0; n < m.cols(); ++n) to.push_back(m(t, n));
}

/// Increments whose gate the kernels might find on the other side.
bool all_gates_are_certain(const ref::Matrix<R>& X, const auto& parameters) {
  if constexpr (requires { parameters.increment; }) {
    for (int t = 0; t < X.rows(); ++t) {
      for (int h = 0; h < parameters.increment.bias.size(); ++h) {
        R z = parameters.increment.bias[h];
        for (int n = 0; n < X.cols(); ++n) z += X(t, n) * parameters.increment.weight(h, n);
        if (!(std::abs(z.value()) > kUnits * z.error())) return false;
      }
    }
  }
  return true;
}

template <class Position>
Expected oracle(const Layer& layer, const Position& position) {
  const ModelConfiguration& c = layer.c;
  const int group = c.heads / c.kv_heads;
  auto parameters = position.template zero_parameters<R>(c.heads, c.width);
  auto grad = position.template zero_parameters<R>(c.heads, c.width);
  using Parameters = decltype(parameters);
  Parameters::each(parameters, layer.attention + ".position", [&](const auto& name, auto& tensor) {
    const float* from = layer.values.data() + layer.layout[name].offset;
    for (Eigen::Index r = 0; r < tensor.rows(); ++r)
      for (Eigen::Index n = 0; n < tensor.cols(); ++n) tensor(r, n) = R(*from++);
  });
  std::vector<R> ssmax, grad_ssmax(c.heads, R(0.0));
  if (c.ssmax)
    for (int h = 0; h < c.heads; ++h)
      ssmax.push_back(R(layer.values[layer.layout[layer.attention + ".ssmax.scale"].offset + h]));
  ref::Mask mask;
  mask.causal = c.architecture != Architecture::bert;

  Expected expected;
  for (int b = 0; b < kBatch; ++b) {
    const ref::Matrix<R> X = rows(layer.x, b, c.width);
    BOOST_REQUIRE(all_gates_are_certain(X, parameters));
    ref::AttentionInputs<R> inputs{{1, c.heads, c.kv_heads, kLength, kLength, c.head_dim(), 0},
                                   {},
                                   {},
                                   {},
                                   R(1.0) / ref::sqrt(R(c.head_dim())),
                                   position.mask(mask),
                                   ssmax};
    ref::AttentionUpstream<R> upstream;
    for (int h = 0; h < c.heads; ++h) {
      inputs.q.push_back(position.rotated(rows(layer.q, b * c.heads + h, c.head_dim()), 0));
      upstream.output.push_back(rows(layer.grad_o, b * c.heads + h, c.head_dim()));
    }
    for (int h = 0; h < c.kv_heads; ++h) {
      inputs.k.push_back(position.rotated(rows(layer.k, b * c.kv_heads + h, c.head_dim()), 0));
      inputs.v.push_back(rows(layer.v, b * c.kv_heads + h, c.head_dim()));
    }
    typename Position::template Cache<R> nothing_before{};
    const auto biases = position.biases(parameters, X, c.heads, nothing_before);
    const auto bias_of = [&](int, int h) { return biases[h]; };
    for (const auto& row : ref::attention(inputs, bias_of))
      expected.o.insert(expected.o.end(), row.output.begin(), row.output.end());
    const auto by = ref::attention_grad(inputs, bias_of, upstream);
    for (int h = 0; h < c.heads; ++h) {
      append(expected.grad_q, position.rotated_grad(by.q[h], 0));
      if (c.ssmax) grad_ssmax[h] += by.ssmax_scale[h];
    }
    for (int h = 0; h < c.heads / group; ++h) {
      append(expected.grad_k, position.rotated_grad(by.k[h], 0));
      append(expected.grad_v, by.v[h]);
    }
    ref::Matrix<R> grad_x = rows(layer.grad_x, b, c.width);
    const ref::Matrix<R> by_bias = position.biases_grad(parameters, X, by.bias, grad);
    if (by_bias.size() > 0) ref::add_to(grad_x, by_bias);
    append(expected.grad_x, grad_x);
  }
  Parameters::each(grad, layer.attention + ".position", [&](const auto& name, auto& tensor) {
    for (Eigen::Index r = 0; r < tensor.rows(); ++r)
      for (Eigen::Index n = 0; n < tensor.cols(); ++n)
        expected.parameters[name].push_back(tensor(r, n));
  });
  if (c.ssmax) expected.parameters[layer.attention + ".ssmax.scale"] = grad_ssmax;
  return expected;
}

ModelConfiguration configuration(Architecture architecture, const char* position) {
  ModelConfiguration c{.architecture = architecture,
                       .layers = 2,
                       .heads = 2,
                       .kv_heads = 2,
                       .width = 64,
                       .hidden = 64,
                       .vocabulary = 3,
                       .context = kLength,
                       .position = position};
  if (c.position.starts_with("alibi")) {  // no power of two, whose slopes differ
    c.heads = c.kv_heads = 3;
    c.width = 96;
  }
  c.options.window = 9;
  c.options.buckets = 8;
  c.options.max_distance = 20;
  c.options.largest = 6;
  c.options.hidden = 5;
  c.options.L0 = 30;
  c.options.trains_mu = true;
  if (architecture == Architecture::llama_style) {
    c.kv_heads = 1;
    c.ssmax = true;
  }
  return c;
}

template <class Position>
void check(const char* name, Architecture architecture, const Position& position) {
  BOOST_TEST_CONTEXT(name << " in architecture " << static_cast<int>(architecture)) {
    const Layer layer(configuration(architecture, name));
    const Results results = run(layer);
    const Expected expected = oracle(layer, position);
    compare("o", results.o, expected.o);
    compare("grad_q", results.grad_q, expected.grad_q);
    compare("grad_k", results.grad_k, expected.grad_k);
    compare("grad_v", results.grad_v, expected.grad_v);
    compare("grad_x", results.grad_x, expected.grad_x);
    for (const Parameter& p : layer.layout.all()) {
      const float* gradient = results.gradients.data() + p.offset;
      const auto found = expected.parameters.find(p.name);
      if (found != expected.parameters.end())
        compare(p.name, {gradient, found->second.size()}, found->second);
      else  // another layer's
        BOOST_TEST(std::count(gradient, gradient + p.size(), 0.0f) == std::ptrdiff_t(p.size()),
                   p.name);
    }
  }
}

template <class Position>
void check_decoders(const char* name, const Position& position) {
  check(name, Architecture::gpt2, position);
  check(name, Architecture::llama_style, position);
}

template <class Position>
void check_all(const char* name, const Position& position) {
  check_decoders(name, position);
  check(name, Architecture::bert, position);
}

BOOST_AUTO_TEST_CASE(biases_that_learn_nothing_from_tokens_are_the_oracles) {
  using namespace ref;
  check_all("nope", NopePosition());
  check_all("alibi", AlibiPosition());
  AlibiPosition geometric;
  geometric.geometric_slopes = true;
  check_all("alibi_geometric", geometric);
#define PLUMBLINE_CHECK(number, Form) check_all(Form<double>::name, PositionOfHeads<Form>());
  PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_CHECK)
#undef PLUMBLINE_CHECK
}

BOOST_AUTO_TEST_CASE(so_are_tables_and_fire) {
  using namespace ref;
  check_decoders("t5", TablePosition<T5Buckets>{{}, {T5Buckets(8, 20, false)}});
  check_all("t5_bidirectional", TablePosition<T5Buckets>{{}, {T5Buckets(8, 20, true)}});
  check_decoders("t5_clipped", TablePosition<ClippedDistance>{{}, {ClippedDistance(6)}});
  check_all("t5_clipped_offset", TablePosition<ClippedOffset>{{}, {ClippedOffset(6)}});
  FirePosition fire;
  fire.method.hidden = 5;
  fire.method.L0 = 30;
  check_all("fire", fire);
}

BOOST_AUTO_TEST_CASE(so_are_those_of_the_tokens_content_with_what_comes_back_to_the_input) {
  using namespace ref;
  check_all("cable", CablePosition());
  check_all("cable_nw", CableNwPosition());
  check_all("k_cable", KCablePosition());
  check_all("k_cable_nw", KCableNwPosition());
  check_decoders("fox", FoxPosition());
}

BOOST_AUTO_TEST_CASE(so_is_rope) {
  using namespace ref;
  RopePosition rope;
  check_all("rope_interleaved", rope);
  rope.pairs = RopePairs::half_split;
  check_all("rope_half_split", rope);
  RopePosition local;
  local.window = 9;
  check_all("local_rope", local);
  local.window_count = WindowCount::keys;
  check_all("local_rope_keys", local);
}

BOOST_AUTO_TEST_CASE(neither_workers_nor_the_order_of_threads_change_a_bit) {
  for (const char* name : {"cable", "ggd", "fire", "fox"}) {
    const Layer layer(configuration(Architecture::llama_style, name));
    const auto with = [&](unsigned workers) {
      plumbline::emulation::set_workers(workers);
      plumbline::emulation::set_thread_order_seed(workers);
      return run(layer);
    };
    const Results one = with(1), three = with(3);
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST((one.o == three.o));
      BOOST_TEST((one.grad_q == three.grad_q));
      BOOST_TEST((one.grad_k == three.grad_k));
      BOOST_TEST((one.grad_v == three.grad_v));
      BOOST_TEST((one.grad_x == three.grad_x));
      BOOST_TEST((one.gradients == three.gradients));
    }
  }
  plumbline::emulation::set_thread_order_seed(1);
}

BOOST_AUTO_TEST_CASE(the_prior_keeps_mu_where_it_is_not_trained) {
  ModelConfiguration c = configuration(Architecture::gpt2, "ggd");
  c.options.trains_mu = false;
  const Layer layer(c);
  const Parameter& mu = layer.layout[layer.attention + ".position.theta_mu"];
  const Results results = run(layer);
  for (std::size_t n = 0; n < mu.size(); ++n) BOOST_TEST(results.gradients[mu.offset + n] == 0.0f);
}

BOOST_AUTO_TEST_CASE(a_bias_without_a_layer_is_refused) {
  BOOST_CHECK_THROW(position_inputs({PLUMBLINE_COPE, 1}), std::invalid_argument);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
