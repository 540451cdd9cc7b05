// SPDX-License-Identifier: Apache-2.0
#include "models/training/checkpoint.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "models/training/terms.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/mapped_file.hpp"
#include "support/safetensors.hpp"
#include "tests/support/temporary_folder.hpp"

BOOST_AUTO_TEST_SUITE(checkpoint_test)

namespace training = plumbline::training;
using plumbline::BadInput;
using plumbline::gpu::ModelConfiguration;
using plumbline::gpu::ParameterLayout;

namespace {

ModelConfiguration small_model() {
  ModelConfiguration model = plumbline::gpu::preset("nano");
  model.layers = 1;
  model.vocabulary = 11;
  model.context = 5;
  return model;
}

/// Every number of every buffer is another.
training::State some_state(const ParameterLayout& layout) {
  training::State state;
  state.updates = 17;
  float next = 0.0f;
  for (const auto buffer :
       {&training::State::parameters, &training::State::mean, &training::State::mean_square}) {
    (state.*buffer).assign(layout.size(), 0.0f);
    for (const auto& p : layout.all())
      for (std::size_t n = 0; n < p.size(); ++n) (state.*buffer)[p.offset + n] = next += 0.5f;
  }
  return state;
}

struct Saved {
  ModelConfiguration model = small_model();
  ParameterLayout layout{model};
  training::Terms terms{{"model", {{"width", 64}}}, {"seed", 3}};
  training::State state = some_state(layout);
  plumbline::test::TemporaryFolder folder;
  std::filesystem::path path = folder.path / "checkpoint-00000017.safetensors";

  Saved() { training::save_checkpoint(path, model, layout, terms, state); }
  training::State load() const { return training::load_checkpoint(path, model, layout, terms); }
};

/// The message of what `body` throws.
template <class Body>
std::string refusal(Body body) {
  try {
    body();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(what_was_saved_is_loaded_to_the_bit, Saved) {
  const training::State again = load();
  BOOST_TEST(again.updates == 17);
  BOOST_TEST(again.parameters == state.parameters);
  BOOST_TEST(again.mean == state.mean);
  BOOST_TEST(again.mean_square == state.mean_square);
}

BOOST_FIXTURE_TEST_CASE(weights_lie_as_hugging_face_has_them, Saved) {
  const plumbline::MappedFile mapped(path);
  const auto file = plumbline::parse_safetensors(mapped.bytes());
  const std::string name = "transformer.h.0.attn.c_attn.weight";
  const auto& tensor = file.tensors.at(name);
  BOOST_TEST(tensor.shape == (std::vector<std::int64_t>{64, 192}));  // [in, out]
  const auto& parameter = layout[name];
  float number = 0.0f;
  std::memcpy(&number, tensor.bytes.data() + sizeof(float) * (3 * 192 + 7), sizeof number);
  BOOST_TEST(number == state.parameters[parameter.offset + 7 * 64 + 3]);  // [out, in] in memory
  BOOST_TEST(file.tensors.contains("optimizer.mean." + name));
  BOOST_TEST(file.metadata.at("format") == "pt");
}

BOOST_FIXTURE_TEST_CASE(a_run_on_other_terms_is_refused, Saved) {
  training::Terms other = terms;
  other["model"]["width"] = 128;
  const std::string message =
      refusal([&] { training::load_checkpoint(path, model, layout, other); });
  BOOST_TEST(contains(message, "model.width is"), message);
  BOOST_TEST(contains(message, "64"), message);
  BOOST_TEST(contains(message, "128"), message);
  BOOST_TEST(contains(message, path.filename().string()), message);
  other["updates"] = 3;
  try {
    training::load_checkpoint(path, model, layout, other);
    BOOST_ERROR("nothing was thrown");
  } catch (const training::OtherTerms& error) {
    BOOST_TEST(error.differences().size() == 2u);
    BOOST_TEST(error.differences().front().term == "model.width");
    BOOST_TEST(error.differences().front().of_checkpoint == 64);
    BOOST_TEST(error.differences().front().asked == 128);
    BOOST_TEST(error.differences().back().term == "updates");
    BOOST_TEST(error.differences().back().of_checkpoint.is_null());
  }
  other = terms;
  other["ranks"] = 2;
  BOOST_TEST(contains(refusal([&] { training::load_checkpoint(path, model, layout, other); }),
                      "ranks is missing"));
}

BOOST_FIXTURE_TEST_CASE(a_name_that_says_other_updates_is_refused, Saved) {
  const auto load_as = [&](const char* name) {
    const auto renamed = folder.path / name;
    std::filesystem::rename(path, renamed);
    path = renamed;
    return refusal([&] { load(); });
  };
  const std::string message = load_as("checkpoint-00000018.safetensors");
  BOOST_TEST(contains(message, "checkpoint-00000018.safetensors\": metadata updates is 17"),
             message);
  BOOST_TEST(contains(message, "expected 18, as the file's name says"), message);
  BOOST_TEST(contains(message, "from checkpoint-00000017.safetensors"), message);
  for (const char* name : {"checkpoint-17.safetensors", "checkpoint-best.safetensors", "best"})
    BOOST_TEST(load_as(name) == "nothing was thrown", name);
  BOOST_TEST(load_as("checkpoint-0.safetensors") != "nothing was thrown");
}

BOOST_FIXTURE_TEST_CASE(every_damaged_byte_is_noticed, Saved) {
  const std::string whole = plumbline::read_file(path);
  const std::size_t steps = 97;  // bytes all over the file, header and tensors
  for (std::size_t k = 0; k < steps; ++k) {
    std::string damaged = whole;
    damaged[k * (whole.size() - 1) / (steps - 1)] ^= 0x10;
    plumbline::write_file(path, damaged);
    BOOST_TEST(refusal([&] { load(); }) != "nothing was thrown", "byte of step " << k);
  }
  plumbline::write_file(path, whole.substr(0, whole.size() / 2));
  BOOST_TEST(refusal([&] { load(); }) != "nothing was thrown");
  plumbline::write_file(path, "");
  BOOST_TEST(refusal([&] { load(); }) != "nothing was thrown");
}

BOOST_FIXTURE_TEST_CASE(another_model_is_refused_by_its_tensors, Saved) {
  ModelConfiguration wide = model;
  wide.vocabulary = 12;
  const std::string message =
      refusal([&] { training::load_checkpoint(path, wide, ParameterLayout(wide), terms); });
  BOOST_TEST(contains(message, "transformer.wte.weight"), message);
  BOOST_TEST(contains(message, "[11, 64]"), message);
  BOOST_TEST(contains(message, "[12, 64]"), message);
  ModelConfiguration other = model;
  other.position = "cable";
  BOOST_TEST(contains(
      refusal([&] { training::load_checkpoint(path, other, ParameterLayout(other), terms); }),
      "transformer.h.0.attn.position.increment.weight"));
}

BOOST_AUTO_TEST_CASE(checkpoints_are_found_by_their_number) {
  const plumbline::test::TemporaryFolder folder;
  for (const char* name :
       {"checkpoint-00000100.safetensors", "checkpoint-00000020.safetensors",
        "checkpoint-100000000.safetensors", "checkpoint-.safetensors", "checkpoint-1x.safetensors",
        ".checkpoint-00000300.safetensors.tmp", "log.jsonl"})
    plumbline::write_file(folder.path / name, "");
  const auto found = training::checkpoints_in(folder.path);
  BOOST_TEST(found.size() == 3u);
  BOOST_TEST(found.back().filename().string() == "checkpoint-100000000.safetensors");
  BOOST_TEST(found.front() == training::checkpoint_path(folder.path, 20));
  BOOST_TEST(contains(refusal([&] { training::checkpoints_in(folder.path / "none"); }), "none"));
}

BOOST_AUTO_TEST_SUITE_END()
