// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>

#include "golden/golden_case.hpp"
#include "kernel_abi/methods.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::golden {
namespace {

/// Multiples of 1/8 and 1/16 from std::mt19937_64, whose output the standard fixes.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  /// `count` multiples of 1/8; the limits count eighths.
  std::vector<float> eighths(std::size_t count, int lower, int upper) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(between(lower, upper)) / 8.0f;
    return values;
  }
  /// Odd multiples of 1/16 in (-1, 1): never 0, where |.| and ReLU have their kinks.
  std::vector<float> sixteenths(std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(2 * between(-8, 7) + 1) / 16.0f;
    return values;
  }

 private:
  int between(int lower, int upper) {
    return lower + static_cast<int>(engine_() % (upper - lower + 1));
  }
  std::mt19937_64 engine_;
};

/// The first seven methods were numbered, and have seen no change of their numbers since.
constexpr std::array<std::string_view, 7> numbered = {"nope",    "alibi",      "cable", "cable_nw",
                                                      "k_cable", "k_cable_nw", "ggd"};
bool is_numbered(const std::string& method) {
  return std::find(numbered.begin(), numbered.end(), method) != numbered.end();
}

/// A seed of its own for every problem, so that a new one moves no other's numbers.
std::uint64_t seed_of(const Problem& problem) {
  if (is_numbered(problem.method)) {
    const auto at = std::find(numbered.begin(), numbered.end(), problem.method);
    return 1 + static_cast<std::uint64_t>(at - numbered.begin()) * 100 + problem.name.size();
  }
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const unsigned char c : problem.name + " of " + problem.method) {
    hash = (hash ^ c) * 0x100000001b3;
  }
  return hash;
}

/// theta_beta takes both signs and the two special values 0 and 1; head by head.
constexpr std::array<float, 4> theta_beta = {0.5f, -0.5f, 1.0f, 0.0f};
constexpr std::array<float, 4> theta_alpha = {0.25f, -0.5f, -1.0f, 0.125f};
constexpr std::array<float, 4> theta_mu = {0.0f, 0.25f, -0.125f, 0.5f};

std::vector<float> cycled(const std::array<float, 4>& values, std::size_t count) {
  std::vector<float> result(count);
  for (std::size_t n = 0; n < count; ++n) result[n] = values[n % values.size()];
  return result;
}

/// The numbers of a parameter, within the domain of every equation that reads one of this name.
std::vector<float> parameter(const Problem& problem, const std::string& name, std::size_t count,
                             Draw& draw) {
  if (name == "slopes") {
    const auto slopes = reference::alibi_slopes<double>(static_cast<int>(count));
    return {slopes.begin(), slopes.end()};
  }
  // Only the numbered methods have increments of 0: |S_i - S_j| has a kink there.
  if (name == "increments") return draw.eighths(count, is_numbered(problem.method) ? 0 : 1, 12);
  if (name == "gain") return draw.eighths(count, 1, 12);
  if (name == "ssmax_scale") return draw.eighths(count, 4, 12);
  if (name == "theta_alpha") return cycled(theta_alpha, count);
  if (name == "theta_beta") return cycled(theta_beta, count);
  if (name == "theta_mu") return cycled(theta_mu, count);
  if (name == "p") return draw.eighths(count, 2, 14);
  if (name == "a") return draw.eighths(count, 1, 12);
  if (name == "hidden_bias") {
    // Finer than any product of the others, so that no ReLU stands at its kink.
    std::vector<float> values = draw.sixteenths(count);
    for (float& value : values) value += 0x1p-20f;
    return values;
  }
  if (name == "c") return {0.375f};
  if (name == "L") return {0.75f};
  for (const auto& info : plumbline::methods::parameter_infos) {
    if (name == info.name && info.least >= 0) return draw.eighths(count, 1, 12);
  }
  return draw.sixteenths(count);
}

std::size_t size_of(const std::vector<int>& shape) {
  std::size_t size = 1;
  for (int extent : shape) size *= static_cast<std::size_t>(extent);
  return size;
}

/// All tensors of the problem; q, k, v and the upstream gradients first.
Problem drawn(Problem problem, bool ssmax = false) {
  Draw draw(seed_of(problem));
  const auto shapes = methods::method_of(problem.method).inputs(problem.setting, ssmax);
  const auto fill = [&](const std::string& name, const auto& numbers) {
    for (const methods::NamedShape& input : shapes) {
      if (input.name == name) problem.inputs[name] = {input.shape, numbers(size_of(input.shape))};
    }
  };
  for (const char* name : {"q", "k", "v"}) {
    fill(name, [&](std::size_t count) { return draw.eighths(count, -16, 16); });
  }
  for (const char* name : {"grad_o", "grad_lse", "grad_embeddings"}) {
    fill(name, [&](std::size_t count) { return draw.eighths(count, -8, 8); });
  }
  for (const methods::NamedShape& input : shapes) {
    if (problem.inputs.count(input.name)) continue;
    problem.inputs[input.name] = {input.shape,
                                  parameter(problem, input.name, size_of(input.shape), draw)};
  }
  validate(problem);
  return problem;
}

/// What a method fixes, where a problem does not say otherwise. GGD's epsilon is the paper's.
const std::map<std::string, double>& usual_options() {
  static const std::map<std::string, double> usual = {
      {"epsilon", 1e-5}, {"hidden", 3},    {"L0", 3},       {"buckets", 4},   {"max_distance", 3},
      {"largest", 2},    {"width", 3},     {"base", 1e4},   {"amplitude", 1}, {"sliding_window", 2},
      {"positions", 3},  {"per_batch", 1}, {"per_head", 1}, {"per_query", 1}};
  return usual;
}

Problem start(const std::string& method, std::string name, const reference::AttentionShape& shape) {
  Problem problem;
  problem.name = std::move(name);
  problem.method = method;
  problem.setting.shape = shape;
  for (const std::string& option : methods::method_of(method).options) {
    problem.setting.options[option] = usual_options().at(option);
  }
  return problem;
}

/// Attention, causal.
Problem causal(const std::string& method, std::string name,
               const reference::AttentionShape& shape) {
  Problem problem = start(method, std::move(name), shape);
  problem.setting.mask.causal = true;
  problem.setting.scale = 0.5;  // 1/sqrt(head_dim) for 4
  return problem;
}

/// The problems of every method that has logits. `keys` is 5 for the numbered methods, 4 for the
/// others, whose files are the smaller for it.
std::vector<Problem> attention_problems(const std::string& method) {
  const bool numbered_one = is_numbered(method);
  const bool own_mask = method.starts_with("local_rope");
  const int keys = numbered_one ? 5 : 4;
  // Two pairs of components for a rotation.
  const int head_dim = numbered_one || method.find("rope") != method.npos ? 4 : 2;
  const reference::AttentionShape shape{1, 2, 2, keys, keys, head_dim, 0};
  std::vector<Problem> all = {drawn(causal(method, "causal", shape))};

  if (!own_mask) {
    Problem bidirectional = causal(method, "bidirectional", shape);
    bidirectional.setting.mask.causal = false;
    all.push_back(drawn(bidirectional));
  }
  if (numbered_one) {
    Problem window = causal(method, "window", shape);
    window.setting.mask.window = 2;
    all.push_back(drawn(window));
  }
  Problem documents = causal(method, "documents_ragged", shape);
  documents.setting.shape.batch = 2;
  documents.setting.mask.lengths = {keys, 3};
  documents.setting.mask.documents = numbered_one ? std::vector<int>{0, 0, 1, 1, 1, 0, 1, 1, 2, 2}
                                                  : std::vector<int>{0, 0, 1, 1, 0, 1, 1, 2};
  all.push_back(drawn(documents));

  Problem grouped = causal(method, "grouped_offset", shape);
  grouped.setting.shape.heads = 4;
  grouped.setting.shape.queries = 2;
  grouped.setting.shape.query_offset = keys - 2;
  all.push_back(drawn(grouped));

  all.push_back(drawn(causal(method, "ssmax", shape), true));
  return all;
}

/// Three embeddings of width 4, from position 0 and from position 2.
std::vector<Problem> embedding_problems(const std::string& method) {
  return {drawn(start(method, "from_the_start", {2, 1, 1, 3, 5, 4, 0})),
          drawn(start(method, "offset", {2, 1, 1, 3, 5, 4, 2}))};
}

Problem with_options(Problem problem, const std::map<std::string, double>& options) {
  for (const auto& [name, value] : options) problem.setting.options.at(name) = value;
  return problem;
}

/// BAM's two initialisations, and an epsilon that is not lost beside the distances.
std::vector<Problem> ggd_problems(const std::string& method,
                                  const reference::AttentionShape& shape) {
  const auto with_thetas = [](Problem problem, const std::vector<float>& alpha, float beta) {
    problem.inputs.at("theta_alpha").data = alpha;
    problem.inputs.at("theta_beta").data = {beta, beta};
    problem.inputs.at("theta_mu").data = {0.0f, 0.0f};
    return problem;
  };
  std::vector<float> log_slopes;
  for (double slope : reference::alibi_slopes<double>(2)) log_slopes.push_back(std::log(slope));
  return {with_thetas(drawn(causal(method, "uniform_start", shape)), {0.0f, 0.0f}, 0.0f),
          with_thetas(drawn(causal(method, "slope_start", shape)), log_slopes, 1.0f),
          drawn(with_options(causal(method, "large_epsilon", shape), {{"epsilon", 0.25}}))};
}

/// What one method alone has to show.
std::vector<Problem> special_problems(const std::string& method) {
  const reference::AttentionShape shape{1, 2, 2, 4, 4, 2, 0};
  if (method == "ggd") return ggd_problems(method, shape);
  if (method == "alibi") return {drawn(causal(method, "twelve_heads", {1, 12, 12, 3, 3, 4, 0}))};
  // Where the article's schedule is not the official one.
  if (method == "alibi_geometric") {
    return {drawn(causal(method, "three_heads", {1, 3, 3, 4, 4, 2, 0}))};
  }
  // CABLE's paper prints one L and no epsilon.
  if (method == "fire") {
    return {drawn(with_options(causal(method, "as_printed", shape), {{"L0", 1}, {"epsilon", 0}}))};
  }
  // T5's own 32 buckets, distance 128 and scale: one query sees every bucket that it can.
  if (method == "t5" || method == "t5_bidirectional") {
    const bool both = method == "t5_bidirectional";
    Problem own = with_options(
        causal(method, "own_buckets", {1, 1, 1, 1, both ? 280 : 140, 2, both ? 140 : 139}),
        {{"buckets", 32}, {"max_distance", 128}});
    own.setting.mask.causal = !both;
    own.setting.scale = 1.0;
    return {drawn(own)};
  }
  if (method.starts_with("rope_")) {  // BAM's baseline
    return {
        drawn(with_options(causal(method, "base_500000", {1, 1, 1, 4, 4, 4, 0}), {{"base", 5e5}}))};
  }
  if (method.starts_with("sinusoidal")) {  // CABLE's baseline
    return {drawn(with_options(start(method, "amplitude_tenth", {1, 1, 1, 3, 5, 4, 0}),
                               {{"amplitude", 0.1}}))};
  }
  // The same for all sequences and queries, and for all heads.
  if (method == "bias_tensor") {
    const reference::AttentionShape two{2, 2, 1, 3, 4, 2, 1};
    return {
        drawn(with_options(causal(method, "of_heads", two), {{"per_batch", 0}, {"per_query", 0}})),
        drawn(with_options(causal(method, "of_sequences", two), {{"per_head", 0}}))};
  }
  // More positions than keys: nothing is clamped.
  if (method == "cope") {
    return {drawn(with_options(causal(method, "not_clamped", shape), {{"positions", 6}}))};
  }
  return {};
}

}  // namespace

std::vector<Problem> problems(const std::string& method) {
  std::vector<Problem> all = methods::method_of(method).kind == methods::Kind::embedding
                                 ? embedding_problems(method)
                                 : attention_problems(method);
  for (Problem& special : special_problems(method)) all.push_back(std::move(special));
  return all;
}

}  // namespace plumbline::golden
