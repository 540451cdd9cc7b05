// SPDX-License-Identifier: Apache-2.0
// What the device finds that hardware does not: each wrong kernel beside the right one.
#include <boost/test/unit_test.hpp>

#include "on_device.hpp"

namespace plumbline::ptx {

BOOST_AUTO_TEST_SUITE(checks_test)

namespace {

using Kind = Fault::Kind;

/// Adds 4 * %tid.x to %out and %in: %rd1, %rd2; %r1 is the thread.
const std::string each =
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd1, %out, %rd3;\nadd.s64 %rd2, "
    "%in, %rd3;\nmov.u32 %r2, s;\nmad.lo.s32 %r3, %r1, 4, %r2;\n";

void expect(const std::string& body, Kind kind, const std::string& word,
            Extent block = {64, 1, 1}) {
  const Run run = run_located(each + body, {1, 1, 1}, block);
  BOOST_REQUIRE_MESSAGE(run.fault.has_value(), "no fault in: " << body);
  expect_place(run);
  BOOST_TEST_INFO(run.text);
  BOOST_TEST((*run.fault == kind));
  BOOST_TEST_INFO(run.text);
  BOOST_TEST(run.text.find(word) != std::string::npos);
}
void fine(const std::string& body, Extent block = {64, 1, 1}) {
  const Run run = run_body(each + body, {1, 1, 1}, block);
  BOOST_TEST(!run.fault.has_value(), run.text);
}

BOOST_AUTO_TEST_CASE(bytes_outside_of_an_allocation) {
  expect("st.global.u32 [%rd1+3844], %r1;", Kind::out_of_bounds, "just after the end");
  expect("st.global.u32 [%rd1+-4], %r1;", Kind::out_of_bounds, "4 bytes before");
  expect("ld.global.u64 %rd5, [%rd2+4092];", Kind::misaligned, "no multiple of 8");
  expect("ld.global.v2.u32 {%r5, %r6}, [%in+4096];", Kind::out_of_bounds, "4096");
  expect("mov.u64 %rd5, 0;\nld.global.u32 %r5, [%rd5];", Kind::out_of_bounds, "null pointer");
  expect("st.shared.u32 [%r3+4000], %r1;", Kind::out_of_bounds, "byte 4096 of shared");
  expect("st.shared.u32 [%r2+2], %r1;", Kind::misaligned, "no multiple of 4", {1, 1, 1});
  // From the last addresses that there are on to the first ones, after an access that was right.
  expect(
      "mov.u64 %rd5, %rd2;\nmov.u32 %r6, 0;\nAGAIN:\nld.global.u32 %r5, [%rd5];\n"
      "add.s64 %rd5, %rd3, -64;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 2;\n@%p1 bra AGAIN;",
      Kind::out_of_bounds, "no allocation is near");
  fine("st.global.u32 [%rd1+3840], %r1;");
  fine("st.shared.u32 [%r3+3840], %r1;");
}

BOOST_AUTO_TEST_CASE(accesses_that_do_not_lie_one_behind_the_other) {
  // %r4: 32 bytes for each thread of a warp, the same in every warp; %p1: the second warp.
  const std::string apart =
      "and.b32 %r4, %r1, 31;\nmad.lo.s32 %r4, %r4, 32, %r2;\nsetp.ge.u32 %p1, %r1, 32;\n";
  const auto operands = [](const std::string& reg, int count) {
    std::string all = reg;
    for (int i = 1; i < count; ++i) all += ", " + reg;
    return count == 1 ? all : "{" + all + "}";
  };
  for (const int count : {1, 2, 4}) {
    const std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
    const std::string to = count == 1 ? "%r5" : count == 2 ? "{%r5, %r6}" : "{%r5, %r6, %r7, %r8}";
    const auto store = [&](const std::string& value) {
      return " st.shared" + vector + ".u32 [%r4], " + operands(value, count) + ";\n";
    };
    const std::string load = " ld.shared" + vector + ".u32 " + to + ", [%r4];\n";
    expect(apart + load, Kind::uninitialised_shared, "nothing has written");
    expect(apart + "@!%p1" + store("%r1") + "@%p1" + load, Kind::race, "wrote");
    expect(apart + "@!%p1" + store("%r1") + "bar.sync 0;\n@%p1" + load + "@!%p1" + store("%r2"),
           Kind::race, "which another warp has read");
    fine(apart + "@!%p1" + store("%r1") + "bar.sync 0;\n" + load);
    expect(apart + store("%r1") + "cvt.u64.u32 %rd5, %r4;\nadd.s64 %rd5, %out, %rd5;\nld.global" +
               vector + ".u32 " + to + ", [%rd5+-1024];",
           Kind::uninitialised_global, "nothing has written", {32, 1, 1});
  }
}

BOOST_AUTO_TEST_CASE(halves_of_a_word) {
  const std::string halves =
      "and.b32 %r4, %r1, 31;\nmad.lo.s32 %r5, %r4, 4, %r2;\nshr.u32 %r6, %r1, 5;\n"
      "mad.lo.s32 %r6, %r6, 2, %r5;\nsetp.ge.u32 %p1, %r1, 32;\ncvt.u16.u32 %h1, %r1;\n";
  fine(halves + "st.shared.u16 [%r6], %h1;");  // each warp has its own
  expect(halves + "st.shared.u16 [%r5], %h1;", Kind::race, "wrote");
  // What was written and read as words counts for their halves.
  expect(halves + "@!%p1 st.shared.u32 [%r5], %r1;\n@%p1 ld.shared.u16 %h1, [%r5];", Kind::race,
         "wrote");
  expect(halves +
             "@!%p1 st.shared.u32 [%r5], %r1;\nbar.sync 0;\n@%p1 ld.shared.u32 %r7, [%r5];\n"
             "@!%p1 st.shared.u16 [%r5+2], %h1;",
         Kind::race, "which another warp has read");
  expect(halves + "@!%p1 st.shared.u16 [%r5], %h1;\nbar.sync 0;\nld.shared.u32 %r7, [%r5];",
         Kind::uninitialised_shared, "byte 2 ");
}

BOOST_AUTO_TEST_CASE(the_line_and_the_source_are_named) {
  const Run run = run_text(kernel_of(".loc 1 7 0\n"
                                     "ld.global.u32 %r1, [%in+4096];",
                                     ".file 1 \"a.cu\"\n"),
                           {1, 1, 1}, {1, 1, 1});
  BOOST_TEST(run.where.ptx_line == 20u);
  BOOST_TEST(run.text.find("a.cu:7") != std::string::npos);
  BOOST_TEST(run.text.find("ld.global.u32 %r1, [%in+4096]") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_calls_that_were_inlined_are_named) {
  // As nvcc writes it: the .loc of the call comes before what was inlined there.
  const Run run =
      run_text(kernel_of(".loc 1 7 0\n"
                         ".loc 2 30 3, function_name NAMES, inlined_at 1 7 0\n"
                         ".loc 3 12 5, function_name NAMES+8, inlined_at 2 30 3\n"
                         "ld.global.u32 %r1, [%in+4096];",
                         ".file 1 \"a.cu\"\n.file 2 \"tile.cuh\"\n.file 3 \"vector.cuh\"\n"),
               {1, 1, 1}, {1, 1, 1});
  const std::string places = "from vector.cuh:12, called at tile.cuh:30, called at a.cu:7";
  BOOST_TEST(run.text.find(places) != std::string::npos, run.text);
}

BOOST_AUTO_TEST_CASE(memory_that_nothing_wrote) {
  expect("ld.global.u32 %r5, [%rd1];", Kind::uninitialised_global, "nothing has written");
  expect("ld.shared.u32 %r5, [%r3];", Kind::uninitialised_shared, "nothing has written");
  expect("atom.shared.add.u32 %r5, [%r3], 1;", Kind::uninitialised_shared, "reads byte 0 ");
  expect("st.global.u8 [%rd1], %r1;\nld.global.u16 %h1, [%rd1];", Kind::uninitialised_global,
         "2 bytes");
  fine("st.global.u32 [%rd1], %r1;\nld.global.u32 %r5, [%rd1];");
  fine("st.shared.u32 [%r3], %r1;\nld.shared.u32 %r5, [%r3];");
}

BOOST_AUTO_TEST_CASE(warps_without_a_barrier_between_them_race) {
  // Every thread reads what thread 63 - tid wrote: another warp's.
  const std::string write = "st.shared.u32 [%r3], %r1;\n",
                    read =
                        "sub.s32 %r4, 63, %r1;\nmad.lo.s32 %r5, %r4, 4, %r2;\n"
                        "ld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd1], %r6;\n";
  fine(write + "bar.sync 0;\n" + read);
  expect(write + read, Kind::uninitialised_shared, "nothing");  // warp 0 runs first
  // Both have written once; then again, without a barrier before it is read.
  expect(write + "bar.sync 0;\n" + write + read, Kind::race, "no barrier");
  // A write while others still read.
  expect(write + "bar.sync 0;\n" + read + write, Kind::race, "no barrier");
  fine(write + "bar.sync 0;\n" + read + "bar.sync 0;\n" + write);
  expect("st.shared.u32 [%r2], %r1;", Kind::race, "different values", {2, 1, 1});
  fine("st.shared.u32 [%r2], 5;", {2, 1, 1});
  fine(
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [%r2], 0;\nbar.sync 0;\n"
      "red.shared.add.u32 [%r2], %r1;");
}

BOOST_AUTO_TEST_CASE(lanes_without_a_warp_barrier_between_them_race) {
  const Extent warp{32, 1, 1};
  // Every lane reads what lane 31 - tid wrote.
  const std::string write = "st.shared.u32 [%r3], %r1;\n", barrier = "bar.warp.sync -1;\n",
                    other = "sub.s32 %r4, 31, %r1;\nmad.lo.s32 %r5, %r4, 4, %r2;\n",
                    read = "ld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd1], %r6;\n";
  expect(write + other + read, Kind::race, "no __syncwarp", warp);
  expect(write + other + read, Kind::race, "which thread (31, 0, 0) of the same warp wrote", warp);
  fine(write + barrier + other + read, warp);
  fine(write + "bar.sync 0;\n" + other + read, warp);
  fine(write + "membar.cta;\n" + other + read, warp);
  // A lane may read what it wrote, but not so after another has written it again.
  fine(write + "ld.shared.u32 %r6, [%r3];", warp);
  expect(write + barrier + other + "st.shared.u32 [%r5], %r1;\nld.shared.u32 %r6, [%r3];",
         Kind::race, "no __syncwarp", warp);
  // shfl waits for the lanes, and orders no memory.
  expect(write + "shfl.sync.bfly.b32 %r6, %r1, 1, 31, -1;\n" + other + read, Kind::race,
         "no __syncwarp", warp);
  fine("st.volatile.shared.u32 [%r3], %r1;\n" + other + "ld.volatile.shared.u32 %r6, [%r5];", warp);
  // One lane writes, all read; all write the same, all read.
  const std::string first = "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [%r2], %r1;\n",
                    all = "ld.shared.u32 %r6, [%r2];";
  expect(first + all, Kind::race, "no __syncwarp", warp);
  fine(first + barrier + all, warp);
  fine("st.shared.u32 [%r2], 5;\n" + all, warp);
  // Words, of which each lane wrote two; and a matrix.
  const std::string pairs = "mad.lo.s32 %r5, %r1, 8, %r2;\nst.shared.v2.u32 [%r5], {%r1, %r1};\n";
  fine(pairs + "ld.shared.u32 %r6, [%r5+4];", warp);
  expect(pairs + "ld.shared.u32 %r6, [%r3];", Kind::race, "no __syncwarp", warp);
  const std::string matrix =
      "and.b32 %r4, %r1, 7;\nmad.lo.s32 %r5, %r4, 16, %r2;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r5];";
  expect(write + matrix, Kind::race, "no __syncwarp", warp);
  fine(write + barrier + matrix, warp);
  // Each lane has waited for its own copies.
  const std::string copy = "cp.async.ca.shared.global [%r3], [%rd2], 4;\ncp.async.wait_all;\n";
  fine(copy + "ld.shared.u32 %r6, [%r3];", warp);
  expect(copy + other + read, Kind::race, "no __syncwarp", warp);
  fine(copy + barrier + other + read, warp);
  // A copy to where something was stored before a barrier is no store of that lane.
  fine(write + "bar.sync 0;\nst.shared.u32 [%r3+256], %r1;\nst.shared.u32 [%r3+512], %r1;\n" +
           copy + "ld.shared.u32 %r6, [%r3];",
       warp);
}

BOOST_AUTO_TEST_CASE(warps_that_write_the_same_do_not_race) {
  const std::string same = "mov.u32 %r5, 7;\nst.shared.u32 [%r2], %r5;\n";
  fine(same);
  fine(same + "ld.shared.u32 %r6, [%r2];");
  const std::string other = "shr.u32 %r5, %r1, 5;\nst.shared.u32 [%r2], %r5;\n";
  expect(other, Kind::race, "wrote at");
  fine(other, {32, 1, 1});
}

BOOST_AUTO_TEST_CASE(neighbouring_bytes_of_two_warps_do_not_race) {
  fine("add.s32 %r5, %r2, %r1;\nst.shared.u8 [%r5], %r1;\nld.shared.u8 %r6, [%r5];");
  // Byte tid xor 63 is another warp's.
  expect(
      "add.s32 %r5, %r2, %r1;\nst.shared.u8 [%r5], %r1;\nbar.sync 0;\n"
      "st.shared.u8 [%r5], %r1;\nxor.b32 %r6, %r1, 63;\nadd.s32 %r7, %r2, %r6;\n"
      "ld.shared.u8 %r8, [%r7];",
      Kind::race, "no barrier");
}

BOOST_AUTO_TEST_CASE(copies_are_waited_for) {
  const std::string copy = "cp.async.ca.shared.global [%r3], [%rd2], 4;\ncp.async.commit_group;\n",
                    wait = "cp.async.wait_group 0;\n",
                    mine = "ld.shared.u32 %r5, [%r3];\nst.global.u32 [%rd1], %r5;\n",
                    other =
                        "xor.b32 %r4, %r1, 32;\nmad.lo.s32 %r5, %r4, 4, %r2;\n"
                        "ld.shared.u32 %r6, [%r5];\n";
  expect(copy + mine, Kind::copy_in_flight, "under way");
  expect(copy + copy + wait, Kind::copy_in_flight, "under way");
  fine(copy + wait + mine);
  // The second warp alone reads what the first one copied.
  const std::string second = "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra END;\n", end = "END:";
  expect(copy + second + other + end, Kind::copy_in_flight, "warp 0 is under way");
  expect(copy + wait + second + other + end, Kind::race, "no barrier");
  fine(copy + wait + "bar.sync 0;\n" + other);
  const Run run = run_body(each + copy + wait + mine);
  BOOST_TEST(run.out[63] == 63u);
}

BOOST_AUTO_TEST_CASE(instructions_that_part_of_a_warp_or_block_reaches) {
  const std::string some = "setp.lt.u32 %p1, %r1, 5;\n";
  expect(some + "@%p1 bar.sync 0;", Kind::divergent, "27 lanes of warp 0 pass by");
  expect(some + "@%p1 bra A;\nbar.sync 0;\nbra END;\nA: bar.sync 0;\nEND:", Kind::divergent,
         "only lanes 0x");
  // Threads that have left are not waited for (PTX ISA, bar).
  fine(some + "@%p1 ret;\nbar.sync 0;");
  expect(some + "@%p1 shfl.sync.bfly.b32 %r5, %r1, 1, 31, -1;", Kind::absent_lane, "lane 5");
  fine(some + "@%p1 shfl.sync.down.b32 %r5, %r1, 0, 31, 31;");
  expect(some + "@%p1 shfl.sync.idx.b32 %r5, %r1, 9, 31, 31;", Kind::absent_lane, "lane 9");
  expect("setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1;\n@!%p1 bar.sync 2;", Kind::barrier,
         "do not come");
  expect("bar.sync 16;", Kind::bad_instruction, "16");
  expect("setp.eq.u32 %p1, %r1, 40;\n@%p1 trap;", Kind::trap, "thread (40, 0, 0)");
}

BOOST_AUTO_TEST_CASE(freed_and_read_only_memory) {
  Device device;
  const auto module = device.load(kernel_of("st.global.u32 [%out], 1;"));
  const Kernel& kernel = device.kernel(module, "k");
  const auto kind_with = [&](Address out) {
    std::byte parameters[20] = {};
    std::memcpy(parameters, &out, 8);
    try {
      device.launch(kernel, {}, parameters);
    } catch (const Fault& fault) {
      return fault.kind;
    }
    return Kind::deadlock;  // none
  };
  const Address freed = device.allocate(64);
  device.release(freed);
  BOOST_TEST((kind_with(freed) == Kind::freed_memory));
  std::uint32_t word = 7;
  device.adopt(&word, sizeof word, false);
  BOOST_TEST((kind_with(reinterpret_cast<Address>(&word)) == Kind::read_only));
  device.forget(&word);
  BOOST_TEST((kind_with(reinterpret_cast<Address>(&word)) == Kind::out_of_bounds));
  device.adopt(&word, sizeof word);
  BOOST_TEST((kind_with(reinterpret_cast<Address>(&word)) == Kind::deadlock));
  BOOST_TEST(word == 1u);
}

BOOST_AUTO_TEST_CASE(endless_loops_end_with_the_time_limit) {
  Options options;
  options.time_limit_ms = 50;
  const Run run = run_body("L: bra L;", {1, 1, 1}, {64, 1, 1}, options);
  BOOST_TEST(run.fault.has_value());
  BOOST_TEST((run.fault == Kind::timeout));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::ptx
