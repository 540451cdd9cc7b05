// SPDX-License-Identifier: Apache-2.0
// The update of a whole model: which parameter decays, is clamped, stays. The step itself is
// compared with the oracle in ops/optimizer.cpp.
#include "train/optimizer.cuh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "support/error.hpp"

BOOST_AUTO_TEST_SUITE(optimizer_test)

using namespace plumbline;
using gpu::DeviceBuffer;

namespace {

gpu::ModelConfiguration small_model(const char* position) {
  gpu::ModelConfiguration model = gpu::preset("nano");
  model.layers = 1;
  model.vocabulary = 11;
  model.context = 5;
  model.position = position;
  return model;
}

std::vector<float> fetch(const gpu::Stream& stream, const DeviceBuffer<float>& buffer) {
  std::vector<float> host(buffer.size());
  buffer.copy_to_host(stream, host.data());
  stream.wait();
  return host;
}

/// A model whose parameters are all `start`, and gradients +-1 by turns.
struct Model {
  gpu::Stream stream;
  gpu::ModelConfiguration configuration;
  gpu::ParameterLayout layout{configuration};
  DeviceBuffer<float> master{stream, layout.size()}, gradient{stream, layout.size()};
  std::vector<float> before, gradients;

  explicit Model(const char* position, float start = 0.5f)
      : configuration(small_model(position)),
        before(layout.size(), 0.0f),
        gradients(layout.size(), 0.0f) {
    for (const auto& p : layout.all()) {
      for (std::size_t n = 0; n < p.size(); ++n) {
        before[p.offset + n] = start;
        gradients[p.offset + n] = n % 2 ? -1.0f : 1.0f;
      }
    }
    upload();
  }
  void upload() {
    master.copy_from_host(stream, before.data(), 0, before.size());
    gradient.copy_from_host(stream, gradients.data(), 0, gradients.size());
  }
};

/// At most a dozen roundings to fp32 lie between the operands and the result.
bool close(double found, double expected, double size) {
  return std::abs(found - expected) <= 12 * 0x1p-24 * size;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_update_moves_by_the_rate_and_decays_matrices_alone) {
  Model m("cable");
  const gpu::OptimizerSettings settings{.weight_decay = 0.25, .max_norm = 0.0};
  gpu::Optimizer optimizer(m.stream, m.layout, settings);
  const double rate = 0x1p-6;
  std::size_t numbers = 0;
  for (const auto& p : m.layout.all()) numbers += p.size();
  optimizer.update(0, rate, m.master.data(), m.gradient.data());
  const double norm = optimizer.norm();
  BOOST_TEST(std::abs(norm - std::sqrt(static_cast<double>(numbers))) <= 0x1p-40 * norm);
  const std::vector<float> after = fetch(m.stream, m.master);
  for (const auto& p : m.layout.all()) {
    const bool matrix = p.shape.size() == 2;
    const double kept = 0.5 * (matrix ? 1 - rate * 0.25 : 1.0);
    for (std::size_t n = 0; n < p.size(); ++n) {
      const double g = m.gradients[p.offset + n];
      BOOST_TEST(close(after[p.offset + n], kept - rate * g, 0.5 + rate), p.name << " " << n);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_update_has_its_own_rate_and_number) {
  // While the gradient stays, AdamW's corrected mean is the gradient, and the corrected mean of
  // squares its square: an update moves by its rate.
  Model m("cable");
  gpu::Optimizer optimizer(m.stream, m.layout, {.weight_decay = 0.0, .max_norm = 0.0});
  double moved = 0.0;
  int n = 0;
  for (const double rate : {0x1p-6, 0x1p-8, 0x1p-7, 0x1p-9}) {
    optimizer.update(n++, rate, m.master.data(), m.gradient.data());
    moved += rate;
  }
  const std::vector<float> after = fetch(m.stream, m.master);
  for (const auto& p : m.layout.all())
    for (std::size_t k = p.offset; k < p.offset + p.size(); ++k)
      BOOST_TEST(close(after[k], 0.5 - moved * m.gradients[k], 0.5 + moved), p.name << " " << k);
}

BOOST_AUTO_TEST_CASE(padding_stays_zero) {
  Model m("fire");
  gpu::Optimizer optimizer(m.stream, m.layout, {});
  for (int n = 0; n < 3; ++n) optimizer.update(n, 1e-2, m.master.data(), m.gradient.data());
  const std::vector<float> after = fetch(m.stream, m.master);
  std::vector<bool> used(after.size());
  for (const auto& p : m.layout.all())
    for (std::size_t n = 0; n < p.size(); ++n) used[p.offset + n] = true;
  std::size_t padding = 0;
  for (std::size_t n = 0; n < after.size(); ++n) {
    if (used[n]) continue;
    ++padding;
    BOOST_TEST(after[n] == 0.0f);
  }
  BOOST_TEST(padding > 0u);
}

BOOST_AUTO_TEST_CASE(what_is_not_trained_stays_and_does_not_count) {
  Model m("ggd");
  for (const auto& p : m.layout.all())
    if (!p.trained)
      for (std::size_t n = 0; n < p.size(); ++n) m.gradients[p.offset + n] = 1e30f;
  m.upload();
  gpu::Optimizer optimizer(m.stream, m.layout, {});
  optimizer.update(0, 1e-2, m.master.data(), m.gradient.data());
  const double norm = optimizer.norm();
  BOOST_TEST(norm < 1e6);
  const std::vector<float> after = fetch(m.stream, m.master);
  int constants = 0;
  for (const auto& p : m.layout.all()) {
    if (p.trained) continue;
    ++constants;
    for (std::size_t n = 0; n < p.size(); ++n) BOOST_TEST(after[p.offset + n] == 0.5f);
  }
  BOOST_TEST(constants > 0);  // theta_mu
}

BOOST_AUTO_TEST_CASE(parameters_with_a_domain_are_clamped) {
  Model m("kerple_power", 1.999f);
  gpu::Optimizer optimizer(m.stream, m.layout, {});
  optimizer.update(0, 5.0, m.master.data(), m.gradient.data());
  const std::vector<float> after = fetch(m.stream, m.master);
  const auto& p = m.layout["transformer.h.0.attn.position.p"];
  // Even numbers step down by 5 to the least, 0.01; odd ones up to the most, 2.
  for (std::size_t n = 0; n < p.size(); ++n) {
    const float expected = n % 2 ? 2.0f : 0.01f;
    BOOST_TEST(after[p.offset + n] == expected);
  }
}

BOOST_AUTO_TEST_CASE(a_gradient_that_is_not_finite_changes_nothing) {
  Model m("kerple_power", 5.0f);  // outside of p's domain
  for (const float bad : {NAN, INFINITY}) {
    m.gradients[m.layout.all()[1].offset] = bad;
    m.upload();
    gpu::Optimizer optimizer(m.stream, m.layout, {});
    optimizer.update(0, 1e-2, m.master.data(), m.gradient.data());
    BOOST_TEST(!std::isfinite(optimizer.norm()));
    BOOST_TEST(fetch(m.stream, m.master) == m.before);
    BOOST_TEST(fetch(m.stream, optimizer.mean()) == std::vector<float>(m.layout.size()));
    BOOST_TEST(fetch(m.stream, optimizer.mean_square()) == std::vector<float>(m.layout.size()));
  }
}

BOOST_AUTO_TEST_CASE(an_update_waits_for_nothing) {
  Model m("cable");
  gpu::Optimizer optimizer(m.stream, m.layout, {});
  const long before = gpu::Stream::waits;
  optimizer.update(0, 1e-2, m.master.data(), m.gradient.data());
  BOOST_TEST(gpu::Stream::waits == before);
}

BOOST_AUTO_TEST_CASE(settings_out_of_their_domain_are_refused) {
  using Settings = gpu::OptimizerSettings;
  for (const Settings& s :
       {Settings{.beta1 = 1.0}, Settings{.beta2 = 0.0}, Settings{.epsilon = 0.0},
        Settings{.weight_decay = -1.0}, Settings{.max_norm = NAN}})
    BOOST_CHECK_THROW(gpu::validate(s), BadInput);
}

BOOST_AUTO_TEST_SUITE_END()
