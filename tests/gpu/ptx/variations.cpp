// SPDX-License-Identifier: Apache-2.0
// What hardware leaves open: mul and add as one fma, and one device after another in one process.
// (Displaced approximations and truncated sums: arithmetic/.)
#include <bit>
#include <boost/test/unit_test.hpp>
#include <set>

#include "on_device.hpp"

namespace plumbline::ptx {

BOOST_AUTO_TEST_SUITE(variations_test)

namespace {

/// (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24, which rounds to 1 + 2^-11 (a tie, to even): a rounded
/// product less 1 + 2^-11 is 0, and an fma gives 2^-24. %f1 is 1 + 2^-12, %f2 the product's other
/// operand, %f4 = 1 + 2^-11, %f5 its opposite.
std::string with_numbers(const std::string& body) {
  return kernel_of(
      "mov.f32 %f1, 0f3F800800;\nmov.f32 %f2, 0f3F800800;\nmov.f32 %f4, 0f3F801000;\n"
      "mov.f32 %f5, 0fBF801000;\n" +
      body + "\nst.global.f32 [%out], %f0;");
}

float result(const std::string& body, bool fuse) {
  Options options;
  options.variation.fuse = fuse;
  const Run run = run_text(with_numbers(body), {1, 1, 1}, {1, 1, 1}, options);
  BOOST_REQUIRE_MESSAGE(!run.fault.has_value(), run.text);
  return std::bit_cast<float>(run.out[0]);
}

const float fused = std::ldexp(1.0f, -24);

}  // namespace

BOOST_AUTO_TEST_CASE(a_product_and_the_sum_that_takes_it_are_one_fma_where_that_is_asked_for) {
  const std::string product = "mul.f32 %f3, %f1, %f2;\n";
  for (const auto& [sum, expected] : {std::pair{"add.f32 %f0, %f3, %f5;", fused},
                                      {"add.f32 %f0, %f5, %f3;", fused},
                                      {"sub.f32 %f0, %f3, %f4;", fused},
                                      {"sub.f32 %f0, %f4, %f3;", -fused}}) {
    BOOST_TEST(result(product + sum, true) == expected);
    BOOST_TEST(result(product + sum, false) == 0.0f);
  }
}

BOOST_AUTO_TEST_CASE(an_add_is_left_alone_where_fusing_would_not_be_the_same_or_is_forbidden) {
  const std::string product = "mul.f32 %f3, %f1, %f2;\n", sum = "add.f32 %f0, %f3, %f5;";
  const std::string same_result[] = {
      "mul.rn.f32 %f3, %f1, %f2;\n" + sum, product + "add.rn.f32 %f0, %f3, %f5;",
      "mul.ftz.f32 %f3, %f1, %f2;\n" + sum,
      "mul.sat.f32 %f3, %f1, %f2;\nadd.f32 %f0, %f3, 0fBF800000;",
      // Another value in an operand of the product by then, or in the product.
      product + "mov.f32 %f1, 0f40000000;\n" + sum, product + "mov.f32 %f3, 0f3F801000;\n" + sum,
      "mov.f32 %f3, %f1;\nmul.f32 %f3, %f3, %f2;\n" + sum,
      // A label: the product may come from elsewhere.
      "mov.u32 %r1, 0;\n" + product + "AGAIN:\n" + sum +
          "\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 2;\n@%p1 bra AGAIN;",
      // A product that not every thread computes.
      "mov.f32 %f3, 0f3F801000;\nsetp.eq.u32 %p1, %n, 0;\n@%p1 " + product + sum};
  for (const std::string& body : same_result) {
    BOOST_TEST_CONTEXT(body) BOOST_TEST(result(body, true) == 0.0f);
  }
}

BOOST_AUTO_TEST_CASE(products_in_double_are_fused_likewise) {
  // (1 + 2^-27)^2 = 1 + 2^-26 + 2^-54, which rounds to 1 + 2^-26; the result to float is exact.
  const std::string body =
      "mov.f64 %rd1, 0d3FF0000002000000;\nmul.f64 %rd2, %rd1, %rd1;\n"
      "sub.f64 %rd3, %rd2, 0d3FF0000004000000;\ncvt.rn.f32.f64 %f0, %rd3;";
  BOOST_TEST(result(body, true) == std::ldexp(1.0f, -54));
  BOOST_TEST(result(body, false) == 0.0f);
}

BOOST_AUTO_TEST_CASE(a_device_runs_a_kernel_in_one_way_after_the_other) {
  Device device;
  const auto module = device.load(with_numbers("mul.f32 %f3, %f1, %f2;\nadd.f32 %f0, %f3, %f5;"));
  const Kernel& kernel = device.kernel(module, "k");
  const Address out = device.allocate(4);
  std::byte parameters[20] = {};
  std::memcpy(parameters, &out, 8);
  const auto run = [&](bool fuse) {
    Variation variation;
    variation.fuse = fuse;
    device.vary(variation);
    device.launch(kernel, {}, parameters);
    float number = 0;
    device.read(&number, out, 4);
    return number;
  };
  BOOST_TEST(run(false) == 0.0f);
  BOOST_TEST(run(true) == fused);
  BOOST_TEST(run(false) == 0.0f);
}

BOOST_AUTO_TEST_CASE(blocks_warps_and_atomics_take_turns_in_an_order_of_their_own) {
  // What was there: of each lane's, warp's and block's number the one that came before it.
  const std::string lanes =
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %laneid;\nshr.u32 %r3, %r1, 5;\nmov.u32 %r9, %ctaid.x;\n";
  const auto last = [](const std::string& number, std::uint64_t seed) {
    Options options;
    options.variation.order_seed = seed;
    const Run run = run_body(number + "atom.global.exch.b32 %r8, [%in], %r4;\n" +
                                 "ld.relaxed.gpu.global.u32 %r5, [%in];\n" +
                                 "st.relaxed.gpu.global.u32 [%out], %r5;",
                             {8, 1, 1}, {256, 1, 1}, options);
    BOOST_REQUIRE_MESSAGE(!run.fault.has_value(), run.text);
    return run.out[0];
  };
  for (const std::string& number : {lanes + "mov.u32 %r4, %r2;\n", lanes + "mov.u32 %r4, %r3;\n",
                                    lanes + "mov.u32 %r4, %r9;\n"}) {
    std::set<std::uint32_t> seen;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const std::uint32_t one = last(number, seed);
      BOOST_TEST(one == last(number, seed));
      seen.insert(one);
    }
    BOOST_TEST(last(number, 0) == (number.find("%r4, %r2") != number.npos ? 31u : 7u));
    BOOST_TEST(seen.size() > 1);
  }
  // Of a kernel whose blocks share nothing: the warps of a block, in shared memory.
  const auto last_warp = [](std::uint64_t seed) {
    Options options;
    options.variation.order_seed = seed;
    return run_body(
               "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [s], 0;\n"
               "bar.sync 0;\natom.shared.exch.b32 %r2, [s], %r1;\nbar.sync 0;\n"
               "@%p1 ld.shared.u32 %r3, [s];\n@%p1 st.global.u32 [%out], %r3;",
               {1, 1, 1}, {256, 1, 1}, options)
        .out[0];
  };
  // The warp that comes last to the barrier, which ends it, goes on first.
  BOOST_TEST(last_warp(0) == 6u * 32 + 31);
  BOOST_TEST(last_warp(1) / 32 != 6u);
  BOOST_TEST(last_warp(1) % 32 != 31u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::ptx
