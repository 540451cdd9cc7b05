// SPDX-License-Identifier: Apache-2.0
// Which accesses of shared memory barriers of some of a block's warps, and mbarriers, put in order:
// each wrong kernel beside the right one.
#include <boost/test/unit_test.hpp>

#include "on_device.hpp"

namespace plumbline::ptx {

BOOST_AUTO_TEST_SUITE(checks_order_test)

namespace {

using Kind = Fault::Kind;

/// %r1: the thread, %r2: its warp; %p0 to %p3: it is of that warp; %r3: `s`; %r4: the lane's word
/// there; %r5 and %r6: mbarriers of 32 arrivals.
const std::string each =
    "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nand.b32 %r7, %r1, 31;\nmov.u32 %r3, s;\n"
    "setp.eq.u32 %p0, %r2, 0;\nsetp.eq.u32 %p1, %r2, 1;\nsetp.eq.u32 %p2, %r2, 2;\nsetp.eq.u32 "
    "%p3, %r2, 3;\n"
    "mad.lo.s32 %r4, %r7, 4, %r3;\nadd.u32 %r5, %r3, 2048;\nadd.u32 %r6, %r3, 2056;\n"
    "setp.eq.u32 %p4, %r1, 0;\n@%p4 mbarrier.init.shared.b64 [%r5], 32;\n"
    "@%p4 mbarrier.init.shared.b64 [%r6], 32;\n@%p0 st.shared.u32 [%r4], 0;\nbar.sync 0;\n";

std::string of(int warp, const std::string& text) {
  return "@%p" + std::to_string(warp) + " " + text + ";\n";
}
std::string writes(int warp) { return of(warp, "st.shared.u32 [%r4], %r1"); }
std::string reads(int warp) { return of(warp, "ld.shared.u32 %r8, [%r4]"); }
/// bar.sync of two warps.
std::string meets(int warp, int number) {
  return of(warp, "bar.sync " + std::to_string(number) + ", 64");
}
std::string arrives(int warp, int number) {
  return of(warp, "bar.arrive " + std::to_string(number) + ", 64");
}
std::string arrives_at(int warp, const std::string& mbarrier) {
  return of(warp, "mbarrier.arrive.shared.b64 _, [" + mbarrier + "]");
}
std::string waits_for(int warp, const std::string& mbarrier, const std::string& label) {
  return "@!%p" + std::to_string(warp) + " bra " + label + "_END;\n" + label +
         ": mbarrier.try_wait.parity.shared.b64 %p5, [" + mbarrier + "], 0;\n@!%p5 bra " + label +
         ";\n" + label + "_END:\n";
}

void race(const std::string& body, const std::string& word = "no barrier is between them") {
  const Run run = run_located(each + body, {1, 1, 1}, {128, 1, 1});
  BOOST_REQUIRE_MESSAGE(run.fault.has_value(), "no fault in: " << body);
  expect_place(run);
  BOOST_TEST_INFO(run.text);
  BOOST_TEST((*run.fault == Kind::race));
  BOOST_TEST_INFO(run.text);
  BOOST_TEST(run.text.find(word) != std::string::npos);
}
void fine(const std::string& body) {
  const Run run = run_body(each + body, {1, 1, 1}, {128, 1, 1});
  BOOST_TEST(!run.fault.has_value(), run.text << "\n" << body);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_barrier_of_two_warps_orders_these_two_alone) {
  fine(writes(0) + meets(0, 1) + meets(1, 1) + reads(1));
  race(writes(0) + meets(0, 1) + meets(1, 1) + reads(2), "which warp 0 wrote");
  race(writes(0) + meets(1, 1) + meets(2, 1) + reads(1), "which warp 0 wrote");
  race(reads(0) + meets(0, 1) + meets(1, 1) + writes(2));
  race(writes(0) + meets(0, 1) + meets(1, 1) + writes(2));
}

BOOST_AUTO_TEST_CASE(order_is_handed_on) {
  const std::string first = writes(0) + meets(0, 1) + meets(1, 1);
  fine(first + meets(1, 2) + meets(2, 2) + reads(2));
  race(first + meets(2, 2) + meets(3, 2) + reads(2));
  // Warps 1 and 2 meet before warp 1 knows anything.
  race(writes(0) + meets(1, 2) + meets(2, 2) + meets(0, 1) + meets(1, 1) + reads(2));
}

BOOST_AUTO_TEST_CASE(who_only_arrives_is_in_order_until_then) {
  fine(writes(0) + arrives(0, 1) + meets(1, 1) + reads(1));
  race(arrives(0, 1) + writes(0) + meets(1, 1) + reads(1), "which warp 0 wrote");
  // It has not waited: what the others did is not in order for it.
  race(writes(1) + meets(1, 1) + arrives(0, 1) + meets(1, 2) + meets(2, 2) + reads(0));
  // A ring of two: the reader says when the writer may come again.
  fine(writes(0) + arrives(0, 1) + meets(1, 1) + reads(1) + arrives(1, 2) + meets(0, 2) +
       writes(0));
}

BOOST_AUTO_TEST_CASE(an_mbarrier_orders_those_who_arrive_before_those_who_wait) {
  fine(writes(0) + arrives_at(0, "%r5") + waits_for(1, "%r5", "A") + reads(1));
  race(writes(0) + arrives_at(0, "%r5") + waits_for(1, "%r5", "A") + reads(2),
       "which warp 0 wrote");
  race(writes(0) + arrives_at(2, "%r5") + waits_for(1, "%r5", "A") + reads(1),
       "which warp 0 wrote");
  race(arrives_at(0, "%r5") + writes(0) + waits_for(1, "%r5", "A") + reads(1),
       "which warp 0 wrote");
  // By way of warp 1.
  fine(writes(0) + arrives_at(0, "%r5") + waits_for(1, "%r5", "A") + arrives_at(1, "%r6") +
       waits_for(2, "%r6", "B") + reads(2));
  // The writer waits until it is read.
  fine(reads(1) + arrives_at(1, "%r5") + waits_for(0, "%r5", "A") + writes(0));
  race(reads(1) + arrives_at(2, "%r5") + waits_for(0, "%r5", "A") + writes(0));
}

BOOST_AUTO_TEST_CASE(what_all_pass_orders_all) {
  fine(writes(0) + meets(2, 1) + meets(3, 1) + "bar.sync 0;\n" + reads(1) + "bar.sync 0;\n" +
       writes(3));
}

BOOST_AUTO_TEST_CASE(an_atomic_read_may_stand_for_any_order) {
  const std::string flag = "[%r3+1024]",
                    before = of(1, "st.shared.u32 " + flag + ", 0") + "bar.sync 0;\n";
  fine(before + writes(0) + of(0, "atom.shared.exch.b32 %r9, " + flag + ", 1") +
       of(1, "atom.shared.or.b32 %r9, " + flag + ", 0") + reads(1));
  race(before + writes(0) + of(1, "red.shared.add.u32 " + flag + ", 1") + reads(1));
}

BOOST_AUTO_TEST_CASE(an_atomic_does_not_hide_an_ordinary_store) {
  const std::string store = of(0, "st.shared.u32 [%r3+1024], 0"),
                    add = "atom.shared.add.u32 %r9, [%r3+1024], 1";
  race(store + of(0, add) + of(1, add), "which warp 0 wrote");
  fine(store + "bar.sync 0;\n" + of(0, add) + of(1, add));
  fine(store + arrives(0, 1) + meets(1, 1) + of(1, add));
}

BOOST_AUTO_TEST_CASE(a_warp_is_in_order_with_itself) {
  fine(writes(0) + arrives(0, 1) + reads(0) + writes(0) + meets(1, 1));
  fine(writes(0) + arrives_at(0, "%r5") + reads(0) + writes(0) + waits_for(1, "%r5", "A"));
  fine(of(0, "st.shared.u32 [%r3+1024], 0") + of(0, "atom.shared.add.u32 %r9, [%r3+1024], 1") +
       arrives(0, 1) + meets(1, 1) + of(0, "ld.shared.u32 %r9, [%r3+1024]") +
       of(0, "atom.shared.add.u32 %r9, [%r3+1024], 1"));
}

BOOST_AUTO_TEST_CASE(what_nothing_has_written_is_nan_where_the_option_says_so) {
  const std::string body =
      "mov.u32 %r1, %tid.x;\nmov.u32 %r3, s;\nld.shared.u32 %r8, [%r3];\n"
      "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd1, %out, %rd3;\nst.global.u32 [%rd1], %r8;\n";
  Options options;
  BOOST_TEST((run_body(body, {2, 1, 1}, {64, 1, 1}, options).fault == Kind::uninitialised_shared));
  options.uninitialised = Options::Uninitialised::ones;
  const Run run = run_body(body, {2, 1, 1}, {64, 1, 1}, options);
  BOOST_TEST(!run.fault.has_value());
  BOOST_TEST(run.out[0] == ~0u);
  const std::string global = "ld.global.u32 %r8, [%out+8];\nst.global.u32 [%out], %r8;\n";
  BOOST_TEST((run_body(global).fault == Kind::uninitialised_global));
  const Run ones = run_body(global, {1, 1, 1}, {64, 1, 1}, options);
  BOOST_TEST(!ones.fault.has_value(), ones.text);
  BOOST_TEST(ones.out[0] == ~0u);
  BOOST_TEST((run_body("mov.u32 %r1, %tid.x;\nmov.u32 %r3, s;\nmov.u32 %r4, %ctaid.x;\n"
                       "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [%r3], %r1;\n"
                       "setp.gt.u32 %p2, %r1, 31;\n@%p2 ld.shared.u32 %r8, [%r3];\n",
                       {2, 1, 1}, {64, 1, 1}, options)
                  .fault == Kind::race));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::ptx
