// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout.cuh"

#include <array>
#include <limits>

#include "ops/philox.cuh"
#include "tests/gpu_vs_reference/ops/harness.hpp"
#include "tests/reference/numbers.hpp"

BOOST_AUTO_TEST_SUITE(dropout_test)

using namespace plumbline;
using namespace plumbline::op_tests;

namespace {

// Random123, tests/kat_vectors, the three lines of philox4x32 10.
BOOST_AUTO_TEST_CASE(philox_gives_the_published_numbers) {
  struct Known {
    std::array<std::uint32_t, 4> counter;
    std::array<std::uint32_t, 2> key;
    std::array<std::uint32_t, 4> result;
  };
  const Known known[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Known& k : known) {
    const auto got = gpu::philox4x32_10({{k.counter[0], k.counter[1], k.counter[2], k.counter[3]}},
                                        k.key[0], k.key[1]);
    for (int n = 0; n < 4; ++n) BOOST_TEST(got.word[n] == k.result[n]);
  }
}

/// Philox as section 3.3 of the paper writes it, with (L, R) pairs; beside the kernel's own.
std::uint32_t random_word(std::uint64_t seed, std::uint64_t draw, std::uint64_t index) {
  const std::uint64_t group = index / 4;
  std::uint64_t l0 = group & 0xffffffff, r0 = group >> 32;
  std::uint64_t l1 = draw & 0xffffffff, r1 = draw >> 32;
  std::uint64_t k0 = seed & 0xffffffff, k1 = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = l0 * 0xD2511F53, p1 = l1 * 0xCD9E8D57;
    l0 = (p1 >> 32) ^ r0 ^ k0;
    r0 = p1 & 0xffffffff;
    l1 = (p0 >> 32) ^ r1 ^ k1;
    r1 = p0 & 0xffffffff;
    k0 = (k0 + 0x9E3779B9) & 0xffffffff;
    k1 = (k1 + 0xBB67AE85) & 0xffffffff;
  }
  const std::uint64_t words[] = {l0, r0, l1, r1};
  return static_cast<std::uint32_t>(words[index % 4]);
}

template <class Element>
void check(const char* format) {
  Comparison kept_values(std::string("dropout ") + format);
  for_seeds(6, [&](std::uint64_t seed) {
    const gpu::Stream stream;
    reference::Numbers numbers(seed);
    const int count = static_cast<int>(numbers.between(900, 3000));
    const double p = numbers.between(0.05, 0.95);
    const gpu::Dropout settings{p, 0x0123456789abcdef * seed, 0xfedcba9876543210 + seed};
    const auto x = representable<Element>(numbers.between(-4, 4, count));
    const auto dev_x = on_device<Element>(x);
    const Device<Element> dev_y(count);
    gpu::dropout(stream, settings, dev_x.data(), dev_y.data(), count);
    const auto y = dev_y.numbers();
    int kept = 0;
    for (int n = 0; n < count; ++n) {
      const bool keep = random_word(settings.seed, settings.draw, n) * 0x1p-32 >= p;
      kept += keep;
      if (!keep) {
        BOOST_TEST_REQUIRE(y[n] == 0.0, "element " << n << " is not dropped");
        continue;
      }
      // x times a factor that is rounded to fp32 itself.
      const op_bounds::Computed factor{1 / (1 - p), op_bounds::unit_roundoff / (1 - p)};
      const reference::RunningError exact =
          reference::RunningError(x[n]) /
          (reference::RunningError(1.0) - reference::RunningError(p));
      kept_values.element(n, y[n], exact,
                          stored_error(op_bounds::Computed{x[n]} * factor, storage<Element>()));
    }
    // Six standard deviations of a binomial number.
    BOOST_TEST(std::fabs(kept - count * (1 - p)) <= 6 * std::sqrt(count * p * (1 - p)));
  });
  kept_values.finish(0.2);
}

BOOST_AUTO_TEST_CASE(the_counter_decides_who_stays_and_who_stays_is_scaled) {
  check<float>("fp32");
  check<gpu::bfloat16>("bf16");
  check<gpu::float16>("fp16");
}

BOOST_AUTO_TEST_CASE(without_dropout_nothing_changes) {
  const gpu::Stream stream;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {1.5f, -0.0f, 0x1p-149f, 3.4e38f, -infinity};
  const Device<float> dev_x(x), dev_y(x.size());
  gpu::dropout(stream, gpu::Dropout(), dev_x.data(), dev_y.data(), x.size());
  BOOST_TEST(dev_y.values() == x);
}

BOOST_AUTO_TEST_CASE(the_gradient_meets_the_same_mask_and_another_draw_another_one) {
  const gpu::Stream stream;
  constexpr int count = 1001;
  const Device<float> ones(std::vector<float>(count, 1.0f)), y(count), grad(count), other(count);
  const gpu::Dropout settings{0.5, 7, 3};
  gpu::dropout(stream, settings, ones.data(), y.data(), count);
  gpu::dropout(stream, settings, ones.data(), grad.data(), count);
  BOOST_TEST(y.values() == grad.values());
  for (const gpu::Dropout& changed :
       {gpu::Dropout{0.5, 8, 3}, gpu::Dropout{0.5, 7, 4}, gpu::Dropout{0.5, 7 + (1ull << 32), 3},
        gpu::Dropout{0.5, 7, 3 + (1ull << 32)}}) {
    gpu::dropout(stream, changed, ones.data(), other.data(), count);
    BOOST_TEST(other.values() != y.values());
  }
}

BOOST_AUTO_TEST_CASE(the_bits_do_not_depend_on_threads_and_workers) {
  const gpu::Stream stream;
  const auto x = on_device<float>(reference::Numbers(4).between(-5, 5, 5000));
  expect_same_bits([&] {
    const Device<float> y(5000);
    gpu::dropout(stream, gpu::Dropout{0.1, 1, 2}, x.data(), y.data(), 5000);
    return y.values();
  });
}

BOOST_AUTO_TEST_CASE(probabilities_that_drop_everything_or_are_none_are_refused) {
  const gpu::Stream stream;
  const Device<float> x(4);
  for (const double p : {1.0, -0.1, 2.0, std::numeric_limits<double>::quiet_NaN()})
    BOOST_CHECK_EXCEPTION(gpu::dropout(stream, gpu::Dropout{p}, x.data(), x.data(), 4),
                          std::invalid_argument, says("probability is"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
