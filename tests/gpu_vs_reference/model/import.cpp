// SPDX-License-Identifier: Apache-2.0
// Files with Hugging Face's names into a model on the device and out of it again; the logits that
// come of them, against the oracle's. (That the oracle reads PyTorch's files, and computes what
// PyTorch does, is tests/models/checkpoint's matter.)
#include <filesystem>

#include "model/model.cuh"
#include "model/upload.cuh"
#include "models/checkpoint/device_model.hpp"
#include "models/checkpoint/load.hpp"
#include "models/checkpoint/save.hpp"
#include "reference/model/gpt2.hpp"
#include "reference/scalars/double.hpp"
#include "support/error.hpp"
#include "tests/gpu_vs_reference/model/gpt2_step.hpp"
#include "tests/gpu_vs_reference/model/traced_tier.hpp"

BOOST_AUTO_TEST_SUITE(import_test)

using namespace plumbline;
using namespace plumbline::gpu_tests;

namespace {

/// GPT-2 itself, as the oracle has it.
template <class R>
reference::Gpt2Parameters<R> oracle_model(const gpu::ModelConfiguration& c) {
  auto oracle = reference::gpt2(c.layers, c.heads, c.width);
  oracle.vocabulary = c.vocabulary;
  oracle.positions = c.context;
  auto parameters = reference::Gpt2Parameters<R>::zero(oracle);
  set_oracle_parameters(gpu::ParameterLayout(c), parameters);
  return parameters;
}

struct TemporaryFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("plumbline-import-" + std::to_string(getpid()));
  ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_file_of_the_oracles_gives_its_parameters_and_back) {
  const auto c = small_gpt2("learnable");
  const gpu::ParameterLayout layout(c);
  const auto model = oracle_model<double>(c);
  TemporaryFile file;
  checkpoint::save(file.path, checkpoint::gpt2_naming(), model);

  std::vector<float> values(layout.size(), 0.0f);
  checkpoint::load_model(file.path, c.architecture, layout, values);
  for (const gpu::Parameter& p : layout.all()) {
    std::vector<float> expected(p.size());
    set_test_values(p, expected);
    BOOST_TEST(std::ranges::equal(expected, std::span(values).subspan(p.offset, p.size())), p.name);
  }

  checkpoint::save_model(file.path, c.architecture, layout, values);
  auto again = oracle_model<double>(c);
  reference::for_each_parameter(again, [](const std::string&, auto& tensor) { tensor.setZero(); });
  checkpoint::load(file.path, checkpoint::gpt2_naming(), again);
  BOOST_TEST((again.wte == model.wte));
  BOOST_TEST((again.blocks[1].c_fc.weight == model.blocks[1].c_fc.weight));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_and_nothing_is_set) {
  const auto c = small_gpt2("learnable");
  auto model = oracle_model<double>(c);
  TemporaryFile file;
  const auto loaded = [&](const gpu::ModelConfiguration& configuration) {
    const gpu::ParameterLayout layout(configuration);
    std::vector<float> values(layout.size(), 5.0f);
    BOOST_CHECK_THROW(checkpoint::load_model(file.path, configuration.architecture, layout, values),
                      BadInput);
    return std::ranges::all_of(values, [](float value) { return value == 5.0f; });
  };
  checkpoint::save(file.path, checkpoint::gpt2_naming(), model);
  auto other = c;
  other.vocabulary = 20;
  BOOST_TEST(loaded(other));
  model.wte(3, 4) = 1e39;  // a double, but not a float
  checkpoint::save(file.path, checkpoint::gpt2_naming(), model);
  BOOST_TEST(loaded(c));
}

BOOST_AUTO_TEST_CASE(logits_of_an_imported_model) {
  using reference::Tape, reference::Traced;
  const auto c = small_gpt2("learnable");
  TemporaryFile file;
  checkpoint::save(file.path, checkpoint::gpt2_naming(), oracle_model<double>(c));
  const StepBatch batch = causal_batch(false);
  const gpu::Stream stream;
  const auto model = gpu::make_model(stream, c, {.batch = batch.batch, .length = batch.length});
  std::vector<float> values(model->layout().size());
  checkpoint::load_model(file.path, c.architecture, model->layout(), values);
  gpu::upload(stream, values, model->parameters());
  model->parameters_changed();
  const std::vector<float> logits = model->logits(batch.view());

  Traced::tape.clear();
  auto oracle = reference::gpt2(c.layers, c.heads, c.width);
  oracle.vocabulary = c.vocabulary;
  oracle.positions = c.context;
  const auto parameters = oracle_model<Traced>(c);
  std::vector<Traced> expected;
  for (int b = 0; b < batch.batch; ++b) {
    const auto state =
        reference::gpt2_forward<reference::TracedTier>(oracle, parameters, batch.of(batch.ids, b));
    const auto of_b = reference::gpt2_logits<reference::TracedTier>(parameters, state.hidden);
    expected.insert(expected.end(), of_b.data(), of_b.data() + of_b.size());
  }
  BOOST_REQUIRE_EQUAL(logits.size(), expected.size());
  double worst = 0, loosest = 0;
  for (std::size_t first = 0; first < expected.size(); first += Tape::kAtOnce) {
    std::vector<std::vector<Tape::Edge>> seeds;
    for (std::size_t n = first; n < std::min(first + Tape::kAtOnce, expected.size()); ++n)
      seeds.push_back({{expected[n].node(), 1.0}});
    const auto reaches = Traced::tape.reach(seeds);
    for (std::size_t k = 0; k < seeds.size(); ++k) {
      const double error = std::fabs(logits[first + k] - expected[first + k].value());
      const double bound = bound_of(reaches[k]);
      BOOST_TEST(error <= bound, "logit " << first + k << " is off by " << error);
      worst = std::max(worst, error / bound);
      loosest = std::max(loosest, bound);
    }
  }
  std::printf("logits: error/bound at most %.3g, bounds at most %.2g\n", worst, loosest);
}

BOOST_AUTO_TEST_SUITE_END()
