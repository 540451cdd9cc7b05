// SPDX-License-Identifier: Apache-2.0
// What the device finds in mbarriers, asynchronous copies, proxy fences and clusters: each wrong
// kernel beside the right one.
#include <boost/test/unit_test.hpp>

#include "on_device.hpp"
#include "ptx/tensor_map.hpp"

namespace plumbline::ptx {

BOOST_AUTO_TEST_SUITE(checks_asynchronous_test)

namespace {

using Kind = Fault::Kind;

/// %r1: the thread, %p1: it is the first; %r2: 4096 bytes of shared memory `s`; %r3: the thread's
/// word there; %r4: the word opposite, of another warp; %r5 and %r6: two mbarriers behind the first
/// 2048 bytes; %rd1: the thread's word of %out.
const std::string each =
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd1, %out, %rd3;\n"
    "mov.u32 %r2, s;\nmad.lo.s32 %r3, %r1, 4, %r2;\nxor.b32 %r7, %r1, 63;\n"
    "mad.lo.s32 %r4, %r7, 4, %r2;\nadd.u32 %r5, %r2, 2048;\nadd.u32 %r6, %r2, 2056;\n"
    "setp.eq.u32 %p1, %r1, 0;\nsetp.lt.u32 %p2, %r1, 32;\n";
const std::string init = "@%p1 mbarrier.init.shared.b64 [%r5], 1;\n",
                  inits = init + "@%p1 mbarrier.init.shared.b64 [%r6], 64;\nbar.sync 0;\n",
                  expects = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 256;\n",
                  load =
                      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                      "[%r2], [%in], 256, [%r5];\n",
                  mine = "ld.shared.u32 %r8, [%r3];\n", other = "ld.shared.u32 %r8, [%r4];\n",
                  result = "st.global.u32 [%rd1], %r8;\n", sync = "bar.sync 0;\n",
                  write = "st.shared.u32 [%r3], %r1;\n", fence = "fence.proxy.async;\n",
                  store =
                      "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r2], 256;\n"
                      "@%p1 cp.async.bulk.commit_group;\n",
                  stored = "@%p1 cp.async.bulk.wait_group.read 0;\n",
                  // Of the warp that copies.
    read = "@%p2 ld.shared.u32 %r8, [%r3];\n", change = "@%p2 st.shared.u32 [%r3], 7;\n";

std::string wait(const std::string& barrier, int parity, const std::string& label) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p3, [" + barrier + "], " +
         std::to_string(parity) + ";\n@!%p3 bra " + label + ";\n";
}
const std::string loaded = wait("%r5", 0, "LOADED");

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
Run fine(const std::string& body, Extent block = {64, 1, 1}) {
  const Run run = run_body(each + body, {1, 1, 1}, block);
  BOOST_TEST(!run.fault.has_value(), run.text << "\n" << body);
  return run;
}

/// In clusters of two blocks. %r9: the other block's `s`, %r10 and %r11: its mbarriers.
Run run_cluster(const std::string& body, std::uint64_t order = 0) {
  std::string text = kernel_of(each +
                               "mov.u32 %r12, %cluster_ctarank;\nxor.b32 %r13, %r12, 1;\n"
                               "mapa.shared::cluster.u32 %r9, %r2, %r13;\n"
                               "add.u32 %r10, %r9, 2048;\nadd.u32 %r11, %r9, 2056;\n"
                               "setp.eq.u32 %p4, %r12, 0;\n" +
                               body);
  text.replace(text.find(")\n{"), 3, ")\n.reqnctapercluster 2, 1, 1\n{");
  Options options;
  options.variation.order_seed = order;
  return run_text(with_source_lines(text), {4, 1, 1}, {64, 1, 1}, options);
}
void expect_cluster(const std::string& body, Kind kind, const std::string& word) {
  const Run run = run_cluster(body);
  BOOST_REQUIRE_MESSAGE(run.fault.has_value(), "no fault in: " << body);
  expect_place(run);
  BOOST_TEST_INFO(run.text);
  BOOST_TEST((*run.fault == kind));
  BOOST_TEST_INFO(run.text);
  BOOST_TEST(run.text.find(word) != std::string::npos);
}
void fine_cluster(const std::string& body) {
  const Run run = run_cluster(body);
  BOOST_TEST(!run.fault.has_value(), run.text << "\n" << body);
}
const std::string cluster_sync = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";

BOOST_AUTO_TEST_CASE(loads_are_waited_for) {
  const std::string start = inits + expects + load;
  const Run run = fine(start + loaded + mine + result);
  BOOST_TEST(run.out[63] == 63u);
  expect(start + read, Kind::copy_in_flight, "mbarrier at byte 2048");
  expect(start + change, Kind::copy_in_flight, "writes byte 0");
  expect(start + read + loaded, Kind::copy_in_flight, "under way");
  // The first warp alone waits; a barrier after that tells the others.
  const std::string first = "@!%p2 bra NEXT;\n" + loaded + "NEXT:\n";
  expect(start + sync + first + mine, Kind::copy_in_flight, "warp 1");
  fine(start + first + sync + mine);
  // Or an mbarrier at which it arrives.
  const std::string passed = "mbarrier.arrive.shared.b64 _, [%r6];\n" + wait("%r6", 0, "PASSED");
  fine(start + first + passed + mine);
  std::string relaxed = passed;
  relaxed.replace(relaxed.find(".arrive"), 7, ".arrive.relaxed.cta");
  expect(start + sync + first + relaxed + mine, Kind::copy_in_flight, "warp 1");
}

BOOST_AUTO_TEST_CASE(what_was_loaded_is_read_before_it_is_loaded_again) {
  const std::string again = expects + load + wait("%r5", 1, "AGAIN") + mine + result;
  const std::string free = "mbarrier.arrive.shared.b64 _, [%r6];\n";
  fine(inits + expects + load + loaded + mine + free + "@!%p2 bra FREE;\n" +
       wait("%r6", 0, "EMPTY") + "FREE:\n" + again);
  // The first warp does not wait until the others have read.
  expect(inits + expects + load + loaded + mine + again, Kind::deadlock, "phase 2");
  expect(inits + expects + load + load, Kind::copy_in_flight, "under way");
  expect(inits + expects + load + expects + load, Kind::copy_in_flight, "under way");
}

BOOST_AUTO_TEST_CASE(copies_do_not_overwrite_what_others_read) {
  // Warp 1 reads what warp 0 loads over.
  const std::string second = "@!%p2 ld.shared.u32 %r8, [%r3];\n";
  expect(write + inits + expects + second + load + loaded, Kind::race, "read or written");
  fine(write + inits + expects + second + sync + load + loaded);
  expect(write + fence + inits + expects + store + load + stored + loaded, Kind::copy_in_flight,
         "still reads");
  fine(write + fence + inits + expects + store + stored + load + loaded);
}

BOOST_AUTO_TEST_CASE(stored_memory_stays_until_it_has_been_read) {
  const std::string start = write + fence + sync + store;
  const Run run = fine(start + stored + sync + write);
  BOOST_TEST(run.out[63] == 63u);
  expect(start + change + stored, Kind::copy_in_flight, "cp.async.bulk.wait_group.read");
  fine(start + stored + change);
  expect(start, Kind::copy_in_flight, "has left the kernel without waiting");
  expect(write + fence + sync + store + store + "@%p1 cp.async.bulk.wait_group.read 1;\n" + sync +
             change + stored,
         Kind::copy_in_flight, "still reads");
  fine(start + mine + stored + sync + write);
}

BOOST_AUTO_TEST_CASE(a_proxy_fence_stands_between_stores_and_the_asynchronous_proxy) {
  fine(write + fence + sync + store + stored);
  fine(write + sync + "@%p1 fence.proxy.async.shared::cta;\n" + store + stored);
  fine(write + sync + fence + sync + store + stored);
  expect(write + sync + store + stored, Kind::proxy_fence, "fence.proxy.async");
  expect(write + sync + "fence.proxy.async.global;\n" + store + stored, Kind::proxy_fence,
         "which warp 0 wrote at PTX line");
  // Of the first warp alone, before the barrier: not of what the second one wrote.
  expect(write + "@%p2 fence.proxy.async;\n" + sync + store + stored, Kind::proxy_fence,
         "which warp 1 wrote");
  // Written again after the fence.
  expect(write + fence + write + sync + store + stored, Kind::proxy_fence, "byte 0");
  std::string many;
  for (int i = 0; i < 255; ++i) many += fence;
  fine(write + many + sync + store + stored);
  expect(write + many + write + sync + store + stored, Kind::proxy_fence, "byte 0");
  // Loads by the asynchronous proxy need none.
  fine(inits + expects + load + loaded + store + stored);
  expect(inits + expects + load + store + stored + loaded, Kind::copy_in_flight, "under way");
  expect(store + stored, Kind::uninitialised_shared, "nothing has written");
  expect(write + fence + store + stored, Kind::uninitialised_shared, "byte 128");
}

BOOST_AUTO_TEST_CASE(mbarriers_are_used_as_they_are_meant) {
  const auto bad = Kind::bad_instruction;
  expect("mbarrier.arrive.shared.b64 %rd5, [%r5];", bad, "has not been initialised");
  expect("@%p1 mbarrier.init.shared.b64 [%r5+4], 1;", Kind::misaligned, "no multiple of 8");
  expect("@%p1 mbarrier.init.shared.b64 [%r5], 0;", bad, "0 arrivals");
  expect(init + init, bad, "initialised already");
  fine(init + "@%p1 mbarrier.inval.shared.b64 [%r5];\n" + init);
  expect(init + "@%p1 mbarrier.inval.shared.b64 [%r5];\n@%p1 mbarrier.arrive.shared.b64 _, [%r5];",
         bad, "has not been initialised");
  expect("mbarrier.init.shared.b64 [%r5], 1;", bad, "initialised already");
  expect(inits + "@%p1 mbarrier.arrive.shared.b64 _, [%r5], 2;", bad, "2 arrivals");
  expect(inits + "@%p1 mbarrier.arrive.noComplete.shared.b64 %rd5, [%r5], 1;", bad, "noComplete");
  expect(inits + "@%p1 mbarrier.expect_tx.shared.b64 [%r5], 1048576;", bad, "2^20 - 1");
  expect(inits + "mbarrier.test_wait.parity.shared.b64 %p3, [%r5], 2;", bad, "a parity of 2");
  expect(inits +
             "@%p1 mbarrier.arrive.shared.b64 %rd5, [%r5];\n"
             "@%p1 mbarrier.arrive.shared.b64 _, [%r5];\n"
             "@%p1 mbarrier.test_wait.shared.b64 %p3, [%r5], %rd5;",
         bad, "a state of phase 0");
  expect(inits + "@%p1 st.shared.u32 [%r5], 0;", Kind::race, "where an mbarrier lies");
  expect(inits + "@%p1 ld.shared.u32 %r8, [%r5+4];", Kind::race, "where an mbarrier lies");
  // The second warp uses it before a barrier.
  expect(init + "@!%p2 mbarrier.test_wait.parity.shared.b64 %p3, [%r5], 0;", Kind::race,
         "was initialised by warp 0");
}

BOOST_AUTO_TEST_CASE(waits_that_never_end_are_named) {
  expect(inits + loaded, Kind::deadlock, "lacks 1 of 1 arrivals");
  expect(inits + "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 512;\n" + load + loaded,
         Kind::deadlock, "256 bytes");
  expect(inits + "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 128;\n" + load + loaded,
         Kind::deadlock, "-128 bytes");
  // One warp at a barrier of the block, the other in a loop: neither comes.
  expect(inits + "@%p2 bra W;\nbar.sync 0;\nW:\n" + loaded, Kind::deadlock,
         "mbarrier at byte 2048");
  // A wait of a lane for another lane of its warp is none.
  fine(inits + "@%p1 bra FIRST;\n" + loaded + "bra END;\nFIRST:\n" +
       "mbarrier.arrive.shared.b64 _, [%r5];\nEND:\n");
}

BOOST_AUTO_TEST_CASE(many_phases_are_no_deadlock) {
  fine(inits +
       "mov.u32 %r14, 0;\nmov.u32 %r15, 0;\nLOOP:\n@!%p1 bra SKIP;\n"
       "mbarrier.arrive.shared.b64 _, [%r5];\nSKIP:\n"
       "L1: mbarrier.try_wait.parity.shared.b64 %p3, [%r5], %r14;\n@!%p3 bra L1;\n"
       "mbarrier.arrive.shared.b64 _, [%r6];\n"
       "L2: mbarrier.try_wait.parity.shared.b64 %p3, [%r6], %r14;\n@!%p3 bra L2;\n"
       "xor.b32 %r14, %r14, 1;\nadd.u32 %r15, %r15, 1;\nsetp.lt.u32 %p5, %r15, 9000;\n"
       "@%p5 bra LOOP;\n");
}

BOOST_AUTO_TEST_CASE(many_loads_are_told_apart) {
  // 300 phases, of which each one's bytes are read after its own wait; then none is left out.
  const std::string loop =
      "mov.u32 %r14, 0;\nmov.u32 %r15, 0;\nLOOP:\n" + expects + load + "WAIT_HERE" + mine + sync +
      "xor.b32 %r14, %r14, 1;\nadd.u32 %r15, %r15, 1;\nsetp.lt.u32 %p5, %r15, 300;\n"
      "@%p5 bra LOOP;\n";
  const auto with = [&](const std::string& waits) {
    std::string text = loop;
    text.replace(text.find("WAIT_HERE"), 9, waits);
    return inits + text;
  };
  const std::string waits =
      "L1: mbarrier.try_wait.parity.shared.b64 %p3, [%r5], %r14;\n@!%p3 bra L1;\n";
  fine(with(waits));
  expect(with("setp.eq.u32 %p6, %r15, 290;\nand.pred %p6, %p6, %p2;\n@%p6 bra L2;\n" + waits +
              "L2:\n"),
         Kind::copy_in_flight, "under way");
}

BOOST_AUTO_TEST_CASE(what_was_loaded_long_ago_may_be_read) {
  // 128 further loads elsewhere, of which the last is under way.
  const std::string far =
                        "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                        "[%r2+1024], [%in], 256, [%r6];\n",
                    far_expects = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 256;\n";
  fine("@%p1 mbarrier.init.shared.b64 [%r6], 1;\n" + init + sync + expects + load + loaded +
       "mov.u32 %r14, 0;\nmov.u32 %r15, 0;\nLOOP:\n" + far_expects + far +
       "L1: mbarrier.try_wait.parity.shared.b64 %p3, [%r6], %r14;\n@!%p3 bra L1;\n" + sync +
       "xor.b32 %r14, %r14, 1;\nadd.u32 %r15, %r15, 1;\nsetp.lt.u32 %p5, %r15, 127;\n"
       "@%p5 bra LOOP;\n" +
       far_expects + far + sync + mine);
}

BOOST_AUTO_TEST_CASE(copies_that_arrive_are_waited_for) {
  const std::string copy =
      "add.s64 %rd4, %in, %rd3;\ncp.async.ca.shared.global [%r3], [%rd4], 4;\n"
      "cp.async.mbarrier.arrive.noinc.shared.b64 [%r6];\n";
  const Run run = fine(inits + copy + wait("%r6", 0, "DONE") + other + result);
  BOOST_TEST(run.out[1] == 62u);
  expect(inits + copy + mine, Kind::copy_in_flight, "mbarrier at byte 2056");
}

BOOST_AUTO_TEST_CASE(bulk_copies_are_aligned_and_inside) {
  const std::string start = inits + expects;
  const auto with = [&](const std::string& operands) {
    return start + "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes " +
           operands + ";\n";
  };
  expect(with("[%r2+4], [%in], 256, [%r5]"), Kind::misaligned, "no multiple of 16");
  expect(with("[%r2], [%in+8], 256, [%r5]"), Kind::misaligned, "no multiple of 16");
  expect(with("[%r2], [%in], 24, [%r5]"), Kind::misaligned, "24 bytes");
  expect(with("[%r2+4080], [%in], 32, [%r5]"), Kind::out_of_bounds, "byte 4080 of shared");
  expect(with("[%r2], [%in+4080], 32, [%r5]"), Kind::out_of_bounds, "after it");
  expect(with("[%r2], [%out], 32, [%r5]"), Kind::uninitialised_global, "nothing has written");
}

/// The first 16 x 8 words of `in`, as a tensor of 32 columns, by a map in %in's place.
Run run_tensor(const std::string& body, std::uint32_t mark = TensorMap::valid_mark) {
  Device device;
  const auto module = device.load(kernel_of(each + body));
  const Address out = device.allocate(4096), in = device.allocate(4096), map = device.allocate(128);
  std::vector<std::uint32_t> numbers(1024);
  for (std::uint32_t i = 0; i < 1024; ++i) numbers[i] = i;
  device.write(in, numbers.data(), 4096);
  TensorMap encoded;
  const std::uint64_t size[] = {32, 32}, strides[] = {128};
  const std::uint32_t box[] = {8, 8}, steps[] = {1, 1};
  encode_tiled(&encoded, 2, 2, reinterpret_cast<void*>(in), size, strides, box, steps, 0, 0, 0, 0);
  encoded.mark = mark;
  device.write(map, &encoded, sizeof encoded);
  std::byte parameters[20] = {};
  std::memcpy(parameters, &out, 8);
  std::memcpy(parameters + 8, &map, 8);
  Run run;
  Launch launch;
  launch.block = {64, 1, 1};
  try {
    device.launch(device.kernel(module, "k"), launch, parameters);
  } catch (const Fault& fault) {
    run.fault = fault.kind;
    run.text = fault.what();
  }
  run.out.resize(1024);
  device.read(run.out.data(), out, 4096);
  return run;
}

BOOST_AUTO_TEST_CASE(tensor_copies_are_waited_for) {
  const std::string copy =
      "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r2], [%in, {3, 5}], [%r5];\n";
  const Run run = run_tensor(inits + expects + copy + loaded + mine + result);
  BOOST_TEST(!run.fault.has_value(), run.text);
  BOOST_TEST(run.out[9] == 6 * 32 + 4u);
  const auto fails = [&](const std::string& body, Kind kind, const std::string& word,
                         std::uint32_t mark = TensorMap::valid_mark) {
    const Run wrong = run_tensor(body, mark);
    BOOST_TEST_INFO(wrong.text);
    BOOST_TEST((wrong.fault == kind));
    BOOST_TEST_INFO(wrong.text);
    BOOST_TEST(wrong.text.find(word) != std::string::npos);
  };
  fails(inits + expects + copy + read, Kind::copy_in_flight, "under way");
  fails(inits + expects + copy, Kind::bad_instruction, "cuTensorMapEncodeTiled", 5);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = copy;
    text.replace(text.find(from), from.size(), to);
    return inits + expects + text;
  };
  fails(changed("[%r2]", "[%r2+16]"), Kind::misaligned, "multiple of 128");
  std::string narrow = copy;
  narrow.replace(narrow.find("2d.shared"), 2, "1d");
  narrow.replace(narrow.find("{3, 5}"), 6, "{3}");
  fails(inits + expects + narrow, Kind::bad_instruction, "2 dimensions, not 1");
  fails(changed("[%in, ", "[%in+8, "), Kind::misaligned, "multiple of 64");
}

BOOST_AUTO_TEST_CASE(blocks_of_a_cluster_are_there_when_they_are_accessed) {
  const std::string their = "ld.shared::cluster.u32 %r8, [%r9];\n";
  fine_cluster(write + cluster_sync + their + cluster_sync);
  expect_cluster(write + their + cluster_sync, Kind::race, "before any barrier.cluster");
  expect_cluster(write + cluster_sync + "@!%p4 bra END;\nnanosleep.u32 5;\n" + their + "END:",
                 Kind::out_of_bounds, "has left the kernel");
  expect_cluster(write + cluster_sync + "ld.shared.u32 %r8, [%r9];\n" + cluster_sync,
                 Kind::out_of_bounds, "shared::cta");
  // Written by the other block since the barrier.
  expect_cluster(write + cluster_sync + "@%p1 st.shared::cluster.u32 [%r9], 7;\n" +
                     "@%p1 ld.shared.u32 %r8, [%r2];\n" + cluster_sync,
                 Kind::race, "no barrier");
  expect_cluster(cluster_sync + their + cluster_sync, Kind::uninitialised_shared,
                 "of its cluster, which nothing has written");
  expect_cluster("mapa.shared::cluster.u32 %r9, %r2, 2;\n", Kind::bad_instruction, "block 2");
}

BOOST_AUTO_TEST_CASE(blocks_of_a_cluster_run_in_several_orders) {
  // One block leaves while the other reads its memory: whichever it is, some order shows it.
  const std::string read = write + cluster_sync,
                    their = "ld.shared::cluster.u32 %r8, [%r9];\nEND:\n";
  for (const std::string leaves : {"@%p4 bra END;\n", "@!%p4 bra END;\n"}) {
    unsigned found = 0;
    for (std::uint64_t order = 0; order < 8; ++order)
      found += run_cluster(read + leaves + their, order).fault == Kind::out_of_bounds;
    BOOST_TEST(found > 0u, leaves);
  }
}

BOOST_AUTO_TEST_CASE(barriers_of_a_cluster_are_arrived_at_and_waited_for) {
  fine_cluster(cluster_sync + cluster_sync);
  expect_cluster("barrier.cluster.wait;\n", Kind::barrier, "without having arrived");
  expect_cluster("barrier.cluster.arrive;\nbarrier.cluster.arrive;\n", Kind::barrier, "again");
  // Those of block 1 wait at another barrier for threads of their own.
  expect_cluster("@%p4 bra FIRST;\n@%p2 bar.sync 1;\nFIRST:\n" + cluster_sync, Kind::barrier,
                 "block 1");
  expect_cluster("@!%p4 bra OTHER;\n" + cluster_sync + "bra END;\nOTHER: bar.sync 1, 96;\nEND:\n",
                 Kind::barrier, "do not come");
}

BOOST_AUTO_TEST_CASE(mbarriers_are_visible_to_the_cluster_before_they_are_used) {
  const std::string relaxed = "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n";
  const std::string fenced = "@%p1 fence.mbarrier_init.release.cluster;\n";
  const std::string use = "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];\n" +
                          loaded + cluster_sync;
  fine_cluster(init + fenced + relaxed + use);
  fine_cluster(init + cluster_sync + use);
  expect_cluster(init + relaxed + use, Kind::race, "fence.mbarrier_init");
}

BOOST_AUTO_TEST_CASE(copies_to_a_cluster_are_waited_for) {
  const std::string start = init + cluster_sync + expects;
  const std::string multicast =
      "mov.u16 %h1, 3;\n@%p4 bra COPY;\nbra READ;\nCOPY:\n"
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%r2], [%in], 256, [%r5], %h1;\nREAD:\n";
  fine_cluster(start + multicast + loaded + mine + cluster_sync);
  // Block 1 does not wait: it has to be slower than the copy to be seen.
  expect_cluster(start + cluster_sync + multicast +
                     "barrier.cluster.arrive.relaxed;\n"
                     "barrier.cluster.wait;\n" +
                     mine + cluster_sync,
                 Kind::copy_in_flight, "under way");
  // Warp 0 of each block alone waits; the barrier after that tells, if it releases, the others.
  const std::string one =
      start + multicast + cluster_sync + "@!%p2 bra NEXT;\n" + loaded + "NEXT:\n";
  fine_cluster(one + cluster_sync + mine + cluster_sync);
  expect_cluster(
      one + "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n" + mine + cluster_sync,
      Kind::copy_in_flight, "warp 1");
  std::string wrong = multicast;
  wrong.replace(wrong.find("%h1, 3"), 6, "%h1, 4");
  expect_cluster(start + wrong + loaded, Kind::bad_instruction, "of a cluster of 2");
  // From shared memory, whose bytes stay until the other block's mbarrier says that they came.
  const std::string send =
      "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
      "[%r9], [%r14], 256, [%r10];\n";
  const std::string filled =
      "add.u32 %r14, %r2, 1024;\nadd.u32 %r15, %r3, 1024;\n"
      "st.shared.u32 [%r15], %r1;\nfence.proxy.async;\n";
  fine_cluster(filled + start + send + loaded + mine + cluster_sync +
               "st.shared.u32 [%r15], %r1;\n" + cluster_sync);
  expect_cluster(filled + start + send + "@%p2 st.shared.u32 [%r15], 7;\n" + loaded + cluster_sync,
                 Kind::copy_in_flight, "still reads");
}

BOOST_AUTO_TEST_CASE(tensor_maps_are_checked_as_the_driver_does) {
  struct Arguments {
    std::uint32_t type = 6, rank = 2;
    void* address = reinterpret_cast<void*>(0x1000);
    std::uint64_t size[5] = {64, 64, 8, 8, 8}, strides[4] = {128, 8192, 8192, 8192};
    std::uint32_t box[5] = {64, 8, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
    std::uint32_t interleave = 0, swizzle = 3, promotion = 2, fill = 0;
  };
  const auto said = [](const auto& change) -> std::string {
    Arguments a;
    change(a);
    TensorMap map;
    try {
      encode_tiled(&map, a.type, a.rank, a.address, a.size, a.strides, a.box, a.steps, a.interleave,
                   a.swizzle, a.promotion, a.fill);
    } catch (const Refused& refused) {
      const bool lacks = refused.reason == Refused::Reason::not_supported;
      return (lacks ? "lacks: " : "") + std::string(refused.what());
    }
    return "fine";
  };
  const auto names = [&](const auto& change, const std::string& words) {
    const std::string text = said(change);
    BOOST_TEST(text.find(words) != std::string::npos, text << " has not: " << words);
  };
  BOOST_TEST(said([](Arguments&) {}) == "fine");
  BOOST_TEST(said([](Arguments& a) {
               a.size[0] = 1ull << 32;
               a.steps[1] = 8;
             }) == "fine");
  names([](Arguments& a) { a.type = 16; }, "tensorDataType");
  names([](Arguments& a) { a.type = 262; }, "tensorDataType");
  names([](Arguments& a) { a.rank = 0; }, "tensorRank");
  names([](Arguments& a) { a.rank = 6; }, "tensorRank");
  names([](Arguments& a) { a.address = nullptr; }, "globalAddress");
  names([](Arguments& a) { a.address = reinterpret_cast<void*>(0x1008); }, "globalAddress");
  names([](Arguments& a) { a.size[1] = 0; }, "globalDim[1]");
  names([](Arguments& a) { a.size[0] = (1ull << 32) + 1; }, "globalDim[0]");
  names([](Arguments& a) { a.strides[0] = 136; }, "globalStrides[0]");
  names([](Arguments& a) { a.strides[0] = 1ull << 40; }, "globalStrides[0]");
  names([](Arguments& a) { a.box[1] = 257; }, "boxDim[1]");
  names([](Arguments& a) { a.box[1] = 0; }, "boxDim[1]");
  names(
      [](Arguments& a) {
        a.box[0] = 68;
        a.swizzle = 0;
      },
      "boxDim[0]");
  names([](Arguments& a) { a.box[0] = 128; }, "of the swizzle");
  names([](Arguments& a) { a.steps[1] = 9; }, "elementStrides[1]");
  names([](Arguments& a) { a.steps[1] = 0; }, "elementStrides[1]");
  names([](Arguments& a) { a.interleave = 3; }, "interleave");
  names([](Arguments& a) { a.interleave = 1; }, "tensorRank");
  names(
      [](Arguments& a) {
        a.interleave = 2;
        a.rank = 3;
      },
      "swizzle");
  names([](Arguments& a) { a.swizzle = 7; }, "swizzle");
  names([](Arguments& a) { a.promotion = 4; }, "l2Promotion");
  names([](Arguments& a) { a.fill = 2; }, "oobFill");
  names(
      [](Arguments& a) {
        a.fill = 1;
        a.type = 1;
      },
      "oobFill");
  names(
      [](Arguments& a) {
        a.interleave = 1;
        a.rank = 3;
      },
      "lacks: ");
  names([](Arguments& a) { a.swizzle = 4; }, "lacks: ");
  names([](Arguments& a) { a.box[0] = 32; }, "lacks: ");
  names([](Arguments& a) { a.type = 13; }, "lacks: ");
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::ptx
