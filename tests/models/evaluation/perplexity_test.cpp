// SPDX-License-Identifier: Apache-2.0
// Perplexity against context length: which tokens are scored, what their loss is, what is told.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "inference/scorer.hpp"
#include "model/initial_values.hpp"
#include "models/evaluation/curves.hpp"
#include "models/evaluation/perplexity_report.hpp"
#include "support/error.hpp"
#include "support/pictures/svg.hpp"
#include "tests/support/temporary_folder.hpp"

BOOST_AUTO_TEST_SUITE(perplexity_test)

using namespace plumbline::evaluation;
using plumbline::BadInput;
namespace gpu = plumbline::gpu;
namespace text = plumbline::text;

namespace {

gpu::ModelConfiguration tiny(const std::string& position) {
  gpu::ModelConfiguration model = gpu::preset("nano");
  model.layers = 1;
  model.vocabulary = 11;
  model.context = 8;
  model.position = position;
  return model;
}

std::vector<float> values_of(const gpu::ModelConfiguration& model) {
  const gpu::ParameterLayout layout(model);
  std::vector<float> values(layout.size());
  gpu::set_initial_values(layout, 1, values);
  for (float& value : values) value *= 8;  // far from equal logits
  return values;
}

text::TokenStream stream_of(int size) {
  std::vector<text::Token> tokens;
  for (int n = 0; n < size; ++n) tokens.push_back(static_cast<text::Token>(n * n % 11));
  return text::TokenStream(tokens);
}

/// -ln of the softmax at `target`.
double loss_of(const float* logits, int count, int target) {
  double sum = 0.0;
  for (int v = 0; v < count; ++v) sum += std::exp(double{logits[v]});
  return std::log(sum) - logits[target];
}

}  // namespace

BOOST_AUTO_TEST_CASE(windows_stand_side_by_side_over_the_same_tokens_at_every_length) {
  const PerplexitySettings all{{4, 8}, 0, 0};
  // 21 tokens: 20 targets, two blocks of 8.
  const auto windows = windows_of(4, all, 21);
  BOOST_REQUIRE(windows.size() == 4u);
  for (std::size_t n = 0; n < 4; ++n) {
    BOOST_TEST(windows[n].first == static_cast<long>(4 * n));
    BOOST_TEST(windows[n].scored == 4);
  }
  BOOST_TEST(windows_of(8, all, 21).size() == 2u);
  BOOST_TEST(windows_of(8, {{4, 8}, 15, 0}, 21).size() == 1u);  // 15 targets: one block
}

BOOST_AUTO_TEST_CASE(the_last_tokens_of_a_block_are_the_same_at_every_length) {
  const PerplexitySettings last{{4, 8}, 0, 3};
  for (const int length : {4, 8}) {
    const auto windows = windows_of(length, last, 21);
    BOOST_REQUIRE(windows.size() == 2u);
    for (std::size_t n = 0; n < 2; ++n) {
      BOOST_TEST(windows[n].first + windows[n].length == static_cast<long>(8 * (n + 1)));
      BOOST_TEST(windows[n].scored == 3);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_loss_is_that_of_the_scored_tokens) {
  const gpu::ModelConfiguration model = tiny("alibi");
  const std::vector<float> values = values_of(model);
  const text::TokenStream stream = stream_of(21);
  const PerplexitySettings settings{{4, 8}, 0, 3};
  const PerplexityPoint point = perplexity_at(4, settings, model, values, stream);
  BOOST_TEST(point.windows == 2);
  BOOST_TEST(point.tokens == 6);

  gpu::Scorer scorer(model, {.batch = 1, .length = 4}, values);
  double windows[2] = {0, 0}, largest = 0;
  for (int n = 0; n < 2; ++n) {
    const int first = 8 * (n + 1) - 4;
    std::vector<text::Token> tokens(5);
    stream.read(first, tokens);
    const std::vector<int> ids(tokens.begin(), tokens.end() - 1);
    const std::vector<float> logits = scorer.logits({.batch = 1, .length = 4, .ids = ids.data()});
    for (const float z : logits) largest = std::fmax(largest, std::fabs(z));
    for (int t = 1; t < 4; ++t)
      windows[n] += loss_of(logits.data() + 11 * t, 11, tokens[t + 1]) / 3;
  }
  // In fp32 a sum of 11 exponentials, each within 4 units, is within 15 units; its logarithm and
  // the two subtractions round numbers up to largest + ln 11 three times.
  const double bound = 0x1p-24 * (15 + 3 * (largest + std::log(11.0)));
  BOOST_TEST(largest > 0.5);
  BOOST_TEST(std::fabs(point.loss - (windows[0] + windows[1]) / 2) <= bound);
  // Two values: half their distance.
  BOOST_TEST(std::fabs(point.standard_error - std::fabs(windows[0] - windows[1]) / 2) <= bound);
}

BOOST_AUTO_TEST_CASE(equal_logits_have_the_vocabularys_perplexity) {
  const gpu::ModelConfiguration model = tiny("sinusoidal");
  const std::vector<float> zeros(gpu::ParameterLayout(model).size());
  // A window more than go through the model at once: 4096 / 2.
  const PerplexityPoint point =
      perplexity_at(2, {{2}, 0, 0}, model, zeros, stream_of(2 * 2049 + 1));
  BOOST_TEST(point.windows == 2049);
  BOOST_TEST(std::fabs(point.loss - std::log(11.0)) <= 0x1p-24 * 18 * std::log(11.0));
}

BOOST_AUTO_TEST_CASE(lengths_beyond_a_table_of_positions_are_told_and_do_not_end_the_run) {
  const gpu::ModelConfiguration model = tiny("learnable");
  const PerplexitySettings settings{{8, 9}, 0, 0};
  const auto at = [&](int length) {
    return perplexity_at(length, settings, model, values_of(model), stream_of(40));
  };
  BOOST_TEST(at(8).refused == "");
  BOOST_TEST(at(9).refused == "its table of positions has 8 rows");
}

BOOST_AUTO_TEST_CASE(bad_input_is_refused_by_name) {
  const auto refused = [](const PerplexitySettings& settings, const std::string& field) {
    BOOST_CHECK_EXCEPTION(windows_of(4, settings, 21), BadInput, [&](const BadInput& error) {
      return std::string(error.what()).find(field) != std::string::npos;
    });
  };
  refused({{}, 0, 0}, "lengths");
  refused({{0, 4}, 0, 0}, "lengths");
  refused({{4, 21}, 0, 0}, "at most 20");
  refused({{4, 8}, 7, 0}, "tokens");
  refused({{4, 8}, 0, 5}, "last");
  refused({{4, 8}, 0, -1}, "last");

  gpu::ModelConfiguration bert = tiny("alibi");
  bert.architecture = gpu::Architecture::bert;
  BOOST_CHECK_THROW(perplexity_at(4, {{4}, 0, 0}, bert, {}, stream_of(21)), BadInput);
  gpu::ModelConfiguration small = tiny("alibi");
  small.vocabulary = 9;  // 9 is a square modulo 11
  BOOST_CHECK_THROW(perplexity_at(4, {{4}, 0, 0}, small, values_of(small), stream_of(21)),
                    BadInput);
}

BOOST_AUTO_TEST_CASE(the_table_and_the_picture_have_what_was_measured) {
  const PerplexitySettings settings{{64, 128}, 0, 0};
  const double ln2 = std::log(2.0);
  const std::vector<ModelPerplexity> all{
      {"alibi", "a", "alibi", 64, {{64, 2, 128, ln2, 0, 1, ""}, {128, 1, 128, 2 * ln2, 0, 1, ""}}},
      {"learnable",
       "l",
       "learnable",
       64,
       {{64, 2, 128, 3 * ln2, 0, 1, ""}, {128, 0, 0, 0, 0, 0, "too long"}}}};
  BOOST_TEST(table(all) ==
             "   length        64       128\n"
             "    alibi      2.00      4.00\n"
             "learnable      8.00         -\n"
             "-: learnable at 128: too long\n");
  const auto drawn = picture(settings, all);
  BOOST_REQUIRE(drawn.curves.size() == 2u);
  BOOST_TEST(drawn.curves[0].y.back() == 4.0);
  BOOST_TEST(drawn.curves[1].x.size() == 1u);
  BOOST_TEST(drawn.x.at == (std::vector<double>{64, 128}), boost::test_tools::per_element());
  const std::vector<ModelPerplexity> none{{"l", "l", "l", 8, {{64, 0, 0, 0, 0, 0, "too long"}}}};
  BOOST_TEST(plumbline::pictures::svg_file(picture({{64}, 0, 0}, none)).find("no values") !=
             std::string::npos);
  const auto json = to_json(settings, all);
  BOOST_TEST(json["models"][0]["points"][1]["perplexity"].get<double>() == 4.0);
  BOOST_TEST(json["models"][1]["points"][1]["refused"] == "too long");
}

BOOST_AUTO_TEST_CASE(a_log_becomes_curves_and_its_unfinished_line_is_passed_over) {
  const plumbline::test::TemporaryFolder folder;
  const auto log_of = [&](const std::string& lines) {
    std::ofstream(folder / "log.jsonl") << lines;
    return read_log(folder / "", "run");
  };
  const std::string first =
      "{\"update\":1,\"loss\":5.5,\"norm\":4.0,\"learning_rate\":0.5,\"validation_loss\":6.0}\n";
  const std::string second = "{\"update\":2,\"loss\":4.5,\"norm\":2.0,\"learning_rate\":0.25}\n";
  const TrainingLog log = log_of(first + second + "{\"update\":3,\"lo");
  BOOST_TEST(log.updates == (std::vector<double>{1, 2}), boost::test_tools::per_element());
  const auto drawn = training_curves({log});
  BOOST_REQUIRE(drawn.size() == 3u);
  BOOST_TEST(drawn[0].file == "loss.svg");
  BOOST_REQUIRE(drawn[0].picture.curves.size() == 2u);
  BOOST_TEST(drawn[0].picture.curves[0].y[1] == 4.5);
  BOOST_TEST(drawn[0].picture.curves[1].y[0] == 6.0);
  BOOST_TEST(drawn[2].picture.curves[0].y[0] == 0.5);
  BOOST_TEST(training_curves({log, log}).size() == 4u);  // the validation losses for themselves

  // A loss that was not finite is null, and a gap; norms of 0 have no logarithm.
  const auto gap = training_curves({log_of(
      "{\"update\":1,\"loss\":5,\"norm\":0.0,\"learning_rate\":0.5,\"validation_loss\":null}\n")});
  BOOST_TEST(std::isnan(gap[0].picture.curves[1].y[0]));
  BOOST_TEST(!gap[1].picture.y.logarithmic);
  for (const NamedPicture& drawable : gap) plumbline::pictures::svg_file(drawable.picture);

  // What a loss counts is in run.json.
  BOOST_TEST(gap[0].picture.y.label == "nats per token");
  std::ofstream(folder / "run.json") << R"({"objective":{"kind":"contrastive"}})";
  BOOST_TEST(training_curves({log_of(first)})[0].picture.y.label == "nats");

  // 501 updates are drawn as the means of two each.
  std::string many;
  for (int n = 1; n <= 501; ++n)
    many += "{\"update\":" + std::to_string(n) + ",\"loss\":" + std::to_string(n) +
            ",\"norm\":1,\"learning_rate\":1}\n";
  const auto thin = training_curves({log_of(many)})[0].picture.curves[0];
  BOOST_TEST(thin.x.size() == 251u);
  BOOST_TEST(thin.y[0] == 1.5);
  BOOST_TEST(thin.y[250] == 501.0);

  BOOST_CHECK_THROW(log_of("no JSON\n"), BadInput);
  BOOST_CHECK_THROW(log_of("{\"update\":1}\n"), BadInput);
  BOOST_CHECK_THROW(log_of(""), BadInput);
}

BOOST_AUTO_TEST_SUITE_END()
