// SPDX-License-Identifier: Apache-2.0
// What the registry promises of every method, on its golden problems.
#include <boost/test/unit_test.hpp>
#include <set>

#include "golden/golden_case.hpp"
#include "reference/methods/evaluate_by_name.hpp"
#include "tests/reference/joined.hpp"

BOOST_AUTO_TEST_SUITE(methods_test)

namespace golden = plumbline::golden;
namespace reference = plumbline::reference;
using Hostile = reference::Joined<double>;
namespace methods = reference::methods;

namespace {

/// The numbers of one problem, to be spoilt.
struct Taken {
  golden::Problem problem;
  methods::Tensors<double> tensors;

  explicit Taken(const std::string& method)
      : problem(golden::problems(method).front()),
        tensors(methods::lifted<double>(problem.inputs)) {}
  methods::Results<double> evaluate() const {
    return methods::evaluate<double>(problem.method, problem.setting, tensors);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(names_are_their_own) {
  std::set<std::string> names;
  for (const auto& method : methods::all_methods()) {
    BOOST_TEST(names.insert(method.name).second, method.name << " stands there twice");
    BOOST_TEST(method.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
               std::string::npos);
  }
}

// ALiBi's slopes alone are not learned.
BOOST_AUTO_TEST_CASE(every_input_has_a_gradient_of_its_shape) {
  for (const auto& method : methods::all_methods()) {
    for (const golden::Problem& problem : golden::problems(method.name)) {
      const auto results = golden::evaluate<double>(problem).tensors;
      for (const auto& [name, tensor] : problem.inputs) {
        if (name == "slopes" || name.starts_with("grad_")) continue;
        BOOST_TEST_CONTEXT(method.name << " " << problem.name << " grad_" << name) {
          BOOST_TEST_REQUIRE(results.count("grad_" + name) == 1u);
          BOOST_TEST(results.at("grad_" + name).shape == tensor.shape,
                     boost::test_tools::per_element());
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_forward_pass_alone_has_the_same_values_and_no_gradients) {
  for (const auto& method : methods::all_methods()) {
    const golden::Problem problem = golden::problems(method.name).back();
    const auto both = golden::evaluate<double>(problem).tensors;
    const auto forward = golden::evaluate<double>(problem, methods::Pass::forward).tensors;
    BOOST_TEST(!forward.empty(), method.name);
    for (const auto& [name, tensor] : forward) {
      BOOST_TEST(!name.starts_with("grad_"), method.name << " " << name);
      BOOST_TEST(tensor.data == both.at(name).data, boost::test_tools::per_element());
    }
  }
}

// A scalar with the promised operations and no other compiles all of them, and has double's bits.
BOOST_AUTO_TEST_CASE(every_method_asks_no_more_of_a_scalar_than_the_concept) {
  for (const auto& method : methods::all_methods()) {
    const golden::Problem problem = golden::problems(method.name).front();
    const auto plain = golden::evaluate<double>(problem).tensors;
    const auto hostile = methods::evaluate<Hostile>(problem.method, problem.setting,
                                                    methods::lifted<Hostile>(problem.inputs),
                                                    methods::Pass::forward_and_backward)
                             .tensors;
    BOOST_TEST_REQUIRE(hostile.size() == plain.size());
    for (const auto& [name, tensor] : plain) {
      for (std::size_t n = 0; n < tensor.data.size(); ++n) {
        BOOST_TEST(hostile.at(name).data[n].as<double>() == tensor.data[n],
                   method.name << " " << name << "[" << n << "]");
      }
    }
  }
}

// q = k = (1, 0): the scaled product of positions 1 and 0 is cos(1) / 2, whatever the pairing.
BOOST_AUTO_TEST_CASE(rotation_is_by_the_positions_of_query_and_key) {
  for (const char* method : {"rope_interleaved", "rope_half_split", "local_rope"}) {
    Taken taken(method);
    taken.problem.setting.shape = {1, 1, 1, 1, 2, 2, 1};
    taken.tensors = {{"q", {{1, 1, 1, 2}, {1, 0}}},
                     {"k", {{1, 1, 2, 2}, {1, 0, 0, 0}}},
                     {"v", {{1, 1, 2, 2}, {1, 0, 0, 0}}},
                     {"grad_o", {{1, 1, 1, 2}, {0, 0}}},
                     {"grad_lse", {{1, 1, 1}, {0}}}};
    const double product = 0.5 * std::cos(1.0);
    const double expected = std::exp(product) / (std::exp(product) + 1);
    // A few roundings and library calls of 1 ulp each, of numbers below 2.
    BOOST_TEST(std::fabs(taken.evaluate().tensors.at("o").data[0] - expected) <= 16 * 0x1p-53);
  }
}

BOOST_AUTO_TEST_CASE(the_two_counts_of_a_window_differ_by_one_key) {
  const auto keys_seen =
      [](const char* method) {  // with values of 1 and equal logits: none is lost
        Taken taken(method);
        for (double& q : taken.tensors.at("q").data) q = 0;
        const auto& lse = taken.evaluate().tensors.at("lse");
        return std::lround(std::exp(lse.data[3]));  // the last of four queries
      };
  BOOST_TEST(keys_seen("local_rope") == 3);       // sliding_window 2: a distance
  BOOST_TEST(keys_seen("local_rope_keys") == 2);  // a count of keys
}

BOOST_AUTO_TEST_CASE(what_is_missing_or_out_of_range_is_refused) {
  const auto refused = [](const char* method, const auto& spoil) {
    Taken taken(method);
    BOOST_CHECK_NO_THROW(taken.evaluate());
    spoil(taken);
    BOOST_CHECK_THROW(taken.evaluate(), std::invalid_argument);
  };
  refused("nope", [](Taken& taken) { taken.problem.method = "nopes"; });
  refused("cable", [](Taken& taken) { taken.tensors.erase("gain"); });
  refused("cable", [](Taken& taken) { taken.tensors.at("gain").data.pop_back(); });
  refused("learnable", [](Taken& taken) { taken.problem.setting.shape.query_offset = 3; });
  refused("sinusoidal", [](Taken& taken) { taken.problem.setting.shape.batch = 0; });
  refused("fire", [](Taken& taken) { taken.problem.setting.options.erase("L0"); });
  refused("t5", [](Taken& taken) { taken.problem.setting.options["buckets"] = 3.5; });
  refused("t5", [](Taken& taken) { taken.problem.setting.options["buckets"] = -4; });
  refused("t5", [](Taken& taken) { taken.problem.setting.options["buckets"] = 1e6; });
  refused("kerple_log", [](Taken& taken) { taken.tensors.at("a").data[1] = 0; });
  refused("dape_v1_kerple_log", [](Taken& taken) { taken.tensors.at("a").data[1] = 0; });
}

BOOST_AUTO_TEST_CASE(a_bias_tensor_has_the_same_numbers_along_axes_of_size_one) {
  // Two sequences, two heads, two queries, three keys; q = 0, v counts keys, so that o is the mean
  // key under softmax(bias).
  methods::Problem problem{{2, 2, 2, 2, 3, 1, 0}, {false, {}, {}, {}}, 1.0, {}, {}};
  methods::Tensors<double> tensors;
  tensors["q"] = {{2, 2, 2, 1}, std::vector<double>(8, 0.0)};
  tensors["k"] = {{2, 2, 3, 1}, std::vector<double>(12, 1.0)};
  tensors["v"] = {{2, 2, 3, 1}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}};
  const double large = 800.0;  // softmax takes this key alone
  const auto key_of = [&](std::vector<int> shape, const std::vector<int>& keys) {
    problem.options = {{"per_batch", shape[0] > 1 ? 1 : 0},
                       {"per_head", shape[1] > 1 ? 1 : 0},
                       {"per_query", shape[2] > 1 ? 1 : 0}};
    auto& tensor = tensors["tensor"];
    tensor = {shape, std::vector<double>(keys.size() * 3, 0.0)};
    for (std::size_t n = 0; n < keys.size(); ++n) tensor.data[3 * n + keys[n]] = large;
    return methods::evaluate("bias_tensor", problem, tensors, methods::Pass::forward)
        .tensors.at("o")
        .data;
  };
  using Keys = std::vector<double>;
  BOOST_TEST(key_of({1, 1, 1, 3}, {2}) == Keys(8, 2.0), boost::test_tools::per_element());
  BOOST_TEST(key_of({2, 1, 1, 3}, {0, 2}) == (Keys{0, 0, 0, 0, 2, 2, 2, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(key_of({1, 2, 1, 3}, {0, 2}) == (Keys{0, 0, 2, 2, 0, 0, 2, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(key_of({1, 1, 2, 3}, {0, 2}) == (Keys{0, 2, 0, 2, 0, 2, 0, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(key_of({2, 2, 2, 3}, {0, 1, 2, 0, 1, 2, 0, 1}) == (Keys{0, 1, 2, 0, 1, 2, 0, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
