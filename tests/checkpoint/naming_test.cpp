// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/naming.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "checkpoint/parameters.hpp"
#include "reference/model/gpt2_parameters.hpp"

namespace plumbline::checkpoint {

BOOST_AUTO_TEST_SUITE(naming)

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::checkpoint
