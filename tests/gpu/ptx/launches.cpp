// SPDX-License-Identifier: Apache-2.0
// Launches: limits, order of blocks, the same bits for any number of threads, divergence.
#include <boost/test/unit_test.hpp>

#include "on_device.hpp"

namespace plumbline::ptx {

BOOST_AUTO_TEST_SUITE(launches_test)

namespace {

Refused::Reason refused(const Launch& launch, const std::string& ptx, std::size_t bytes = 20) {
  Device device;
  const auto module = device.load(ptx);
  std::vector<std::byte> parameters(bytes);
  try {
    device.launch(device.kernel(module, "k"), launch, parameters);
  } catch (const Refused& error) {
    return error.reason;
  }
  return Refused::Reason::no_such_name;  // none
}

BOOST_AUTO_TEST_CASE(lanes_of_one_load_read_shared_and_local_memory) {
  const Run run = run_body(
      ".local .align 16 .b8 own[16];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n"
      "add.s64 %rd1, %out, %rd3;\nmov.u32 %r2, s;\nmad.lo.s32 %r3, %r1, 4, %r2;\n"
      "st.shared.u32 [%r3], %r1;\nmov.u32 %r4, 700;\nmov.u64 %rd5, own;\nst.local.u32 [%rd5], "
      "%r4;\n"
      "cvta.local.u64 %rd5, %rd5;\ncvt.u64.u32 %rd6, %r3;\ncvta.shared.u64 %rd6, %rd6;\n"
      "and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p1, %r5, 1;\nselp.b64 %rd7, %rd5, %rd6, %p1;\n"
      "ld.u32 %r6, [%rd7];\nst.global.u32 [%rd1], %r6;");
  BOOST_REQUIRE_MESSAGE(!run.fault, run.text);
  for (std::uint32_t i = 0; i < 64; ++i) BOOST_TEST(run.out[i] == (i % 2 ? 700u : i));
}

BOOST_AUTO_TEST_CASE(limits_are_those_of_cuda) {
  using Reason = Refused::Reason;
  const std::string empty = kernel_of("");
  const auto with = [](Extent grid, Extent block, std::size_t shared = 0) {
    Launch launch;
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared_bytes = shared;
    return launch;
  };
  BOOST_TEST((refused(with({1, 1, 1}, {1024, 1, 1}), empty) == Reason::no_such_name));
  BOOST_TEST((refused(with({1, 1, 1}, {1025, 1, 1}), empty) == Reason::invalid_configuration));
  BOOST_TEST((refused(with({1, 1, 1}, {32, 32, 2}), empty) == Reason::invalid_configuration));
  BOOST_TEST((refused(with({1, 1, 1}, {1, 1, 65}), empty) == Reason::invalid_configuration));
  BOOST_TEST((refused(with({0, 1, 1}, {1, 1, 1}), empty) == Reason::invalid_configuration));
  BOOST_TEST((refused(with({1, 65536, 1}, {1, 1, 1}), empty) == Reason::invalid_configuration));
  BOOST_TEST((refused(with({1, 1, 1}, {1, 1, 1}, 232449), empty) == Reason::invalid_value));
  BOOST_TEST((refused(with({1, 1, 1}, {1, 1, 1}), empty, 24) == Reason::invalid_value));
}

/// Threads of a warp take loops of different lengths, meet, and exchange values.
const std::string divergent =
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nand.b32 %r3, %r1, 7;\nmov.u32 %r4, 0;\n"
    "LOOP: setp.eq.u32 %p1, %r3, 0;\n@%p1 bra DONE;\nadd.u32 %r4, %r4, %r3;\n"
    "sub.u32 %r3, %r3, 1;\nbra LOOP;\nDONE:\n"
    "shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;\n"
    "mad.lo.u32 %r6, %r2, 64, %r1;\nmul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd1, %out, %rd3;\n"
    "st.global.u32 [%rd1], %r5;";

BOOST_AUTO_TEST_CASE(lanes_that_diverged_meet_again) {
  const Run run = run_body(divergent, {16, 1, 1});
  BOOST_REQUIRE_MESSAGE(!run.fault.has_value(), run.text);
  for (std::uint32_t i = 0; i < 1024; ++i) {
    const std::uint32_t k = (i ^ 1) & 7;
    BOOST_TEST(run.out[i] == k * (k + 1) / 2);
  }
}

BOOST_AUTO_TEST_CASE(the_bits_do_not_depend_on_threads) {
  // Sums in fp32 by atomics: the order of the blocks shows.
  const std::string sums =
      "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\ncvt.rn.f32.u32 %f1, %r1;\n"
      "cvt.rn.f32.u32 %f2, %r2;\nfma.rn.f32 %f3, %f1, 0f3f9e0419, %f2;\n"
      "red.global.add.f32 [%in], %f3;\nbar.sync 0;\nld.volatile.global.u32 %r3, [%in];\n"
      "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd1, %out, %rd3;\nst.global.u32 [%rd1], %r3;";
  for (const std::string& body : {divergent, sums}) {
    std::vector<std::uint32_t> first;
    for (const unsigned threads : {1u, 2u, 5u}) {
      Options options;
      options.threads = threads;
      const Run run = run_body(body, {16, 1, 1}, {64, 1, 1}, options);
      BOOST_REQUIRE_MESSAGE(!run.fault.has_value(), run.text);
      std::vector<std::uint32_t> out(run.out.begin(), run.out.begin() + 16);
      if (first.empty()) first = out;
      BOOST_TEST(out == first, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_first_block_that_fails_is_named) {
  for (const unsigned threads : {1u, 4u}) {
    Options options;
    options.threads = threads;
    const Run run = run_body("mov.u32 %r1, %ctaid.x;\nsetp.gt.u32 %p1, %r1, 5;\n@%p1 trap;",
                             {64, 1, 1}, {32, 1, 1}, options);
    BOOST_TEST(run.text.find("block (6, 0, 0)") != std::string::npos, run.text);
  }
}

BOOST_AUTO_TEST_CASE(functions_are_called) {
  const std::string twice =
      ".func (.param .b32 r) twice(.param .b32 a)\n{\n.reg .b32 %x<3>;\nld.param.u32 %x1, [a];\n"
      "add.u32 %x2, %x1, %x1;\nst.param.b32 [r], %x2;\nret;\n}\n";
  const std::string body =
      "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd1, %out, %rd3;\n"
      "{ .param .b32 p0; .param .b32 q0; st.param.b32 [p0], %r1; call (q0), twice, (p0);\n"
      "ld.param.b32 %r2, [q0]; }\nst.global.u32 [%rd1], %r2;";
  const Run run = run_text(kernel_of(body, twice), {1, 1, 1}, {64, 1, 1});
  BOOST_REQUIRE_MESSAGE(!run.fault.has_value(), run.text);
  BOOST_TEST(run.out[21] == 42u);
}

BOOST_AUTO_TEST_CASE(a_block_that_waits_for_a_later_one_gets_its_answer) {
  // Block 0 spins on a flag that block 1 sets.
  const Run run = run_body(
      "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra SET;\n"
      "WAIT: ld.volatile.global.u32 %r2, [%in];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\n"
      "st.global.u32 [%out], %r2;\nret;\nSET: st.volatile.global.u32 [%in], 9;",
      {2, 1, 1}, {1, 1, 1});
  BOOST_REQUIRE_MESSAGE(!run.fault.has_value(), run.text);
  BOOST_TEST(run.out[0] == 9u);
}

BOOST_AUTO_TEST_CASE(constant_expressions_are_those_of_the_isa) {
  const auto of = [](const std::string& text) {
    const Run run = run_body("mov.u64 %rd1, " + text + ";\nst.global.u64 [%out], %rd1;");
    return std::uint64_t{run.out[1]} << 32 | run.out[0];
  };
  BOOST_TEST(of("2+3*4<<1") == 28u);
  BOOST_TEST(of("10-3-2") == 5u);
  BOOST_TEST(of("-8>>1") == 0xfffffffffffffffcu);
  BOOST_TEST(of("-8U>>1") == 0x7ffffffffffffffcu);
  BOOST_TEST(of("-1 % 10") == 5u);  // 2^64 - 1: operands of % are unsigned
  BOOST_TEST(of("-1<1U") == 0u);
  BOOST_TEST(of("(.s64)-1U<1") == 1u);
  BOOST_TEST(of("1&&0||!!7") == 1u);
  BOOST_TEST(of("6^3&1") == 7u);
  BOOST_TEST(of("0?1:0?2:WARP_SZ*2") == 64u);
  BOOST_TEST(of("1.5*2.0==3.0") == 1u);
  BOOST_CHECK_THROW(of("1/0"), BadPtx);
  BOOST_CHECK_THROW(of("(1"), BadPtx);
  BOOST_CHECK_THROW(of("1.5|2"), BadPtx);
  BOOST_CHECK_THROW(of(std::string(100'000, '(')), BadPtx);
  BOOST_CHECK_THROW(of(std::string(100'000, '!')), BadPtx);
}

BOOST_AUTO_TEST_CASE(one_exchange_may_stand_in_two_branches) {
  // Lanes 0 to 11 in one branch, the others in the second; out[lane] is what each got.
  const auto of = [](const std::string& first, const std::string& second) {
    return run_body(
        "mov.u32 %r1, %laneid;\nmul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %out, %rd1;\n"
        "mov.u32 %r5, 7;\nmov.u32 %r6, 8;\nsetp.lt.u32 %p1, %r1, 12;\n@%p1 bra L;\n" +
            second + "\nbra.uni M;\nL:\n" + first +
            "\nM:\nadd.u32 %r2, %r2, %r5;\nadd.u32 %r2, %r2, %r6;\nst.global.u32 [%rd1], %r2;",
        {1, 1, 1}, {32, 1, 1});
  };
  const Run shuffled = of("add.u32 %r3, %r1, 100;\nshfl.sync.bfly.b32 %r2, %r3, 31, 31, -1;",
                          "add.u32 %r4, %r1, 200;\nshfl.sync.bfly.b32 %r2|%p2, %r4, 31, 31, -1;");
  BOOST_REQUIRE(!shuffled.fault);
  for (std::uint32_t i = 0; i < 32; ++i)
    BOOST_TEST(shuffled.out[i] == (31 - i) + (31 - i < 12 ? 100 : 200) + 15);
  const Run voted = of("vote.sync.ballot.b32 %r2, %p1, -1;", "vote.sync.ballot.b32 %r2, !%p1, -1;");
  BOOST_REQUIRE(!voted.fault);
  for (std::uint32_t i = 0; i < 32; ++i) BOOST_TEST(voted.out[i] == 0xffffffffu + 15);
  // Other qualifiers: they wait for ever.
  BOOST_TEST(
      of("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", "shfl.sync.down.b32 %r2, %r1, 1, 31, -1;")
          .fault.has_value());
}

BOOST_AUTO_TEST_CASE(a_breakpoint_ends_a_launch_as_a_trap_does) {
  const Run run = run_body("brkpt;");
  BOOST_CHECK(run.fault == Fault::Kind::trap);
  BOOST_TEST(run.text.find("brkpt") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(faults_name_kernels_as_cpp_does) {
  std::string text = kernel_of("trap;");
  text.replace(text.find(" k("), 3, " _Z3foom(");
  Device device;
  const auto module = device.load(text);
  std::vector<std::byte> parameters(20);
  try {
    device.launch(device.kernel(module, "_Z3foom"), {}, parameters);
    BOOST_TEST(false);
  } catch (const Fault& fault) {
    BOOST_TEST(std::string(fault.what()).find("in foo(unsigned long), block") != std::string::npos);
    BOOST_TEST(fault.where.kernel == "_Z3foom");
  }
}

BOOST_AUTO_TEST_CASE(a_kernel_is_told_whether_it_is_a_cluster) {
  const std::string body =
      "mov.pred %p1, %is_explicit_cluster;\nselp.u32 %r1, 5, 6, %p1;\nst.global.u32 [%out], %r1;";
  const Run run = run_body(body);
  BOOST_TEST(run.out[0] == 6u);
  BOOST_CHECK_THROW(run_body("mov.pred %p1, %laneid;"), BadPtx);
  std::string text = kernel_of(body);
  text.replace(text.find(")\n{"), 3, ")\n.reqnctapercluster 1, 1, 1\n{");
  BOOST_TEST(run_text(text, {1, 1, 1}, {32, 1, 1}).out[0] == 5u);
}

BOOST_AUTO_TEST_CASE(limits_of_clusters_are_those_of_cuda) {
  using Reason = Refused::Reason;
  const auto with = [](Extent grid, Extent cluster, const std::string& text) {
    Launch launch;
    launch.grid = grid;
    launch.cluster = cluster;
    return refused(launch, text);
  };
  const std::string plain = kernel_of("");
  std::string fixed = plain;
  fixed.replace(fixed.find(")\n{"), 3, ")\n.reqnctapercluster 2, 1, 1\n{");
  BOOST_TEST((with({4, 2, 1}, {2, 2, 1}, plain) == Reason::no_such_name));
  BOOST_TEST((with({5, 1, 1}, {2, 1, 1}, plain) == Reason::invalid_configuration));
  BOOST_TEST((with({32, 1, 1}, {32, 1, 1}, plain) == Reason::invalid_configuration));
  BOOST_TEST((with({4, 1, 1}, {0, 1, 1}, plain) == Reason::invalid_configuration));
  BOOST_TEST((with({4, 1, 1}, {1, 1, 1}, fixed) == Reason::no_such_name));
  BOOST_TEST((with({4, 1, 1}, {4, 1, 1}, fixed) == Reason::invalid_configuration));
  BOOST_TEST((with({3, 1, 1}, {1, 1, 1}, fixed) == Reason::invalid_configuration));
}

BOOST_AUTO_TEST_CASE(blocks_of_a_cluster_see_the_same_bits_for_any_number_of_threads) {
  // Each block adds to the sum of block 0 of its cluster, in floating point: the order shows.
  std::string text = kernel_of(
      "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n"
      "mov.u32 %r3, s;\n@%p1 st.shared.u32 [%r3], 0;\nbarrier.cluster.arrive;\n"
      "barrier.cluster.wait;\nmapa.shared::cluster.u32 %r4, %r3, 0;\n"
      "mad.lo.u32 %r5, %r1, 64, %r2;\ncvt.rn.f32.u32 %f1, %r5;\n"
      "fma.rn.f32 %f2, %f1, 0f3f9e0419, 0f3dcccccd;\n"
      "red.shared::cluster.add.f32 [%r4], %f2;\nbarrier.cluster.arrive;\n"
      "barrier.cluster.wait;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd1, %out, %rd3;\n"
      "ld.shared::cluster.u32 %r6, [%r4];\n@%p1 st.global.u32 [%rd1], %r6;\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;");
  text.replace(text.find(")\n{"), 3, ")\n.reqnctapercluster 2, 2, 1\n{");
  std::vector<std::uint32_t> first;
  for (const unsigned threads : {1u, 2u, 5u}) {
    Options options;
    options.threads = threads;
    const Run run = run_text(text, {16, 2, 1}, {64, 1, 1}, options);
    BOOST_REQUIRE_MESSAGE(!run.fault.has_value(), run.text);
    std::vector<std::uint32_t> out(run.out.begin(), run.out.begin() + 16);
    if (first.empty()) first = out;
    BOOST_TEST(out == first, boost::test_tools::per_element());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(printf_writes_as_c_does) {
  // "%d|%5u|%-4x|%llx|%c%%|%.2f|%9.1e|%s|%*d;" and "word"; arguments of 4 or 8 bytes, aligned.
  const std::string strings =
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".global .align 1 .b8 fmt[41] = {37, 100, 124, 37, 53, 117, 124, 37, 45, 52, 120, 124, 37, "
      "108, 108, 120, 124, 37, 99, 37, 37, 124, 37, 46, 50, 102, 124, 37, 57, 46, 49, 101, 124, "
      "37, 115, 124, 37, 42, 100, 59, 0};\n.global .align 1 .b8 word[5] = {119, 111, 114, 100, 0};";
  const std::string body =
      ".local .align 8 .b8 a[72];\n.reg .b64 %la;\nmov.u64 %la, a;\n"
      "st.local.u32 [%la], -7;\nst.local.u32 [%la+4], 42;\nst.local.u32 [%la+8], 42;\n"
      "st.local.u64 [%la+16], 0xff00000000;\nst.local.u32 [%la+24], 65;\n"
      "st.local.f64 [%la+32], 0d3FF8000000000000;\nst.local.f64 [%la+40], 0dC000000000000000;\n"
      "mov.u64 %rd5, word;\nst.local.u64 [%la+48], %rd5;\nst.local.u32 [%la+56], 4;\n"
      "st.local.u32 [%la+60], 9;\nmov.u64 %rd6, fmt;\ncvta.local.u64 %rd7, %la;\n{\n"
      ".param .b64 f; .param .b64 g; .param .b32 r;\nst.param.b64 [f], %rd6;\n"
      "st.param.b64 [g], %rd7;\ncall.uni (r), vprintf, (f, g);\nld.param.b32 %r5, [r];\n}\n"
      "st.global.u32 [%out], %r5;";
  Run run;
  const std::string text = output_of([&] {
    run = run_text(kernel_of(body, strings), {1, 1, 1}, {2, 1, 1});
  });
  BOOST_TEST(!run.fault.has_value(), run.text);
  const std::string once = "-7|   42|2a  |ff00000000|A%|1.50| -2.0e+00|word|   9;";
  BOOST_TEST(text == once + once);  // of two threads
  BOOST_TEST(run.out[0] == 10u);    // arguments: the width is one, too
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::ptx
