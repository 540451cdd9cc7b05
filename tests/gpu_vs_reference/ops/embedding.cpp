// SPDX-License-Identifier: Apache-2.0
#include "ops/embedding.cuh"

#include <algorithm>
#include <boost/mpl/list.hpp>
#include <numeric>

#include "ops/sinusoidal.cuh"
#include "ops/sort_ids.cuh"
#include "reference/model/position_embedding.hpp"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"
#include "verdict/bounds/ops/embedding.hpp"

BOOST_AUTO_TEST_SUITE(embedding_test)

namespace {

using namespace plumbline;
using namespace plumbline::op_tests;
using reference::RunningError;
using Elements = boost::mpl::list<float, gpu::bfloat16, gpu::float16>;

struct Problem {
  int batch, length, offset, width;
  int words, positions, kinds;  // rows of the tables; 0: the model has none
  std::vector<int> ids, types;
  std::vector<double> word, position, type, grad_x;
  bool accumulate;

  int tokens() const { return batch * length; }
};

/// Ids evenly spread, mostly one, or all the same: runs of 64 sorted tokens are met in every way.
template <class Element>
Problem problem(std::uint64_t seed) {
  reference::Numbers numbers(seed);
  Problem p{};
  p.batch = numbers.whole(1, 4);
  p.length = numbers.whole(1, seed % 4 == 0 ? 200 : 40);
  p.offset = numbers.whole(0, 3);
  p.width = numbers.whole(1, seed % 3 == 0 ? 140 : 20);
  p.words = seed % 7 == 0 ? 70000 : numbers.whole(1, 60);
  if (seed % 7 == 0) p.width = 2;
  p.positions = seed % 2 == 0 ? p.offset + p.length + numbers.whole(0, 2) : 0;
  p.kinds = seed % 3 == 1 ? 2 : 0;
  for (int n = 0; n < p.tokens(); ++n) {
    const int any = numbers.whole(0, p.words - 1);
    const int common = p.words / 2;
    p.ids.push_back(seed % 5 == 0 ? common : seed % 5 == 1 && n % 8 ? common : any);
    p.types.push_back(p.kinds > 0 ? numbers.whole(0, p.kinds - 1) : 0);
  }
  p.word = representable<float>(numbers.between(-1, 1, p.words * p.width));
  p.position = representable<float>(numbers.between(-1, 1, p.positions * p.width));
  p.type = representable<float>(numbers.between(-1, 1, p.kinds * p.width));
  p.grad_x = representable<Element>(numbers.between(-1, 1, p.tokens() * p.width));
  p.accumulate = numbers.whole(0, 1) == 1;
  return p;
}

template <class Element>
std::vector<double> forward(const Problem& p) {
  const Device<int> ids(p.ids), types(p.types);
  const auto word = on_device<float>(p.word), position = on_device<float>(p.position);
  const auto type = on_device<float>(p.type);
  const Device<Element> x(static_cast<std::size_t>(p.tokens()) * p.width);
  gpu::embedding_forward(
      gpu::Stream(),
      {{word.data(), p.words}, {position.data(), p.positions}, {type.data(), p.kinds}, p.width},
      {ids.data(), types.data(), p.batch, p.length, p.offset}, x.data());
  return x.numbers();
}

struct Grads {
  std::vector<double> word, position, type;
};

/// The tables themselves stand for what was in the gradients before.
template <class Element>
Grads backward(const Problem& p) {
  const Device<int> ids(p.ids), types(p.types);
  const auto word = on_device<float>(p.word), position = on_device<float>(p.position);
  const auto type = on_device<float>(p.type);
  const auto grad_x = on_device<Element>(p.grad_x);
  const auto workspace = gpu::embedding_workspace(p.tokens(), p.width);
  const Device<int> ints(workspace.ints);
  const Device<float> floats(workspace.floats);
  gpu::embedding_backward(
      gpu::Stream(),
      {{word.data(), p.words}, {position.data(), p.positions}, {type.data(), p.kinds}, p.width},
      {ids.data(), types.data(), p.batch, p.length, p.offset}, grad_x.data(),
      p.accumulate ? gpu::Gradient::accumulate : gpu::Gradient::overwrite, ints.data(),
      floats.data());
  return {word.numbers(), position.numbers(), type.numbers()};
}

/// Every token's position.
std::vector<int> position_ids(const Problem& p) {
  std::vector<int> ids;
  for (int n = 0; n < p.tokens(); ++n) ids.push_back(n % p.length + p.offset);
  return ids;
}

BOOST_AUTO_TEST_CASE_TEMPLATE(tokens_positions_and_types_are_summed, Element, Elements) {
  Comparison x("x");
  for_seeds(40, [&](std::uint64_t seed) {
    const Problem p = problem<Element>(seed);
    auto expected = reference::embedding(matrix(p.word, p.words, p.width), p.ids);
    std::vector<std::vector<op_bounds::Computed>> parts(p.grad_x.size());
    const auto add = [&](const std::vector<double>& table, int rows, const std::vector<int>& ids,
                         bool first) {
      for (std::size_t n = 0; n < parts.size(); ++n)
        parts[n].push_back({table[ids[n / p.width] * p.width + n % p.width], 0.0});
      if (first) return;
      const auto more = reference::embedding(matrix(table, rows, p.width), ids);
      for (Eigen::Index n = 0; n < more.size(); ++n) expected.data()[n] += more.data()[n];
    };
    add(p.word, p.words, p.ids, true);
    if (p.positions > 0) add(p.position, p.positions, position_ids(p), false);
    if (p.kinds > 0) add(p.type, p.kinds, p.types, false);
    std::vector<double> limits;
    for (const auto& part : parts)
      limits.push_back(op_bounds::embedding_limit(part, storage<Element>()));
    x.check(forward<Element>(p), expected, limits);
  });
  x.finish(0.5);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(gradients_are_sums_over_the_tokens, Element, Elements) {
  Comparison word("word"), position("position"), type("type");
  for_seeds(60, [&](std::uint64_t seed) {
    const Problem p = problem<Element>(seed);
    const Grads got = backward<Element>(p);
    const auto dX = matrix(p.grad_x, p.tokens(), p.width);
    const auto check = [&](Comparison& comparison, const std::vector<double>& values, int rows,
                           const std::vector<int>& ids, const std::vector<double>& table,
                           const std::function<int(int)>& chain) {
      const std::vector<double> previous = p.accumulate ? table : std::vector<double>();
      auto expected = reference::embedding_grad(rows, ids, dX);
      for (std::size_t n = 0; n < previous.size(); ++n)
        expected.data()[n] += RunningError(previous[n]);
      comparison.check(
          values, expected,
          op_bounds::embedding_grad_limits(rows, p.width, ids, p.grad_x, previous, chain));
    };
    check(word, got.word, p.words, p.ids, p.word, gpu::embedding_chain);
    if (p.kinds > 0) check(type, got.type, p.kinds, p.types, p.type, gpu::embedding_chain);
    if (p.positions > 0)
      check(position, got.position, p.positions, position_ids(p), p.position,
            [&](int) { return p.batch; });
  });
  for (const auto* result : {&word, &position, &type}) result->finish();
}

BOOST_AUTO_TEST_CASE(sorting_is_stable_at_any_size) {
  reference::Numbers numbers(3);
  for (const int count : {1, 2, 511, 512, 513, 1025, 3000}) {
    for (const int rows : {1, 2, 16, 17, 257, 50304, 1 << 30}) {
      std::vector<int> ids, expected(count);
      for (int n = 0; n < count; ++n)
        ids.push_back(static_cast<int>(numbers.between(0, rows - 0x1p-20)));
      std::iota(expected.begin(), expected.end(), 0);
      std::stable_sort(expected.begin(), expected.end(),
                       [&](int a, int b) { return ids[a] < ids[b]; });
      const Device<int> device_ids(ids), order(count), spare(count);
      gpu::sort_ids(gpu::Stream(), device_ids.data(), count, rows, order.data(), spare.data());
      BOOST_TEST((order.values() == expected), count << " ids of " << rows << " rows");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_order_of_threads_and_the_number_of_workers_change_no_bit) {
  for (const std::uint64_t seed : {4, 16, 20})
    expect_same_bits([&] {
      const Grads grads = backward<float>(problem<float>(seed));
      std::vector<double> all = grads.word;
      all.insert(all.end(), grads.position.begin(), grads.position.end());
      return all;
    });
}

BOOST_AUTO_TEST_CASE(sinusoidal_tables_are_the_oracle_rounded_once) {
  Comparison table("table");
  for (const auto cosine : {gpu::CosineFrequency::shared, gpu::CosineFrequency::own}) {
    for (const double amplitude : {1.0, 0.1}) {
      constexpr int length = 300, width = 34;
      const double base = 10000;
      const bool own = cosine == gpu::CosineFrequency::own;
      const auto got = gpu::sinusoidal_table(length, width, base, cosine, amplitude);
      const auto expected = reference::sinusoidal_table<RunningError>(
          length, width, RunningError(base),
          own ? reference::SinusoidalCosine::own_frequency
              : reference::SinusoidalCosine::shared_frequency,
          RunningError(amplitude));
      for (std::size_t n = 0; n < got.size(); ++n) {
        const std::size_t t = n / width, c = n % width;
        const double like = c % 2 == 0 ? c : own ? c : c - 1;
        const double angle = t * std::pow(base, -like / width);
        const auto& exact = expected(t, c);
        table.element(n, got[n], exact,
                      op_bounds::sinusoidal_limit(angle, amplitude, exact.value()));
      }
    }
  }
  table.finish(0.5);
}

BOOST_AUTO_TEST_CASE(what_no_table_has_is_refused_with_its_place) {
  Problem p = problem<float>(4);
  p.ids.back() = p.words;
  const auto last = "ids[" + std::to_string(p.tokens() - 1) + "] is " + std::to_string(p.words);
  BOOST_CHECK_EXCEPTION(forward<float>(p), std::invalid_argument, says(last));
  BOOST_CHECK_EXCEPTION(backward<float>(p), std::invalid_argument, says(last));
  p.ids.front() = -1;
  BOOST_CHECK_EXCEPTION(forward<float>(p), std::invalid_argument, says("ids[0] is -1, must be 0"));
  p.ids = problem<float>(4).ids;
  p.kinds = 1;
  p.types.assign(p.tokens(), 0);
  p.types[1] = 1;
  p.type.assign(p.width, 0.0);
  BOOST_CHECK_EXCEPTION(forward<float>(p), std::invalid_argument, says("types[1] is 1, must be 0"));
  p.types[1] = 0;
  p.offset += 10;
  BOOST_CHECK_EXCEPTION(forward<float>(p), std::invalid_argument, says("length is"));
  p.offset = -1;
  BOOST_CHECK_EXCEPTION(forward<float>(p), std::invalid_argument, says("position_offset is -1"));
  p.offset = 0;
  p.batch = 0;
  BOOST_CHECK_EXCEPTION(forward<float>(p), std::invalid_argument, says("batch is 0"));
  BOOST_CHECK_THROW(gpu::embedding_workspace(0, 1), std::invalid_argument);
  BOOST_CHECK_THROW(gpu::sinusoidal_table(4, 3, 10, gpu::CosineFrequency::own, 1),
                    std::invalid_argument);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
