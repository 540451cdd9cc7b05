// SPDX-License-Identifier: Apache-2.0
// The oracle of gradients against the adjoint of reference/, read in intervals.
#include "verdict/oracle/gradient_oracle.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <utility>

#include "reference/attention/attention_grad.hpp"
#include "verdict/bounds/bias_gradient.hpp"
#include "verdict/oracle/case_reading.hpp"
#include "verdict/oracle/certified_interval.hpp"
#include "verdict/property/spec_generator.hpp"

BOOST_AUTO_TEST_SUITE(gradient_oracle_test)

using namespace plumbline;
using reference::Interval;
using verdict::OracleNumber;

namespace {

verdict::Contract contract() {
  verdict::Contract contract{};
  contract.unit_roundoff = 0x1p-24;
  contract.exp_error = 0x1p-20;
  contract.splits = 1;
  return contract;
}

cases::Case small_case(cases::Bias bias, std::uint64_t seed) {
  cases::Spec spec;
  spec.pass = cases::Pass::backward;
  spec.bias = bias;
  spec.batch = 2;
  spec.heads = 2;
  spec.kv_heads = seed % 2 == 0 ? 1 : 2;
  spec.keys = 7;
  spec.queries = seed % 3 == 0 ? 7 : 4;
  spec.query_offset = spec.keys - spec.queries;
  spec.head_dim = 32;
  spec.ssmax = seed % 2 == 1;
  spec.mask.causal = bias == PLUMBLINE_FOX || seed % 3 == 1;
  spec.mask.ragged = seed % 4 == 3;
  if (seed % 5 == 2) spec.mask.window = 2;
  spec.seed = seed;
  return cases::generate(spec);
}

/// An exact gradient, as an interval, beside the oracle's.
void compare(const Interval& exact, const OracleNumber& oracle, double& worst_radius) {
  const auto [value, radius] = verdict::certified(exact);
  BOOST_TEST(std::abs(value - oracle.value) <= radius + oracle.radius);
  BOOST_TEST(oracle.radius <= verdict::largest_radius * oracle.bound);
  BOOST_TEST(std::isfinite(oracle.bound));
  worst_radius = std::max(worst_radius, oracle.radius / oracle.bound);
}

/// The reference's gradients of a bias, spread out as the kernel's tensors have them.
struct Parameters {
  const cases::Case& c;
  std::array<std::vector<Interval>, PLUMBLINE_PARAMETER_COUNT> sums;

  explicit Parameters(const cases::Case& the_case) : c(the_case) {
    for (int p = 0; p < PLUMBLINE_PARAMETER_COUNT; ++p) {
      if (!cases::has_gradient(c.spec, static_cast<plumbline_parameter>(p))) continue;
      sums[p].assign(c.parameters[p].size(), Interval(0.0));
    }
  }
  void add(plumbline_parameter p, std::size_t n, const Interval& x) { sums[p].at(n) += x; }
  void prefix(plumbline_parameter p, int row, const reference::Vector<Interval>& grad_sums) {
    const auto grad = reference::prefix_sum_grad(grad_sums);
    for (int k = 0; k < c.spec.keys; ++k) add(p, row * c.spec.keys + k, grad[k]);
  }

  /// Of one query row, after which the sums begin anew.
  void take_row(reference::Matrix<Interval>& grad, int batch, int head, int query) {
    const std::size_t first = cases::first_of_row(c.spec, c.options, batch, head, query);
    for (int j = 0; j < c.spec.keys; ++j) add(PLUMBLINE_TENSOR, first + j, grad(0, j));
    grad.setConstant(Interval(0.0));
  }

  template <class Grad>
  void take(const Grad& grad, int batch, int head) {
    const int row = batch * c.spec.heads + head;
    if constexpr (requires { grad.prefix_sum; }) {
      prefix(c.spec.bias == PLUMBLINE_FOX ? PLUMBLINE_LOG_FORGET : PLUMBLINE_INCREMENTS, row,
             grad.prefix_sum);
    }
    if constexpr (requires { grad.gain; }) {
      for (int r = 0; r < c.spec.queries; ++r) {
        add(PLUMBLINE_GAIN, row * c.spec.queries + r, grad.gain[r]);
      }
    }
    if constexpr (requires { grad.numbers(); }) {  // in the order of the table of methods
      const methods::Parameter* parameter = methods::row(c.spec.bias.method).parameters.begin();
      std::apply([&](const auto&... by) { (add(parameter++->id, head, by), ...); }, grad.numbers());
    }
    if constexpr (requires { grad.table; }) {
      for (int n = 0; n < grad.table.size(); ++n) {
        add(PLUMBLINE_TABLE, head * grad.table.size() + n, grad.table[n]);
      }
    }
    if constexpr (requires { grad.hidden_weight; }) {
      const auto width = grad.hidden_weight.size();
      for (int w = 0; w < width; ++w) {
        add(PLUMBLINE_HIDDEN_WEIGHT, w, grad.hidden_weight[w]);
        add(PLUMBLINE_HIDDEN_BIAS, w, grad.hidden_bias[w]);
        add(PLUMBLINE_OUTPUT_WEIGHT, head * width + w, grad.output_weight[w]);
      }
      add(PLUMBLINE_OUTPUT_BIAS, head, grad.output_bias);
      add(PLUMBLINE_C, 0, grad.c);
      add(PLUMBLINE_L, 0, grad.L);
    }
  }
};

/// A bias of the same type, for another row.
template <class Bias>
Bias bias_of(const Bias& like, const verdict::CaseReading<Interval>& reading, int batch, int head,
             int position) {
  Bias result = like;
  reading.with_additive_bias(batch, head, position, [&](const auto& bias) {
    if constexpr (std::is_same_v<std::decay_t<decltype(bias)>, Bias>) result = bias;
  });
  return result;
}

/// An o and an lse that a forward pass may have given, a thousandth off.
cases::Outputs some_outputs(const cases::Case& c) {
  const auto& s = c.spec;
  const verdict::Oracle oracle(c, contract(), s.format);
  cases::Outputs outputs;
  for (int row = 0; row < s.batch * s.heads * s.queries; ++row) {
    const auto exact =
        oracle.row(row / s.queries / s.heads, row / s.queries % s.heads, row % s.queries);
    const double off = row % 2 == 0 ? 0.001 : -0.002;
    for (const auto& o : exact.o) outputs.o.push_back(static_cast<float>(o.value + off));
    outputs.lse.push_back(static_cast<float>(exact.lse.value + off));
  }
  return outputs;
}

/// keep / (1 - dropout) of a row's visible keys.
reference::Vector<Interval> dropout_of(const cases::Case& c, std::size_t q_row,
                                       const std::vector<int>& visible) {
  if (c.spec.dropout == 0) return {};
  reference::Vector<Interval> factors(static_cast<Eigen::Index>(visible.size()));
  for (std::size_t n = 0; n < visible.size(); ++n) {
    factors[n] = Interval(static_cast<double>(c.keep[q_row * c.spec.keys + visible[n]])) /
                 (Interval(1.0) - Interval(double{c.spec.dropout}));
  }
  return factors;
}

/// Everything by reference/attention/attention_grad.hpp, row by row. With a given o and lse, P is
/// e^(L - lse) p and D is dO . o: the reference's P and D with e^(L - lse) dO and a gradient of L.
double compare_with_reference(const cases::Case& c, const cases::Outputs* given) {
  const auto& s = c.spec;
  const verdict::CaseReading<Interval> reading(c);
  const auto oracle =
      verdict::gradient_oracle(c, contract(), {s.format, s.format, s.format, s.format}, given, 2);
  const auto pairs = verdict::rope_pairs(s.bias);
  const Interval base(c.options[PLUMBLINE_BASE]);
  Parameters parameters(c);
  double worst = 0;
  std::vector<reference::Matrix<Interval>> k, v;
  for (int kv = 0; kv < s.batch * s.kv_heads; ++kv) {
    k.push_back(reference::zeros<Interval>(s.keys, s.head_dim));
    v.push_back(reference::zeros<Interval>(s.keys, s.value_width()));
  }
  for (int row = 0; row < s.batch * s.heads; ++row) {
    const int batch = row / s.heads, head = row % s.heads;
    const int kv = batch * s.kv_heads + head / (s.heads / s.kv_heads);
    reading.with_additive_bias(batch, head, c.first_position(batch), [&](const auto& of_first_row) {
      auto grad = of_first_row.zero_grad();
      Interval ssmax_grad(0.0), sink_grad(0.0);
      std::optional<Interval> ssmax;
      if (s.ssmax) ssmax = Interval(double{c[PLUMBLINE_SSMAX_SCALE][head]});
      for (int r = 0; r < s.queries; ++r) {
        const std::size_t first = (static_cast<std::size_t>(row) * s.queries + r) * s.head_dim;
        const std::size_t q_row = static_cast<std::size_t>(row) * s.queries + r;
        const int position = c.position(batch, r);
        const int width = s.value_width();
        auto grad_o = verdict::vector_of<Interval>(c.grad_o, q_row * width, width);
        Interval grad_lse(s.lse_gradient ? double{c.grad_lse[q_row]} : 0.0);
        const auto visible = reading.visible(batch, head, r);
        if (given != nullptr && !visible.empty()) {
          const auto exact = reading.row(batch, head, r, visible);
          const auto o = verdict::vector_of<Interval>(given->o, q_row * width, width);
          const Interval lse(double{given->lse[q_row]});
          const Interval growth = reference::exp(exact.lse - lse);
          for (Interval& g : grad_o) g = growth * g;
          grad_lse = growth * grad_lse +
                     reference::dot(reference::view(grad_o), reference::view(exact.output)) -
                     reference::dot(reference::view(grad_o), reference::view(o));
        } else if (given != nullptr && s.sinks) {
          const Interval lse(double{given->lse[q_row]});
          grad_lse = reference::exp(*reading.sink(head) - lse) * grad_lse;
        }
        const auto bias = bias_of(of_first_row, reading, batch, head, position);
        reference::Matrix<Interval> q =
            reference::attention_row_grad(reading.q(batch, head, r), *reading.k(kv), *reading.v(kv),
                                          visible, Interval(c.scale), bias, position, ssmax, grad_o,
                                          grad_lse, {k[kv], v[kv], grad, ssmax_grad, sink_grad},
                                          reading.softcap(), reading.sink(head),
                                          dropout_of(c, q_row, visible))
                .transpose();
        if (pairs) q = reference::rope_grad(q, position, base, *pairs, s.rotary_dim);
        for (int d = 0; d < s.head_dim; ++d) compare(q(0, d), oracle.q[first + d], worst);
        if constexpr (requires { parameters.take_row(grad, batch, head, r); }) {
          parameters.take_row(grad, batch, head, r);
        }
      }
      parameters.take(grad, batch, head);
      if (s.ssmax) parameters.add(PLUMBLINE_SSMAX_SCALE, head, ssmax_grad);
      if (s.sinks) parameters.add(PLUMBLINE_SINKS, head, sink_grad);
    });
  }
  for (int kv = 0; kv < s.batch * s.kv_heads; ++kv) {
    if (pairs) k[kv] = reference::rope_grad(k[kv], 0, base, *pairs, s.rotary_dim);
    for (Eigen::Index n = 0; n < k[kv].size(); ++n) {
      compare(k[kv].data()[n], oracle.k[kv * k[kv].size() + n], worst);
    }
    for (Eigen::Index n = 0; n < v[kv].size(); ++n) {
      compare(v[kv].data()[n], oracle.v[kv * v[kv].size() + n], worst);
    }
  }
  for (int p = 0; p < PLUMBLINE_PARAMETER_COUNT; ++p) {
    BOOST_REQUIRE(oracle.parameters[p].size() == parameters.sums[p].size());
    for (std::size_t n = 0; n < parameters.sums[p].size(); ++n) {
      compare(parameters.sums[p][n], oracle.parameters[p][n], worst);
    }
  }
  return worst;
}

bool same(const std::vector<OracleNumber>& a, const std::vector<OracleNumber>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.value == y.value && x.radius == y.radius && x.bound == y.bound;
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_gradient_is_the_references_within_its_radius) {
  for (const auto bias : cases::all_biases()) {
    if (cases::needs_scores(bias)) continue;
    double worst = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      BOOST_TEST_CONTEXT(cases::name(bias) << ", seed " << seed) {
        auto c = small_case(bias, seed);
        if (seed > 4) c.spec.softcap = seed == 5 ? 0.5 : 3;
        if (seed % 2 == 0) {
          c.spec.sinks = true;
          for (int h = 0; h < c.spec.heads; ++h) {
            c[PLUMBLINE_SINKS].push_back(static_cast<float>(h) - 0.5f * static_cast<float>(seed));
          }
        }
        worst = std::max(worst, compare_with_reference(c, nullptr));
        const auto given = some_outputs(c);
        worst = std::max(worst, compare_with_reference(c, &given));
      }
    }
    BOOST_TEST_MESSAGE(cases::name(bias) << ": largest radius / bound " << worst);
  }
}

BOOST_AUTO_TEST_CASE(widths_mask_tensors_and_gradients_through_lse_are_the_references) {
  for (const auto bias : {PLUMBLINE_NOPE, PLUMBLINE_CABLE, PLUMBLINE_T5_CLIPPED}) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      auto spec = small_case(bias, seed).spec;
      spec.value_dim = seed % 3 == 0 ? 0 : 1 + static_cast<int>(seed);
      spec.lse_gradient = seed % 4 != 0;
      spec.sinks = seed % 2 == 0;
      spec.mask.pattern = seed % 5 == 0 ? cases::Pattern::none : cases::Pattern::scattered;
      spec.mask.per_head = spec.mask.pattern != cases::Pattern::none;
      BOOST_TEST_CONTEXT(cases::to_line(spec)) {
        const auto c = cases::generate(spec);
        compare_with_reference(c, nullptr);
        const auto given = some_outputs(c);
        compare_with_reference(c, &given);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(dropout_and_partial_rope_are_the_references) {
  for (const cases::Bias bias :
       {cases::Bias(PLUMBLINE_ALIBI), cases::Bias(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_INTERLEAVED),
        cases::Bias(PLUMBLINE_GGD, 0, PLUMBLINE_ROPE_HALF_SPLIT)}) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      auto spec = small_case(bias, seed).spec;
      spec.dropout = seed % 4 == 0 ? 0 : seed % 2 == 0 ? 0.1F : 0.5F;
      spec.softcap = seed % 3 == 0 ? 2 : 0;
      spec.sinks = seed % 2 == 0;
      if (bias.has_rope()) spec.rotary_dim = seed % 3 == 1 ? 0 : 2;
      BOOST_TEST_CONTEXT(cases::to_line(spec)) {
        const auto c = cases::generate(spec);
        compare_with_reference(c, nullptr);
        const auto given = some_outputs(c);
        compare_with_reference(c, &given);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_at_any_position_windows_documents_and_latent_widths_are_the_references) {
  // Of 7 keys and 4 queries, the last at the last key, under a causal mask.
  using Change = std::function<void(cases::Spec&)>;
  const std::pair<const char*, Change> changes[] = {
      {"bottom_right", [](auto& s) { s.query_offset = s.keys - s.queries; }},
      {"top_left", [](auto& s) { s.query_offset = 0; }},
      {"more_queries, bottom_right", [](auto& s) { s.queries = 11, s.query_offset = -4; }},
      {"more_queries, top_left", [](auto& s) { s.queries = 11, s.query_offset = 0; }},
      {"queries_at_end", [](auto& s) { s.mask.ragged = s.queries_at_end = true; }},
      {"window of two sides",
       [](auto& s) {
         s.mask.causal = false, s.mask.window = reference::Window{1, 3};
       }},
      {"documents", [](auto& s) { s.mask.documents = true; }},
      {"latent widths", [](auto& s) { s.head_dim = 192, s.value_dim = 128; }}};
  for (const auto& [name, change] : changes) {
    for (const std::uint64_t seed : {1, 4}) {
      auto spec = small_case(PLUMBLINE_ALIBI, seed).spec;
      change(spec);
      BOOST_TEST_CONTEXT(name << ": " << cases::to_line(spec)) {
        const auto c = cases::generate(spec);
        compare_with_reference(c, nullptr);
        const auto given = some_outputs(c);
        compare_with_reference(c, &given);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sinks_that_rows_see_alone_may_be_summed_in_float) {
  auto spec = small_case(PLUMBLINE_NOPE, 2).spec;
  spec.batch = spec.heads = spec.kv_heads = 1;
  spec.queries = 4096;
  spec.query_offset = spec.keys - spec.queries;
  spec.mask.ragged = spec.sinks = spec.lse_gradient = true;
  auto c = cases::generate(spec);
  c.lengths = {0};
  std::fill(c.grad_lse.begin(), c.grad_lse.end(), 0.1f);
  cases::Outputs given;
  given.o.resize(c.grad_o.size());
  given.lse.assign(c.grad_lse.size(), c[PLUMBLINE_SINKS][0]);
  const auto oracle = verdict::gradient_oracle(c, contract(), {}, &given, 1);
  const OracleNumber& sink = oracle.parameters[PLUMBLINE_SINKS][0];
  float sum = 0;
  for (const float g : c.grad_lse) sum += g;
  BOOST_TEST(std::abs(sum - sink.value) > 0x1p-19 * sink.value);
  BOOST_TEST(std::abs(sum - sink.value) <= sink.bound);
  BOOST_TEST(sink.bound < 1e-3 * sink.value);
}

BOOST_AUTO_TEST_CASE(fires_output_bias_has_the_gradient_through_lse) {
  auto spec = small_case(PLUMBLINE_FIRE, 1).spec;
  spec.lse_gradient = true;
  const auto c = cases::generate(spec);
  const auto oracle = verdict::gradient_oracle(c, contract(), {}, nullptr, 1);
  for (const OracleNumber& number : oracle.parameters[PLUMBLINE_OUTPUT_BIAS]) {
    BOOST_TEST(std::abs(number.value) > 10 * number.bound);  // 0 in its place fails
  }
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_does_not_change_a_bit) {
  for (const auto bias : {PLUMBLINE_CABLE, PLUMBLINE_FIRE}) {
    auto spec = small_case(bias, 1).spec;
    spec.keys = spec.queries = 40;
    spec.query_offset = 0;
    const auto c = cases::generate(spec);
    const verdict::GradientFormats formats{};
    const auto one = verdict::gradient_oracle(c, contract(), formats, nullptr, 1);
    const auto three = verdict::gradient_oracle(c, contract(), formats, nullptr, 3);
    BOOST_TEST((same(one.q, three.q) && same(one.k, three.k) && same(one.v, three.v)));
    for (int p = 0; p < PLUMBLINE_PARAMETER_COUNT; ++p) {
      BOOST_TEST(same(one.parameters[p], three.parameters[p]));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
