// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <random>

#include "cases/bias_parameters.hpp"
#include "golden/golden_case.hpp"

namespace plumbline::golden {
namespace {

/// Multiples of 1/8 from std::mt19937_64, whose output the standard fixes.
class Eighths {
 public:
  explicit Eighths(std::uint64_t seed) : engine_(seed) {}
  float between(int lower, int upper) {  // in eighths
    return static_cast<float>(lower + static_cast<int>(engine_() % (upper - lower + 1))) / 8.0f;
  }
  std::vector<float> many(std::size_t count, int lower, int upper) {
    std::vector<float> values(count);
    for (float& value : values) value = between(lower, upper);
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

/// theta_beta takes both signs and the two special values 0 and 1; head by head.
constexpr float theta_beta[] = {0.5f, -0.5f, 1.0f, 0.0f};
constexpr float theta_alpha[] = {0.25f, -0.5f, -1.0f, 0.125f};
constexpr float theta_mu[] = {0.0f, 0.25f, -0.125f, 0.5f};

Problem problem(std::string name, const cases::Spec& spec, std::vector<std::int32_t> lengths = {},
                std::vector<std::int32_t> documents = {}) {
  Eighths eighths(1 + static_cast<std::uint64_t>(spec.bias) * 100 + name.size());
  const std::size_t heads = spec.heads, rows = static_cast<std::size_t>(spec.batch) * spec.heads;
  Problem result;
  result.name = std::move(name);
  cases::Case& c = result.inputs;
  c.spec = spec;
  c.spec.family = cases::Family::file;
  c.scale = 0.5;  // 1/sqrt(4)
  c.q = eighths.many(rows * spec.queries * spec.head_dim, -16, 16);
  const std::size_t keys = static_cast<std::size_t>(spec.batch) * spec.kv_heads * spec.keys;
  c.k = eighths.many(keys * spec.head_dim, -16, 16);
  c.v = eighths.many(keys * spec.head_dim, -16, 16);
  result.grad_o = eighths.many(c.q.size(), -8, 8);
  result.grad_lse = eighths.many(rows * spec.queries, -8, 8);

  using cases::BiasMethod;
  const BiasMethod bias = spec.bias;
  if (bias == BiasMethod::alibi) c.slopes = cases::official_alibi_slopes(spec.heads);
  if (bias == BiasMethod::cable || bias == BiasMethod::cable_nw || bias == BiasMethod::k_cable ||
      bias == BiasMethod::k_cable_nw) {
    c.increments = eighths.many(rows * spec.keys, 0, 12);
  }
  if (bias == BiasMethod::cable || bias == BiasMethod::k_cable) {
    c.gain = eighths.many(rows * spec.queries, 1, 12);
  }
  if (bias == BiasMethod::ggd) {
    for (std::size_t h = 0; h < heads; ++h) {
      c.theta_alpha.push_back(theta_alpha[h % 4]);
      c.theta_beta.push_back(theta_beta[h % 4]);
      c.theta_mu.push_back(theta_mu[h % 4]);
    }
  }
  if (spec.ssmax) c.ssmax_scale = eighths.many(heads, 4, 12);
  c.lengths = std::move(lengths);
  c.documents = std::move(documents);
  cases::validate(c.spec);
  cases::validate(c);
  return result;
}

}  // namespace

std::vector<Problem> problems(cases::BiasMethod bias) {
  cases::Spec spec;
  spec.bias = bias;
  spec.format = cases::Format::fp32;
  spec.heads = spec.kv_heads = 2;
  spec.queries = spec.keys = 5;
  spec.head_dim = 4;

  std::vector<Problem> all;
  all.push_back(problem("causal", spec));

  cases::Spec bidirectional = spec;
  bidirectional.mask.causal = false;
  all.push_back(problem("bidirectional", bidirectional));

  cases::Spec window = spec;
  window.mask.window = 2;
  all.push_back(problem("window", window));

  cases::Spec documents = spec;
  documents.batch = 2;
  documents.mask.documents = documents.mask.ragged = true;
  all.push_back(problem("documents_ragged", documents, {5, 3}, {0, 0, 1, 1, 1, 0, 1, 1, 2, 2}));

  cases::Spec grouped = spec;
  grouped.heads = 4;
  grouped.queries = 2;
  grouped.query_offset = 3;
  all.push_back(problem("grouped_offset", grouped));

  cases::Spec ssmax = spec;
  ssmax.ssmax = true;
  all.push_back(problem("ssmax", ssmax));

  if (bias == cases::BiasMethod::alibi) {
    cases::Spec twelve = spec;
    twelve.heads = twelve.kv_heads = 12;
    twelve.queries = twelve.keys = 3;
    all.push_back(problem("twelve_heads", twelve));
  }
  return all;
}

}  // namespace plumbline::golden
