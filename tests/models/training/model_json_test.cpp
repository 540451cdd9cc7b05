// SPDX-License-Identifier: Apache-2.0
#include "models/training/model_json.hpp"

#include <boost/test/unit_test.hpp>

#include "support/error.hpp"

BOOST_AUTO_TEST_SUITE(model_json_test)

namespace gpu = plumbline::gpu;
using namespace plumbline::training;

BOOST_AUTO_TEST_CASE(a_configuration_comes_back_as_it_was) {
  for (const auto preset : gpu::preset_names()) {
    gpu::ModelConfiguration model = gpu::preset(preset);
    model.ssmax = true;
    model.dropout = 0.1;
    model.options.base = 500000;
    model.options.prior_start = gpu::PriorStart::uniform;
    model.options.trains_mu = true;
    model.format = gpu::Format::bf16;
    const nlohmann::json json = nlohmann::json::parse(to_json(model).dump());
    const gpu::ModelConfiguration again = model_from_json(json);
    BOOST_TEST(to_json(again) == to_json(model));
    BOOST_TEST(again.layers == model.layers);
    BOOST_TEST(again.position == model.position);
    BOOST_TEST(again.dropout == 0.1);
    BOOST_TEST((again.format == gpu::Format::bf16));
    BOOST_TEST((again.architecture == model.architecture));
    BOOST_TEST((again.options.prior_start == gpu::PriorStart::uniform));
  }
}

BOOST_AUTO_TEST_CASE(a_field_that_is_missing_unknown_or_wrong_is_refused) {
  const nlohmann::json whole = to_json(gpu::preset("nano"));
  for (const auto& [name, value] : whole.items()) {
    nlohmann::json json = whole;
    json.erase(name);
    BOOST_CHECK_THROW(model_from_json(json), plumbline::BadInput);
    json = whole;
    json[name] = nlohmann::json::array();
    BOOST_CHECK_THROW(model_from_json(json), plumbline::BadInput);
  }
  nlohmann::json json = whole;
  json["depth"] = 3;
  BOOST_CHECK_THROW(model_from_json(json), plumbline::BadInput);
  json = whole;
  json["architecture"] = "gpt3";
  BOOST_CHECK_THROW(model_from_json(json), plumbline::BadInput);
  json = whole;
  json["options"]["base"] = "large";
  BOOST_CHECK_THROW(model_from_json(json), plumbline::BadInput);
}

BOOST_AUTO_TEST_SUITE_END()
