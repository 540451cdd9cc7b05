// SPDX-License-Identifier: Apache-2.0
#include "models/checkpoint/naming.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "models/checkpoint/parameters.hpp"
#include "reference/model/gpt2_parameters.hpp"

namespace plumbline::checkpoint {

BOOST_AUTO_TEST_SUITE(naming_test)

BOOST_AUTO_TEST_CASE(numbers_between_dots_become_stars) {
  BOOST_TEST(pattern_of("h.190.attn.c_attn2.weight") == "h.*.attn.c_attn2.weight");
  BOOST_TEST(pattern_of("0") == "*");
  BOOST_TEST(pattern_of("a..1") == "a..*");
  BOOST_TEST(pattern_of("") == "");
}

BOOST_AUTO_TEST_CASE(a_name_without_prefix_gets_it_unless_it_is_the_heads) {
  BOOST_TEST(full_name(gpt2_naming(), "wte.weight") == "transformer.wte.weight");
  BOOST_TEST(full_name(gpt2_naming(), "transformer.wte.weight") == "transformer.wte.weight");
  BOOST_TEST(full_name(gpt2_naming(), "lm_head.weight") == "lm_head.weight");
  BOOST_TEST(full_name(bert_naming(), "cls.predictions.bias") == "cls.predictions.bias");
  BOOST_TEST(full_name(bert_naming(), "embeddings.LayerNorm.gamma") ==
             "bert.embeddings.LayerNorm.weight");
  BOOST_TEST(full_name(bert_naming(), "cls.predictions.transform.LayerNorm.beta") ==
             "cls.predictions.transform.LayerNorm.bias");
}

// The names and orientations of the table in Hugging Face's modeling_gpt2.py (Conv1D: [in, out]).
BOOST_AUTO_TEST_CASE(gpt2_has_the_names_of_its_published_files) {
  using namespace reference;
  Gpt2Configuration<> configuration = gpt2(1, 2, 4);
  configuration.vocabulary = 7;
  configuration.positions = 5;
  const auto model = Gpt2Parameters<double>::zero(configuration);
  std::vector<std::string> names;
  for (const auto& parameter : parameters_of(model)) {
    std::string name = parameter.name;
    for (const auto size : parameter.shape) name += " " + std::to_string(size);
    if (gpt2_naming().in_by_out.contains(pattern_of(parameter.name))) name += " turned";
    names.push_back(name);
  }
  const std::vector<std::string> expected{"transformer.wte.weight 7 4",
                                          "transformer.wpe.weight 5 4",
                                          "transformer.h.0.ln_1.weight 4",
                                          "transformer.h.0.ln_1.bias 4",
                                          "transformer.h.0.attn.c_attn.weight 12 4 turned",
                                          "transformer.h.0.attn.c_attn.bias 12",
                                          "transformer.h.0.attn.c_proj.weight 4 4 turned",
                                          "transformer.h.0.attn.c_proj.bias 4",
                                          "transformer.h.0.ln_2.weight 4",
                                          "transformer.h.0.ln_2.bias 4",
                                          "transformer.h.0.mlp.c_fc.weight 16 4 turned",
                                          "transformer.h.0.mlp.c_fc.bias 16",
                                          "transformer.h.0.mlp.c_proj.weight 4 16 turned",
                                          "transformer.h.0.mlp.c_proj.bias 4",
                                          "transformer.ln_f.weight 4",
                                          "transformer.ln_f.bias 4"};
  BOOST_TEST(names == expected, boost::test_tools::per_element());
}

// What the files of gpt2 and bert-base-uncased hold besides the models' parameters.
BOOST_AUTO_TEST_CASE(the_rest_of_published_files_is_known_by_name) {
  const auto passed_over = [](const Naming& naming, const std::string& name) {
    return naming.besides.contains(pattern_of(full_name(naming, name)));
  };
  for (const char* name : {"h.11.attn.bias", "transformer.h.0.attn.masked_bias"}) {
    BOOST_TEST(passed_over(gpt2_naming(), name), name);
  }
  for (const char* name :
       {"embeddings.position_ids", "bert.pooler.dense.weight", "bert.pooler.dense.bias",
        "cls.seq_relationship.weight", "cls.seq_relationship.bias"}) {
    BOOST_TEST(passed_over(bert_naming(), name), name);
  }
  BOOST_TEST(passed_over(llama_naming(), "model.layers.0.self_attn.rotary_emb.inv_freq"));
  for (const char* name : {"h.0.attn.c_attn.bias", "h.0.bias", "score.weight"}) {
    BOOST_TEST(!passed_over(gpt2_naming(), name), name);
  }
  BOOST_TEST(gpt2_naming().tied.at("lm_head.weight") == "transformer.wte.weight");
  BOOST_TEST(bert_naming().tied.at("cls.predictions.decoder.bias") == "cls.predictions.bias");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::checkpoint
