// SPDX-License-Identifier: Apache-2.0
// Reads what the NumPy example of docs/case-format.md wrote; started by docs_example.py with the
// folder as its argument.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>

#include "verdict/cases/case_file.hpp"

namespace plumbline::cases {

BOOST_AUTO_TEST_SUITE(docs_example_test)

namespace {

std::filesystem::path folder() {
  const auto& arguments = boost::unit_test::framework::master_test_suite();
  BOOST_REQUIRE(arguments.argc == 2);
  return arguments.argv[1];
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_case_is_what_the_page_says) {
  const Case c = read_case(folder() / "case.safetensors");
  BOOST_TEST(
      to_line(c.spec) ==
      "pass=forward,bias=alibi,dtype=fp32,ssmax=0,batch=2,heads=4,kv_heads=4,queries=16,keys=16,"
      "head_dim=32,query_offset=0,page_size=0,causal=1,window=none,ragged=0,documents=0,family="
      "file,"
      "seed=0");
  BOOST_CHECK(c[PLUMBLINE_SLOPES] == (std::vector<float>{0x1p-2f, 0x1p-4f, 0x1p-6f, 0x1p-8f}));
}

BOOST_AUTO_TEST_CASE(the_bf16_case_holds_the_same_numbers_rounded) {
  const Case wide = read_case(folder() / "case.safetensors");
  const Case narrow = read_case(folder() / "case-bf16.safetensors");
  BOOST_CHECK(narrow.spec.format == Format::bf16);
  BOOST_CHECK(!narrow.spec.mask.causal);
  BOOST_REQUIRE(narrow.q.size() == wide.q.size());
  for (std::size_t i = 0; i < wide.q.size(); ++i) {
    BOOST_REQUIRE(narrow.q[i] == from_bf16(to_bf16(wide.q[i])));
  }
}

BOOST_AUTO_TEST_CASE(the_outputs_fit_the_case) {
  const Case c = read_case(folder() / "case.safetensors");
  const OutputsFile file = read_outputs(folder() / "outputs.safetensors", c);
  BOOST_TEST(file.kernel == "numpy");
  // The first query of a causal case sees one key: its output is that key's value, exactly, and its
  // lse is its score, of which 32 products and their sum in fp32 leave 34 roundings.
  const auto dim = static_cast<std::size_t>(c.spec.head_dim);
  double score = 0, magnitude = 0;
  for (std::size_t d = 0; d < dim; ++d) {
    const double product = double{c.q[d]} * double{c.k[d]} * c.scale;
    score += product;
    magnitude += std::abs(product);
    BOOST_TEST(file.outputs.o[d] == c.v[d]);
  }
  const double error = std::abs(file.outputs.lse[0] - score);
  BOOST_TEST((error <= 36 * 0x1p-24 * magnitude));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::cases
