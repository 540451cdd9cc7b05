// SPDX-License-Identifier: Apache-2.0
// Names, shapes and order of the parameters are those of the oracle's models, of which
// models/checkpoint/ writes files with Hugging Face's names.
#include "model/parameters.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "methods.hpp"
#include "reference/bias/all.hpp"
#include "reference/model/bert_parameters.hpp"
#include "reference/model/gpt2_parameters.hpp"
#include "reference/model/llama_style_parameters.hpp"
#include "reference/position/context_position.hpp"
#include "reference/position/cope_position.hpp"
#include "reference/position/dape_position.hpp"
#include "reference/position/learned_position.hpp"
#include "reference/position/rotary_position.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::gpu {

BOOST_AUTO_TEST_SUITE(parameters_test)

namespace {

using NameAndShape = std::pair<std::string, std::vector<std::int64_t>>;

std::vector<NameAndShape> of_layout(const ParameterLayout& layout) {
  std::vector<NameAndShape> list;
  for (const Parameter& parameter : layout.all())
    list.emplace_back(parameter.name, parameter.shape);
  return list;
}

template <class Parameters, class Configuration>
std::vector<NameAndShape> of_oracle(const Configuration& c) {
  auto parameters = Parameters::zero(c);
  std::vector<NameAndShape> list;
  reference::for_each_parameter(parameters, [&](const std::string& name, auto& tensor) {
    std::vector<std::int64_t> shape{tensor.rows()};
    if constexpr (std::decay_t<decltype(tensor)>::ColsAtCompileTime != 1)
      shape.push_back(tensor.cols());
    list.emplace_back(name, shape);
  });
  return list;
}

/// In any order: the oracle's models have a layer's norms beside each other or apart.
void compare(const std::vector<NameAndShape>& ours, const std::vector<NameAndShape>& oracles) {
  const std::set<NameAndShape> a(ours.begin(), ours.end()), b(oracles.begin(), oracles.end());
  BOOST_TEST(ours.size() == a.size());
  for (const auto& [name, shape] : a) BOOST_TEST(b.contains({name, shape}), name);
  for (const auto& [name, shape] : b) BOOST_TEST(a.contains({name, shape}), name);
}

template <class Position>
void compare_gpt2(const char* name, Position position) {
  const ModelConfiguration c{.layers = 2,
                             .heads = 2,
                             .kv_heads = 2,
                             .width = 64,
                             .hidden = 256,
                             .vocabulary = 11,
                             .context = 7,
                             .position = name,
                             .ssmax = true};
  auto oracle = reference::gpt2(2, 2, 64, position);
  oracle.vocabulary = 11;
  oracle.positions = 7;
  oracle.ssmax = true;
  if (c.position == "nope") oracle.embedding.kind = reference::EmbeddedPositions::none;
  compare(of_layout(ParameterLayout(c)),
          of_oracle<reference::Gpt2Parameters<double, Position>>(oracle));
}

}  // namespace

BOOST_AUTO_TEST_CASE(gpt2_has_the_oracles_parameters_with_every_method) {
  using namespace reference;
  compare_gpt2("learnable", NopePosition());
  compare_gpt2("nope", NopePosition());
  compare_gpt2("alibi", AlibiPosition());
  compare_gpt2("cable", CablePosition());
  compare_gpt2("cable_nw", CableNwPosition());
  compare_gpt2("k_cable", KCablePosition());
  compare_gpt2("k_cable_nw", KCableNwPosition());
  compare_gpt2("fox", FoxPosition());
#define PLUMBLINE_CHECK(number, Form) compare_gpt2(Form<double>::name, PositionOfHeads<Form>());
  PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_CHECK)
#undef PLUMBLINE_CHECK
  compare_gpt2("t5", t5_position(false));
  compare_gpt2("t5_bidirectional", t5_position(true));
  compare_gpt2("fire", FirePosition());
  compare_gpt2("rope_half_split", RopePosition());
  compare_gpt2("cope", CopePosition());
  compare_gpt2("dape_v1_alibi", DapePosition<AlibiPosition, 1>());
  compare_gpt2("dape_v1_kerple_log", DapePosition<KerpleLogPosition, 1>());
  compare_gpt2("dape_v1_cable", DapePosition<CablePosition, 1>());
  compare_gpt2("dape_v2_alibi", DapePosition<AlibiPosition, 2>());
  compare_gpt2("dape_v2_kerple_log", DapePosition<KerpleLogPosition, 2>());
  compare_gpt2("dape_v2_cable", DapePosition<CablePosition, 2>());
}

BOOST_AUTO_TEST_CASE(bert_and_the_llama_style_decoder_have_the_oracles_parameters) {
  using namespace reference;
  const ModelConfiguration bert{.architecture = Architecture::bert,
                                .layers = 2,
                                .heads = 2,
                                .kv_heads = 2,
                                .width = 64,
                                .hidden = 100,
                                .vocabulary = 11,
                                .context = 7,
                                .token_types = 3};
  const BertConfiguration<> oracle{.layers = 2,
                                   .heads = 2,
                                   .width = 64,
                                   .intermediate = 100,
                                   .vocabulary = 11,
                                   .positions = 7,
                                   .token_types = 3};
  compare(of_layout(ParameterLayout(bert)), of_oracle<BertParameters<double>>(oracle));

  const ModelConfiguration llama{.architecture = Architecture::llama_style,
                                 .layers = 2,
                                 .heads = 4,
                                 .kv_heads = 2,
                                 .width = 128,
                                 .hidden = 100,
                                 .vocabulary = 11,
                                 .position = "ggd"};
  const LlamaStyleConfiguration<GgdPosition> its_oracle{
      .layers = 2, .heads = 4, .kv_heads = 2, .width = 128, .hidden = 100, .vocabulary = 11};
  compare(of_layout(ParameterLayout(llama)),
          of_oracle<LlamaStyleParameters<double, GgdPosition>>(its_oracle));
}

// The numbers of docs/models.md.
BOOST_AUTO_TEST_CASE(the_presets_have_the_documented_sizes) {
  const struct {
    const char* name;
    std::size_t count;
  } documented[] = {{"gpt2_tiny", 45195264},  {"gpt2_small", 124475904}, {"gpt2_medium", 354871296},
                    {"bert_base", 109514298}, {"bam_120m", 121130304},   {"bam_432m", 431010288},
                    {"bam_1b", 1140915616}};
  for (const auto& [name, count] : documented)
    BOOST_TEST(ParameterLayout(preset(name)).count() == count, name);
}

BOOST_AUTO_TEST_CASE(matrices_decay_and_nothing_else_does) {
  ModelConfiguration c = preset("nano");
  c.position = "ggd";
  const ParameterLayout layout(c);
  for (const Parameter& p : layout.all()) {
    const bool in_first = layout.decaying().begin <= p.offset && p.offset < layout.decaying().end;
    BOOST_TEST(in_first == (p.shape.size() >= 2), p.name);
  }
  BOOST_TEST(layout.not_trained().size() == 2 * ParameterLayout::alignment);  // theta_mu, 2 layers
  BOOST_TEST(layout.decaying().end == layout.not_decaying().begin);
  BOOST_TEST(layout.not_decaying().end == layout.not_trained().begin);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::gpu
