// SPDX-License-Identifier: Apache-2.0
// A sequence decoded token by token, each appended to a growing cache, against the forward pass of
// the whole: both are held to the oracle by their derived bounds, hence to each other by the sum of
// the two.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "plumbline_kernel.h"
#include "verdict/cases/case.hpp"
#include "verdict/judge/judge.hpp"

BOOST_AUTO_TEST_SUITE(append_test)

namespace {

using namespace plumbline;

constexpr int kBatch = 2, kHeads = 4, kKvHeads = 2, kLength = 150, kDim = 32, kPageSize = 16;

const plumbline_kernel& kernel(const std::string& name) {
  const plumbline_library* library = plumbline_kernel_library();
  return *std::find_if(library->kernels, library->kernels + library->kernel_count,
                       [&](const auto& k) { return k.name == name; });
}

cases::Case whole_sequence(cases::Bias bias) {
  cases::Spec spec;
  spec.bias = bias;
  spec.batch = kBatch;
  spec.heads = kHeads;
  spec.kv_heads = kKvHeads;
  spec.queries = spec.keys = kLength;
  spec.head_dim = kDim;
  spec.seed = 11;
  return cases::generate(spec);
}

/// The columns first .. first + count - 1 of each row of `length` values.
std::vector<float> columns(const std::vector<float>& values, int length, int first, int count) {
  std::vector<float> cut;
  for (auto row = values.begin(); row != values.end(); row += length)
    cut.insert(cut.end(), row + first, row + first + count);
  return cut;
}

void put_columns(std::vector<float>& values, int length, int first, const std::vector<float>& cut) {
  const std::size_t rows = values.size() / length, count = cut.size() / rows;
  for (std::size_t row = 0; row < rows; ++row)
    std::copy_n(cut.begin() + row * count, count, values.begin() + row * length + first);
}

/// Keys and values in pages that the sequences get one after the other as they grow, the last
/// sequence first; what no key has been written to is NaN. Prefix sums go on from the last one.
class GrowingCache {
 public:
  explicit GrowingCache(const cases::Case& c)
      : case_(c),
        summed_(c.spec.bias == PLUMBLINE_FOX ? PLUMBLINE_LOG_FORGET : PLUMBLINE_INCREMENTS),
        sums_(c[summed_].empty() ? 0 : kBatch * kHeads) {}

  void append() {
    if (length_ % kPageSize == 0) {
      k_.resize(k_.size() + kBatch * kKvHeads * kPageSize * kDim, std::nanf(""));
      v_.resize(k_.size(), std::nanf(""));
    }
    for (int b = 0; b < kBatch; ++b) {
      for (int h = 0; h < kKvHeads; ++h) {
        const int from = ((b * kKvHeads + h) * kLength + length_) * kDim;
        const int to =
            ((page(b, length_ / kPageSize) * kKvHeads + h) * kPageSize + length_ % kPageSize) *
            kDim;
        std::copy_n(case_.k.begin() + from, kDim, k_.begin() + to);
        std::copy_n(case_.v.begin() + from, kDim, v_.begin() + to);
      }
    }
    for (std::size_t head = 0; head < sums_.size(); ++head) {
      const double last = length_ > 0 ? sums_[head].back() : 0.0;
      sums_[head].push_back(last + case_[summed_][head * kLength + length_]);
    }
    ++length_;
  }

  /// Lets the problem read this cache.
  void give(plumbline_problem& problem) {
    table_.clear();
    for (int b = 0; b < kBatch; ++b)
      for (int n = 0; n * kPageSize < length_; ++n) table_.push_back(page(b, n));
    prefix_sums_.clear();
    for (const auto& sums : sums_)
      prefix_sums_.insert(prefix_sums_.end(), sums.begin(), sums.end());
    problem.keys = length_;
    problem.page_size = kPageSize;
    problem.pages = table_.data();
    problem.k = k_.data();
    problem.v = v_.data();
    problem.prefix_sums = sums_.empty() ? nullptr : prefix_sums_.data();
  }

 private:
  static int page(int b, int nth) { return nth * kBatch + kBatch - 1 - b; }

  const cases::Case& case_;
  plumbline_parameter summed_;
  int length_ = 0;
  std::vector<float> k_, v_;
  std::vector<std::vector<double>> sums_;  // [batch * heads], each as long as the cache
  std::vector<std::int32_t> table_;
  std::vector<double> prefix_sums_;
};

plumbline_problem problem_of(const cases::Case& c) {
  plumbline_problem p{};
  p.struct_size = sizeof p;
  p.batch = kBatch;
  p.heads = kHeads;
  p.kv_heads = kKvHeads;
  p.head_dim = p.value_dim = kDim;
  p.bias = c.spec.bias.method;
  p.rope = c.spec.bias.rope;
  p.rotary_dim = c.spec.rotary_width();
  p.causal = 1;
  p.window_left = p.window_right = -1;
  p.scale = c.scale;
  std::copy(c.options.begin(), c.options.end(), p.options);
  return p;
}

/// The first `count` tokens at once, by the forward pass.
void prefill(const cases::Case& c, int count, cases::Outputs& outputs) {
  plumbline_problem p = problem_of(c);
  const auto q = columns(c.q, kLength * kDim, 0, count * kDim);
  const auto k = columns(c.k, kLength * kDim, 0, count * kDim);
  const auto v = columns(c.v, kLength * kDim, 0, count * kDim);
  std::vector<std::vector<float>> parameters(PLUMBLINE_PARAMETER_COUNT);
  for (const auto n : {PLUMBLINE_INCREMENTS, PLUMBLINE_GAIN, PLUMBLINE_LOG_FORGET}) {
    parameters[n] = columns(c[n], kLength, 0, count);
    if (!c[n].empty()) p.parameters[n] = parameters[n].data();
  }
  p.queries = p.keys = count;
  p.q = q.data();
  p.k = k.data();
  p.v = v.data();
  std::vector<float> o(q.size(), std::nanf("")), lse(kBatch * kHeads * count, std::nanf(""));
  const plumbline_outputs arrays{o.data(), lse.data()};
  char message[256] = "";
  BOOST_REQUIRE_MESSAGE(kernel("fused").forward(&p, &arrays, message, sizeof message) == 0,
                        message);
  put_columns(outputs.o, kLength * kDim, 0, o);
  put_columns(outputs.lse, kLength, 0, lse);
}

/// The token at `position`, the newest of the cache.
void decode(const cases::Case& c, GrowingCache& cache, int position, cases::Outputs& outputs) {
  plumbline_problem p = problem_of(c);
  cache.give(p);
  const auto q = columns(c.q, kLength * kDim, position * kDim, kDim);
  const auto gain = columns(c[PLUMBLINE_GAIN], kLength, position, 1);
  p.queries = 1;
  p.query_offset = position;
  p.q = q.data();
  if (!gain.empty()) p.parameters[PLUMBLINE_GAIN] = gain.data();
  std::vector<float> o(q.size(), std::nanf("")), lse(kBatch * kHeads, std::nanf(""));
  const plumbline_outputs arrays{o.data(), lse.data()};
  char message[256] = "";
  BOOST_REQUIRE_MESSAGE(kernel("split_kv").decode(&p, &arrays, message, sizeof message) == 0,
                        message);
  put_columns(outputs.o, kLength * kDim, position * kDim, o);
  put_columns(outputs.lse, kLength, position, lse);
}

BOOST_AUTO_TEST_CASE(decoding_into_a_growing_cache_equals_the_forward_pass_of_the_whole) {
  for (const auto bias : {cases::Bias(PLUMBLINE_CABLE), cases::Bias(PLUMBLINE_FOX),
                          cases::Bias(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_HALF_SPLIT)}) {
    const cases::Case c = whole_sequence(bias);
    cases::Outputs whole;
    whole.o.resize(c.q.size());
    whole.lse.resize(c.q.size() / kDim);
    prefill(c, kLength, whole);
    const auto forward = verdict::judge(c, kernel("fused").contracts[PLUMBLINE_FP32], whole, 1);
    for (const int filled : {0, 70}) {
      cases::Outputs appended;
      appended.o.assign(whole.o.size(), std::nanf(""));
      appended.lse.assign(whole.lse.size(), std::nanf(""));
      if (filled > 0) prefill(c, filled, appended);
      GrowingCache cache(c);
      for (int position = 0; position < kLength; ++position) {
        cache.append();
        if (position >= filled) decode(c, cache, position, appended);
      }
      const auto judged =
          verdict::judge(c, kernel("split_kv").contracts[PLUMBLINE_FP32], appended, 1);
      BOOST_TEST_CONTEXT(cases::name(bias) << ", " << filled << " tokens at once") {
        BOOST_TEST((forward.outcome == verdict::Outcome::pass), verdict::describe(forward));
        BOOST_TEST((judged.outcome == verdict::Outcome::pass), verdict::describe(judged));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
