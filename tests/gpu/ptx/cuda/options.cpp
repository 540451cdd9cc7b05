// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/options.hpp"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;

namespace {

Options from(const std::map<std::string, std::string>& environment) {
  return options_from([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal(const std::string& variable, const std::string& value) {
  try {
    from({{"PLUMBLINE_DEVICE_" + variable, value}});
  } catch (const Refused& refused) {
    BOOST_TEST((refused.reason == Refused::Reason::invalid_value));
    return refused.what();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_variables_the_device_is_the_default_one) {
  const Options options = from({{"PLUMBLINE_DEVICE_CHECK", ""}}), standard;
  BOOST_TEST(options.check);
  BOOST_TEST(options.properties.compute_major == standard.properties.compute_major);
  BOOST_TEST(options.properties.shared_per_block_optin ==
             standard.properties.shared_per_block_optin);
  BOOST_TEST(options.time_limit_ms == 0U);
}

BOOST_AUTO_TEST_CASE(each_variable_sets_its_option) {
  const Options options = from({{"PLUMBLINE_DEVICE_COMPUTE", "8.0"},
                                {"PLUMBLINE_DEVICE_MEMORY", "4096"},
                                {"PLUMBLINE_DEVICE_THREADS", "3"},
                                {"PLUMBLINE_DEVICE_CHECK", "0"},
                                {"PLUMBLINE_DEVICE_UNINITIALISED", "ones"},
                                {"PLUMBLINE_DEVICE_TIME_LIMIT", "1.5"},
                                {"PLUMBLINE_DEVICE_APPROXIMATE", "either"},
                                {"PLUMBLINE_DEVICE_SUMS", "hopper"},
                                {"PLUMBLINE_DEVICE_FUSE", "1"},
                                {"PLUMBLINE_DEVICE_LATE", "1"},
                                {"PLUMBLINE_DEVICE_ORDER", "18446744073709551615"}});
  BOOST_TEST(options.properties.compute_major == 8);
  BOOST_TEST(options.properties.compute_minor == 0);
  // 163 KiB a block, 108 multiprocessors: an A100.
  BOOST_TEST(options.properties.shared_per_block_optin == 166912U);
  BOOST_TEST(options.properties.multiprocessors == 108U);
  BOOST_TEST(options.properties.global_bytes == 4096U);
  BOOST_TEST(options.threads == 3U);
  BOOST_TEST(!options.check);
  BOOST_TEST((options.uninitialised == Options::Uninitialised::ones));
  BOOST_TEST(options.time_limit_ms == 1500U);
  BOOST_TEST((options.variation.approximate == Variation::Approximate::either));
  BOOST_TEST((options.variation.sums == Variation::Sums::hopper));
  BOOST_TEST(options.variation.fuse);
  BOOST_TEST(options.variation.late);
  BOOST_TEST(options.variation.order_seed == ~std::uint64_t{0});
}

BOOST_AUTO_TEST_CASE(a_verdict_is_asked_of_several_devices_unless_a_variable_says_which) {
  using Environment = std::map<std::string, std::string>;
  const auto variations = [](const Environment& environment) {
    return variations_from([&](const char* name) {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    });
  };
  const auto all = variations({{"PLUMBLINE_DEVICE_COMPUTE", "8.0"}, {"PLUMBLINE_DEVICE_FUSE", ""}});
  BOOST_TEST(all.size() == 4U);
  BOOST_TEST((all.front().variation == Variation{}));
  for (const Environment& set : {Environment{{"PLUMBLINE_DEVICE_SUMS", "hopper"}},
                                 {{"PLUMBLINE_DEVICE_APPROXIMATE", "nearest"}}}) {
    const auto one = variations(set);
    BOOST_TEST_REQUIRE(one.size() == 1U);
    BOOST_TEST(one.front().name == "as the environment says");
  }
  BOOST_TEST((variations({{"PLUMBLINE_DEVICE_SUMS", "hopper"}}).front().variation.sums ==
              Variation::Sums::hopper));
}

BOOST_AUTO_TEST_CASE(what_is_no_value_is_refused_by_the_variable_s_name) {
  BOOST_TEST(refusal("COMPUTE", "9") ==
             "PLUMBLINE_DEVICE_COMPUTE is \"9\"; expected 7.5, 8.0, 8.6, 8.9, 9.0, 10.0 or 12.0");
  for (const char* variable : {"MEMORY", "THREADS", "CHECK", "UNINITIALISED", "TIME_LIMIT",
                               "APPROXIMATE", "SUMS", "FUSE", "LATE", "ORDER"}) {
    for (const char* value : {"x", "-1", "1x", " 1", "99999999999999999999999"}) {
      BOOST_TEST(refusal(variable, value).starts_with("PLUMBLINE_DEVICE_" + std::string(variable)));
    }
  }
  const auto with_isa = [](const char* isa) {
    return options_from([isa](const char* name) {
      return std::string(name) == "PLUMBLINE_PTX_ISA" ? isa : nullptr;
    });
  };
  for (const char* isa : {"avx512", "avx2", "plain", ""}) BOOST_CHECK_NO_THROW(with_isa(isa));
  BOOST_CHECK_EXCEPTION(with_isa("sse"), Refused, [](const Refused& refused) {
    return refused.what() ==
           std::string("PLUMBLINE_PTX_ISA is \"sse\"; expected avx512, avx2 or plain");
  });
}

BOOST_AUTO_TEST_CASE(a_multiprocessor_is_that_of_the_architecture) {
  const auto of = [](const char* compute) {
    return from({{"PLUMBLINE_DEVICE_COMPUTE", compute}}).properties;
  };
  BOOST_TEST(of("9.0").shared_per_multiprocessor == 233472U);
  BOOST_TEST(of("9.0").shared_reserved_per_block == 1024U);
  BOOST_TEST(of("8.6").threads_per_multiprocessor == 1536U);
  BOOST_TEST(of("7.5").blocks_per_multiprocessor == 16U);
  BOOST_TEST(of("7.5").shared_reserved_per_block == 0U);
}
