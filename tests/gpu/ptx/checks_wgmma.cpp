// SPDX-License-Identifier: Apache-2.0
// What the device finds in kernels with wgmma: each wrong kernel beside the right one.
#include <boost/test/unit_test.hpp>

#include "on_device.hpp"

namespace plumbline::ptx {

BOOST_AUTO_TEST_SUITE(checks_wgmma_test)

namespace {

using Kind = Fault::Kind;

// A is 64 x 16 halves at s, B 8 x 16 at s + 2048, both without a swizzle: groups of 8 rows are 128
// bytes apart, and the second 8 halves of k 1024 (A) or 128 bytes (B) behind the first.
const std::string store_a = "st.shared.v4.u32 [%r5], {%r6, %r6, %r6, %r6};\n",
                  store_b = "@%p1 st.shared.v4.u32 [%r5+2048], {%r6, %r6, %r6, %r6};\n";
const std::string descriptors =
    "mov.u64 %rd4, s;\nshr.u64 %rd4, %rd4, 4;\nor.b64 %rd5, %rd4, 0x800400000;\n"
    "add.s64 %rd6, %rd4, 128;\nor.b64 %rd6, %rd6, 0x800080000;\nsetp.ne.u32 %p2, 0, 1;\n"
    "mov.f32 %f0, 0f00000000;\nmov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n"
    "mov.f32 %f4, %f0;\nmov.f32 %f5, %f0;\nmov.f32 %f6, %f0;\nmov.f32 %f7, %f0;\n";
const std::string begin =
    "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 127;\nmov.u32 %r4, s;\nshl.b32 %r5, %r2, 4;\n"
    "add.s32 %r5, %r5, %r4;\nmov.u32 %r6, 0x3c003c00;\nsetp.lt.u32 %p1, %r2, 16;\n" +
    store_a + store_b + descriptors;
const std::string proxy = "fence.proxy.async;\n", barrier = proxy + "bar.sync 0;\n",
                  fence = "wgmma.fence.sync.aligned;\n",
                  commit = "wgmma.commit_group.sync.aligned;\n",
                  wait = "wgmma.wait_group.sync.aligned 0;\n",
                  wait_1 = "wgmma.wait_group.sync.aligned 1;\n", ready = begin + barrier + fence;
std::string product(const std::string& d, const std::string& a = "%rd5",
                    const std::string& b = "%rd6") {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + d + ", " + a + ", " + b +
         ", %p2, 1, 1, 0, 0;\n";
}
const std::string d0 = "{%f0, %f1, %f2, %f3}", d1 = "{%f4, %f5, %f6, %f7}",
                  of_registers = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + d0 +
                                 ", {%r10, %r11, %r12, %r13}, %rd6, %p2, 1, 1, 0;\n",
                  set_a =
                      "mov.u32 %r10, 0;\nmov.u32 %r11, 0;\nmov.u32 %r12, 0;\nmov.u32 %r13, 0;\n",
                  mma = product(d0);

std::string text_of(const std::string& body) { return with_source_lines(kernel_of(body)); }
void expect(const std::string& body, Kind kind, const std::string& word,
            std::uint32_t threads = 128) {
  const Run run = run_text(text_of(body), {1, 1, 1}, {threads, 1, 1});
  BOOST_REQUIRE_MESSAGE(run.fault.has_value(), "no fault in: " << body);
  expect_place(run);
  BOOST_TEST((*run.fault == kind), run.text);
  BOOST_TEST(run.text.find(word) != std::string::npos, run.text);
}
Run fine(const std::string& body, std::uint32_t threads = 128) {
  const Run run = run_text(text_of(body), {1, 1, 1}, {threads, 1, 1});
  BOOST_TEST(!run.fault.has_value(), run.text);
  return run;
}

BOOST_AUTO_TEST_CASE(a_product_is_waited_for) {
  const std::string store =
      "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd1, %out, %rd3;\nst.global.f32 [%rd1], %f0;\n";
  const Run run = fine(ready + mma + commit + wait + store);
  for (std::size_t i = 0; i < 128; ++i) BOOST_TEST(run.out[i] == 0x41800000u);  // 16 times 1
  const std::string verb = "reads an accumulator of the wgmma.mma_async at PTX line";
  expect(ready + mma + store, Kind::registers_in_flight, verb);
  expect(ready + mma + commit + store + wait, Kind::registers_in_flight, verb);
  expect(ready + mma + wait + store, Kind::registers_in_flight, verb);  // of no group
  expect(ready + mma + commit + "shfl.sync.bfly.b32 %f9, %f0, 1, 31, -1;\n" + wait,
         Kind::registers_in_flight, verb);
  expect(ready + mma + commit + "add.f32 %f3, %f8, %f8;\n" + wait, Kind::registers_in_flight,
         "writes an accumulator");
  // Of two groups the first may still be waited for alone.
  const std::string two = ready + mma + commit + product(d1) + commit + wait_1;
  fine(two + "add.f32 %f9, %f0, %f1;\n");
  expect(two + "add.f32 %f9, %f0, %f4;\n", Kind::registers_in_flight, verb);
}

BOOST_AUTO_TEST_CASE(copies_of_accumulators_are_in_flight_too) {
  const std::string moved = ready + mma + commit + "mov.f32 %f8, %f0;\n";
  fine(moved + wait + "add.f32 %f9, %f8, %f8;\n");
  expect(moved + "add.f32 %f9, %f8, %f8;\n", Kind::registers_in_flight,
         "reads a copy of an accumulator");
  // What lives on in a copy may be overwritten by a move; what does not may not.
  fine(moved + "mov.f32 %f0, 0f00000000;\n" + wait);
  expect(ready + mma + commit + "mov.f32 %f1, 0f00000000;\n" + wait, Kind::registers_in_flight,
         "writes an accumulator");
  fine(moved + "mov.f32 %f8, 0f00000000;\nadd.f32 %f9, %f8, %f8;\n" + wait);
}

BOOST_AUTO_TEST_CASE(registers_go_round_in_a_loop) {
  // As compilers write a loop whose products are waited for one turn later.
  const std::string loop =
      ready + "mov.u32 %r8, 0;\nL:\n" + fence + product(d0) + commit + wait_1 +
      "mov.f32 %f4, %f0;\nmov.f32 %f5, %f1;\nmov.f32 %f6, %f2;\nmov.f32 %f7, %f3;\n"
      "mov.f32 %f0, %f4;\nmov.f32 %f1, %f5;\nmov.f32 %f2, %f6;\nmov.f32 %f3, %f7;\n"
      "add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p3, %r8, 4;\n@%p3 bra L;\n";
  fine(loop + wait + "add.f32 %f9, %f4, %f0;\n");
  expect(loop + "add.f32 %f9, %f4, %f4;\n" + wait, Kind::registers_in_flight, "copy");
}

/// A fifth warp writes B again when warp 0 says so, before or after it waits for the product: by
/// the mbarrier at %r7 or that at %r8.
std::string written_again(const std::string& when) {
  return begin + "setp.eq.u32 %p5, %r1, 0;\nadd.u32 %r7, %r4, 3072;\nadd.u32 %r8, %r4, 3080;\n" +
         "@%p5 mbarrier.init.shared.b64 [%r7], 1;\n@%p5 mbarrier.init.shared.b64 [%r8], 1;\n" +
         barrier + "setp.ge.u32 %p4, %r1, 128;\n@%p4 bra WRITER;\n" + fence + mma + commit +
         "@%p5 mbarrier.arrive.shared.b64 %rd7, [%r7];\n" + wait +
         "@%p5 mbarrier.arrive.shared.b64 %rd7, [%r8];\nbra END;\nWRITER:\n" +
         "mbarrier.try_wait.parity.shared.b64 %p6, [" + when +
         "], 0;\n@!%p6 bra WRITER;\nmov.u32 %r6, 0x40004000;\n" + store_b + "END:\n";
}

BOOST_AUTO_TEST_CASE(what_a_product_reads_is_written_after_a_barrier_behind_its_wait) {
  // Also where warp 0 has said both when the writer looks.
  for (std::uint64_t order = 0; order < 40; ++order) {
    Options options;
    options.variation.order_seed = order;
    const auto run = [&](const std::string& when) {
      return run_text(text_of(written_again(when)), {1, 1, 1}, {160, 1, 1}, options);
    };
    const Run right = run("%r8"), early = run("%r7");
    BOOST_TEST(!right.fault.has_value(), right.text);
    BOOST_TEST((early.fault == Kind::race), "order " << order << ": " << early.text);
  }
}

BOOST_AUTO_TEST_CASE(registers_of_a_stay_until_the_wait) {
  const std::string first = begin + set_a + barrier + fence + of_registers + commit;
  fine(first + wait + "add.u32 %r10, %r10, 1;\n");
  expect(first + "add.u32 %r10, %r9, 1;\n" + wait, Kind::registers_in_flight,
         "writes a register with A");
  expect(first + "mov.u32 %r10, 1;\n" + wait, Kind::registers_in_flight,
         "writes a register with A");
  fine(first + of_registers + commit + wait);
  // Accumulators as A, or as accumulators of another shape.
  expect(ready + mma + commit + "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + d1 +
             ", {%f0, %f1, %f2, %f3}, %rd6, %p2, 1, 1, 0;\n",
         Kind::registers_in_flight, "needs registers of the wgmma.mma_async");
  expect(ready + mma + commit +
             "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0, %f1, %f2, %f3, %f4, %f5, "
             "%f6, %f7}, %rd5, %rd5, %p2, 1, 1, 0, 0;\n",
         Kind::registers_in_flight, "needs registers of the wgmma.mma_async");
  fine(ready + mma + mma + commit + wait);
}

BOOST_AUTO_TEST_CASE(a_fence_is_between_writes_of_registers_and_a_product) {
  expect(begin + barrier + mma + commit + wait, Kind::registers_in_flight, "no wgmma.fence");
  const std::string write = "add.f32 %f0, %f8, %f8;\n";
  fine(begin + barrier + write + fence + mma + commit + wait);
  expect(begin + barrier + fence + write + mma + commit + wait, Kind::registers_in_flight,
         "after its last wgmma.fence");
  expect(begin + set_a + barrier + fence + "add.u32 %r12, %r1, 1;\n" + of_registers + commit + wait,
         Kind::registers_in_flight, "after its last wgmma.fence");
  // A second product needs a fence of its own if registers were written after the first's wait.
  const std::string once = ready + mma + commit + wait + write;
  fine(once + fence + mma + commit + wait);
  expect(once + mma + commit + wait, Kind::registers_in_flight, "after its last wgmma.fence");
  expect(ready + "add.f32 %f8, %f9, %f9;\nmov.f32 %f0, %f8;\n" + mma + commit + wait,
         Kind::registers_in_flight, "after its last wgmma.fence");
  // Only where the write is executed.
  fine(begin + barrier + fence + "setp.eq.u32 %p3, %r1, 999;\n@%p3 bra L;\nbra M;\nL: " + write +
       "M: " + mma + commit + wait);
}

BOOST_AUTO_TEST_CASE(shared_memory_of_a_product_stays_until_the_wait) {
  const std::string again = "bar.sync 0;\nmov.u32 %r6, 1;\n";
  fine(ready + mma + commit + wait + again + store_a + store_b);
  const std::string reader = "which the wgmma.mma_async at PTX line",
                    plain = "no barrier is between them";  // some warp has waited
  expect(ready + mma + commit + again + store_a + wait, Kind::race, reader);
  expect(ready + mma + commit + again + store_b + wait, Kind::race, plain);
  expect(ready + mma + commit + "mov.u32 %r6, 1;\n" + store_b + wait, Kind::race, reader);
  expect(ready + mma + commit + wait + "mov.u32 %r6, 1;\n" + store_b, Kind::race, plain);
  // One group is left, which reads the same bytes.
  expect(ready + mma + commit + product(d1) + commit + wait_1 + again + store_b, Kind::race,
         reader);
  fine(ready + mma + commit + product(d1) + commit + wait + again + store_b);
}

BOOST_AUTO_TEST_CASE(shared_memory_is_written_before_a_product) {
  const std::string rest = fence + mma + commit + wait;
  expect(begin + proxy + rest, Kind::uninitialised_shared, "nothing has written");
  const std::string twice = begin + barrier + "mov.u32 %r6, 1;\n" + store_b;
  fine(twice + barrier + rest);
  expect(twice + rest, Kind::race, "which the wgmma.mma_async at PTX line");
  // The same by the warp that comes first, the last at the barrier.
  expect(begin + barrier + "setp.ge.u32 %p3, %r2, 112;\n@%p3 st.shared.u32 [%r5+256], %r1;\n" +
             proxy + rest,
         Kind::race, "no barrier");
  std::string without = ready;
  without.erase(without.find(store_b), store_b.size());
  expect(without + mma + commit + wait, Kind::uninitialised_shared, "nothing has written");
}

BOOST_AUTO_TEST_CASE(the_asynchronous_proxy_reads_the_matrices) {
  const std::string rest = fence + mma + commit + wait;
  expect(begin + "bar.sync 0;\n" + rest, Kind::proxy_fence, "fence.proxy.async");
  fine(begin + "bar.sync 0;\nfence.proxy.async;\n" + rest);
  // A bulk copy brings them.
  const std::string copy =
      "mov.u32 %r1, %tid.x;\nmov.u32 %r4, s;\nadd.u32 %r5, %r4, 3072;\nsetp.eq.u32 %p3, %r1, 127;\n"
      "@%p3 mbarrier.init.shared.b64 [%r5], 1;\nbar.sync 0;\n"
      "@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 2304;\n"
      "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%in], 2304, "
      "[%r5];\n" +
      descriptors;
  const std::string waited =
      "L: mbarrier.try_wait.parity.shared.b64 %p4, [%r5], 0;\n@!%p4 bra L;\n";
  fine(copy + waited + rest);
  expect(copy + rest, Kind::copy_in_flight, "mbarrier");
  // The next copy comes before the wait for the product.
  const std::string again =
      "bar.sync 0;\n@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 2304;\n"
      "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%in], 2304, "
      "[%r5];\nM: mbarrier.try_wait.parity.shared.b64 %p4, [%r5], 1;\n@!%p4 bra M;\n";
  fine(copy + waited + rest + again);
  expect(copy + waited + fence + mma + commit + again + wait, Kind::race,
         "its warpgroup has not waited");
}

BOOST_AUTO_TEST_CASE(the_four_warps_of_a_warpgroup_do_the_same) {
  const std::string rest = fence + mma + commit + wait;
  expect(begin + barrier + rest, Kind::divergent, "is in no warpgroup", 96);
  expect(begin + barrier + "setp.ge.u32 %p3, %r1, 96;\n@%p3 bra END;\n" + rest + "END:",
         Kind::divergent, "have left the kernel without it: 3");
  expect(begin + barrier + "setp.ge.u32 %p3, %r1, 96;\n" + fence + "@%p3 bra L;\n" + mma + commit +
             wait + "bra END;\nL: " + product(d1) + "END:",
         Kind::divergent, "must execute the same wgmma instructions");
  expect(begin + barrier + fence + "setp.ge.u32 %p3, %r1, 120;\n@%p3 bra END;\n" + mma + "END:",
         Kind::divergent, "only lanes 0xffffff");
  expect(begin + barrier + fence + "and.b32 %r8, %r1, 1;\nsetp.eq.u32 %p2, %r8, 0;\n" + mma,
         Kind::bad_instruction, "scale-d");
  fine(begin + barrier + rest, 256);
}

BOOST_AUTO_TEST_CASE(descriptors_name_shared_memory) {
  const auto with = [](const std::string& change) { return ready + change + mma + commit + wait; };
  expect(with("add.s64 %rd6, %rd6, 248;\n"), Kind::out_of_bounds, "of which the block has 4096");
  expect(with("sub.s64 %rd5, %rd5, 1;\n"), Kind::out_of_bounds, "reaches from byte -16");
  // A swizzle of 128 bytes that begins at the second row.
  expect(with("add.s64 %rd5, %rd5, 8;\nor.b64 %rd5, %rd5, 0x4000000000000000;\n"), Kind::misaligned,
         "multiples of 1024");
  expect(with("cvt.u64.u32 %rd7, %r1;\nadd.s64 %rd5, %rd5, %rd7;\n"), Kind::bad_instruction,
         "in lane 1");
  expect(with("shr.u32 %r8, %r1, 5;\ncvt.u64.u32 %rd7, %r8;\nsub.s64 %rd6, %rd6, %rd7;\n"),
         Kind::bad_instruction, "of its warpgroup");
}

}  // namespace

// The producer of a pipeline writes B again when one warp of the consumers has said that it is
// read, as CUTLASS's PipelineTmaAsync does.
BOOST_AUTO_TEST_CASE(one_warp_may_say_that_all_four_have_read) {
  const std::string
      start =
          "mov.u32 %r20, %tid.x;\nsetp.eq.u32 %p3, %r20, 0;\nmov.u32 %r21, s;\n"
          "add.u32 %r21, %r21, 4000;\n@%p3 mbarrier.init.shared.b64 [%r21], 1;\n" +
          begin + barrier + "setp.gt.u32 %p4, %r20, 127;\n@%p4 bra PRODUCER;\n" + fence,
      arrive = "@%p3 mbarrier.arrive.shared.b64 _, [%r21];\n",
      rest =
          "bra END;\nPRODUCER:\nL: mbarrier.try_wait.parity.shared.b64 %p5, [%r21], 0;\n"
          "@!%p5 bra L;\n"
          "mov.u32 %r6, 1;\n" +
          store_b + "END:\n";
  fine(start + mma + commit + wait + arrive + rest, 160);
  expect(start + mma + commit + arrive + wait + rest, Kind::race, "no barrier is between them",
         160);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::ptx
