// SPDX-License-Identifier: Apache-2.0
#include "models/inference/trained_model.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "model/initial_values.hpp"
#include "models/checkpoint/device_model.hpp"
#include "models/training/settings.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "tests/support/temporary_folder.hpp"

BOOST_AUTO_TEST_SUITE(trained_model_test)

using namespace plumbline;
using gpu::ModelConfiguration;
using gpu::ParameterLayout;

namespace {

ModelConfiguration small_model(gpu::Architecture architecture = gpu::Architecture::gpt2) {
  ModelConfiguration model{.architecture = architecture,
                           .layers = 1,
                           .heads = 2,
                           .kv_heads = 2,
                           .width = 64,
                           .hidden = 96,
                           .vocabulary = 11,
                           .context = 5};
  if (architecture == gpu::Architecture::gpt2) model.hidden = 256;
  if (architecture == gpu::Architecture::llama_style) {
    model.kv_heads = 1;
    model.position = "rope_half_split";
  }
  return model;
}

std::vector<float> some_parameters(const ModelConfiguration& model, std::uint64_t seed) {
  const ParameterLayout layout(model);
  std::vector<float> values(layout.size());
  gpu::set_initial_values(layout, seed, values);
  return values;
}

/// A checkpoint of a run, as training writes it.
void save_run(const std::filesystem::path& folder, long updates, std::uint64_t seed) {
  training::Settings settings;
  settings.model = small_model();
  settings.model.position = "cable";
  const ParameterLayout layout(settings.model);
  const std::vector<float> moments(layout.size());
  training::save_checkpoint(training::checkpoint_path(folder, updates), settings.model, layout,
                            training::terms_of(settings, {}),
                            {updates, some_parameters(settings.model, seed), moments, moments});
}

/// Hugging Face's two files.
void save_huggingface(const std::filesystem::path& folder, const ModelConfiguration& model,
                      const std::string& config) {
  checkpoint::save_model(folder / "model.safetensors", model.architecture, ParameterLayout(model),
                         some_parameters(model, 3));
  write_file(folder / "config.json", config);
}

const std::string kGpt2 =
    R"({"model_type": "gpt2", "n_layer": 1, "n_head": 2, "n_embd": 64, "vocab_size": 11,
        "n_positions": 5, "layer_norm_epsilon": 1e-05, "activation_function": "gelu_new",
        "n_inner": null, "resid_pdrop": 0.1})";
const std::string kLlama =
    R"({"model_type": "llama", "num_hidden_layers": 1, "num_attention_heads": 2,
        "num_key_value_heads": 1, "hidden_size": 64, "intermediate_size": 96, "vocab_size": 11,
        "max_position_embeddings": 5, "rms_norm_eps": 1e-05, "rope_theta": 500000.0,
        "rope_scaling": null, "hidden_act": "silu", "tie_word_embeddings": false})";
const std::string kBert =
    R"({"model_type": "bert", "num_hidden_layers": 1, "num_attention_heads": 2, "hidden_size": 64,
        "intermediate_size": 96, "vocab_size": 11, "max_position_embeddings": 5,
        "hidden_act": "gelu"})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string refusal(const std::filesystem::path& path) {
  try {
    inference::load_trained_model(path);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_run_gives_its_newest_checkpoint) {
  const test::TemporaryFolder folder;
  save_run(folder.path, 100, 1);
  save_run(folder.path, 200, 2);
  const auto newest = inference::load_trained_model(folder.path);
  BOOST_TEST(newest.configuration.position == "cable");
  BOOST_TEST(newest.configuration.vocabulary == 11);
  BOOST_TEST(newest.tokenizer == "byte");
  BOOST_TEST(newest.parameters == some_parameters(newest.configuration, 2));
  const auto older = inference::load_trained_model(training::checkpoint_path(folder.path, 100));
  BOOST_TEST(older.parameters == some_parameters(newest.configuration, 1));
}

BOOST_AUTO_TEST_CASE(hugging_faces_files_are_loaded_by_their_configuration) {
  using enum gpu::Architecture;
  for (const auto& [architecture, config] :
       {std::pair{gpt2, kGpt2}, std::pair{llama_style, kLlama}, std::pair{bert, kBert}}) {
    const test::TemporaryFolder folder;
    const ModelConfiguration expected = small_model(architecture);
    save_huggingface(folder.path, expected, config);
    for (const auto& path : {folder.path, folder.path / "model.safetensors"}) {
      const auto model = inference::load_trained_model(path);
      BOOST_TEST(model.parameters == some_parameters(expected, 3));
      BOOST_TEST(model.configuration.kv_heads == expected.kv_heads);
      BOOST_TEST(model.configuration.position == expected.position);
      BOOST_TEST(model.configuration.epsilon == (architecture == bert ? 1e-12 : 1e-5));
      BOOST_TEST(model.configuration.options.base == (architecture == llama_style ? 5e5 : 1e4));
      BOOST_TEST(model.tokenizer.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_model_is_refused_by_name) {
  const test::TemporaryFolder folder;
  BOOST_TEST(contains(refusal(folder.path / "none"), "none"));
  BOOST_TEST(contains(refusal(folder.path), "which holds no model"));
  write_file(folder.path / "model.safetensors", "no tensors");
  BOOST_TEST(contains(refusal(folder.path), "model.safetensors"));
  save_huggingface(folder.path, small_model(), kGpt2);
  BOOST_TEST(refusal(folder.path) == "nothing was thrown");
  const auto with_config = [&](const std::string& config) {
    write_file(folder.path / "config.json", config);
    return refusal(folder.path);
  };
  const struct {
    std::string from, to, message;
  } cases[] = {
      {R"("gpt2")", R"("gpt_neo")", "config.json\": model_type is \"gpt_neo\"; expected gpt2"},
      {R"("n_layer": 1, )", "", "n_layer is missing"},
      {R"("n_layer": 1)", R"("n_layer": 1.5)", "n_layer is"},
      {R"("n_head": 2)", R"("n_head": 3)", "heads is 3; expected a divisor of width, 64"},
      {R"("gelu_new")", R"("relu")", "activation_function is \"relu\""},
      {R"("vocab_size": 11)", R"("vocab_size": 12)", "transformer.wte.weight"},
      {R"("n_positions": 5)", R"("n_positions": -5)", "n_positions is"},
      {R"("n_layer": 1)", R"("tie_word_embeddings": false, "n_layer": 1)",
       "tie_word_embeddings is false; expected true"},
  };
  for (const auto& [from, to, message] : cases) {
    const std::string said = with_config(replaced(kGpt2, from, to));
    BOOST_TEST(contains(said, message), to << ": " << said);
  }
  BOOST_TEST(contains(with_config("[]"), "config is"));
  const std::string tied = R"("tie_word_embeddings": true, "n_layer": 1)";
  BOOST_TEST(with_config(replaced(kGpt2, R"("n_layer": 1)", tied)) == "nothing was thrown");
  const test::TemporaryFolder bert;
  save_huggingface(
      bert.path, small_model(gpu::Architecture::bert),
      replaced(kBert, R"("vocab_size")", R"("tie_word_embeddings": false, "vocab_size")"));
  BOOST_TEST(contains(refusal(bert.path), "tie_word_embeddings is false; expected true"));
  const test::TemporaryFolder llama;
  save_huggingface(llama.path, small_model(gpu::Architecture::llama_style),
                   replaced(kLlama, R"("rope_scaling": null)",
                            R"("rope_scaling": {"rope_type": "llama3", "factor": 8.0})"));
  BOOST_TEST(contains(refusal(llama.path), "rope_type is \"llama3\""), refusal(llama.path));
}

BOOST_AUTO_TEST_SUITE_END()
