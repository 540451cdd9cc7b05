// SPDX-License-Identifier: Apache-2.0
// Counts of kernels that are known by hand.
#include "ptx/profile.hpp"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "on_device.hpp"
#include "ptx/profile/traits.hpp"
#include "ptx/tensor_map.hpp"

namespace plumbline::ptx {

BOOST_AUTO_TEST_SUITE(profile_test)

namespace {

Profile profile_of_text(const std::string& ptx, Extent grid, Extent block, Options options = {}) {
  options.check = false;  // shared memory is read that nothing has written
  Device device(options);
  const auto module = device.load(ptx);
  const Address out = device.allocate(8192), in = device.allocate(8192);
  device.set(in, 0, 8192);
  std::byte parameters[20];
  const std::uint32_t n = 1024;
  std::memcpy(parameters, &out, 8);
  std::memcpy(parameters + 8, &in, 8);
  std::memcpy(parameters + 16, &n, 4);
  Launch launch;
  launch.grid = grid;
  launch.block = block;
  return device.profile(device.kernel(module, "k"), launch, parameters);
}

Profile profile_of(const std::string& body, Extent grid = {1, 1, 1}, Extent block = {32, 1, 1},
                   Options options = {}) {
  return profile_of_text(kernel_of(body), grid, block, options);
}

/// %rd1 = %in + bytes * tid, %rd2 = %out + bytes * tid
std::string pointers(int bytes) {
  return "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, " + std::to_string(bytes) +
         ";\nadd.s64 %rd1, %in, %rd3;\nadd.s64 %rd2, %out, %rd3;\n";
}

/// %r3 = s + bytes * tid
std::string in_shared(int bytes) {
  return "mov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\nmad.lo.u32 %r3, %r1, " + std::to_string(bytes) +
         ", %r2;\n";
}

std::uint64_t of(const Profile& profile, Pipe pipe) {
  return profile.by_pipe()[static_cast<std::size_t>(pipe)].warp_instructions;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_copy_is_counted_by_hand) {
  const std::string body = pointers(4) + "ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd2], %r2;";
  const Profile profile = profile_of(body, {3, 1, 1}, {48, 1, 1});
  // Six warps, of which every other one has 16 threads, execute 3 ld.param, 6 instructions and ret.
  const Tally t = profile.total();
  BOOST_TEST(t.warp_instructions == 60u);
  BOOST_TEST(t.active_threads == 10u * 3 * 48);
  BOOST_TEST(t.thread_instructions == t.active_threads);
  BOOST_TEST(of(profile, Pipe::parameter) == 18u);
  BOOST_TEST(of(profile, Pipe::move) == 6u);
  BOOST_TEST(of(profile, Pipe::multiply) == 6u);
  BOOST_TEST(of(profile, Pipe::integer) == 12u);
  BOOST_TEST(of(profile, Pipe::global) == 12u);
  BOOST_TEST(of(profile, Pipe::control) == 6u);
  BOOST_TEST(t.global_accesses == 12u);
  BOOST_TEST(t.global_sectors == 2u * 3 * (4 + 2));  // 128 and 64 bytes
  BOOST_TEST(t.global_ideal == t.global_sectors);
  BOOST_TEST(t.global_bytes_read == 4u * 144);
  BOOST_TEST(t.global_bytes_written == 4u * 144);
  BOOST_TEST(t.shared_accesses == 0u);
}

BOOST_AUTO_TEST_CASE(sectors_tell_what_is_not_coalesced) {
  const auto sectors = [](int stride, const std::string& load) {
    const Tally t = profile_of(pointers(stride) + load).total();
    BOOST_TEST(t.global_accesses == 1u);
    return std::pair(t.global_sectors, t.global_ideal);
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  const std::string load = "ld.global.u32 %r2, [%rd1];";
  BOOST_TEST((sectors(4, load) == Pair(4, 4)));
  BOOST_TEST((sectors(8, load) == Pair(8, 4)));
  BOOST_TEST((sectors(16, load) == Pair(16, 4)));
  BOOST_TEST((sectors(32, load) == Pair(32, 4)));
  BOOST_TEST((sectors(128, load) == Pair(32, 4)));
  BOOST_TEST((sectors(0, load) == Pair(1, 1)));                            // all lanes the same
  BOOST_TEST((sectors(4, "ld.global.u32 %r2, [%rd1+4];") == Pair(5, 4)));  // from byte 4 to 132
  BOOST_TEST((sectors(2, "ld.global.u16 %h2, [%rd1];") == Pair(2, 2)));    // 64 bytes
  BOOST_TEST((sectors(1, "ld.global.u8 %h2, [%rd1+16];") == Pair(2, 1)));  // 32 bytes in two
  BOOST_TEST((sectors(16, "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1];") == Pair(16, 16)));
  BOOST_TEST((sectors(32, "ld.global.v2.u64 {%rd4, %rd5}, [%rd1];") == Pair(32, 16)));
  // Half of the lanes, of every other sector.
  BOOST_TEST(
      (sectors(32, "setp.lt.u32 %p1, %r1, 16;\n@%p1 ld.global.u64 %rd4, [%rd1];") == Pair(16, 4)));
}

BOOST_AUTO_TEST_CASE(bank_conflicts_are_counted_by_hand) {
  const auto transactions = [](int stride, const std::string& access) {
    const Tally t = profile_of(in_shared(stride) + access).total();
    BOOST_TEST(t.shared_accesses == 1u);
    BOOST_TEST(t.global_accesses == 0u);
    return std::pair(t.shared_transactions, t.shared_ideal);
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  const std::string store = "st.shared.u32 [%r3], %r1;", load = "ld.shared.u32 %r4, [%r3];";
  for (const std::string& access : {store, load}) {
    BOOST_TEST((transactions(4, access) == Pair(1, 1)));
    BOOST_TEST((transactions(8, access) == Pair(2, 1)));
    BOOST_TEST((transactions(12, access) == Pair(1, 1)));
    BOOST_TEST((transactions(16, access) == Pair(4, 1)));
    BOOST_TEST((transactions(128, access) == Pair(32, 1)));
    BOOST_TEST((transactions(132, access) == Pair(1, 1)));
  }
  BOOST_TEST((transactions(0, load) == Pair(1, 1)));                        // broadcast
  BOOST_TEST((transactions(1, "ld.shared.u8 %h1, [%r3];") == Pair(1, 1)));  // four to a word
  // Words 8 i + i / 2: of even lanes in 16 banks, of odd ones 8 banks further, so that half are
  // shared.
  BOOST_TEST((transactions(34, "ld.shared.u16 %h1, [%r3];") == Pair(2, 1)));
  // 8 bytes by half warps, 16 by quarters.
  const std::string two = "ld.shared.v2.u32 {%r4, %r5}, [%r3];",
                    wide = "ld.shared.u64 %rd1, [%r3];";
  const std::string four = "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];";
  for (const std::string& access : {two, wide}) {
    BOOST_TEST((transactions(8, access) == Pair(2, 2)));
    BOOST_TEST((transactions(16, access) == Pair(4, 2)));
    BOOST_TEST((transactions(128, access) == Pair(32, 2)));
  }
  BOOST_TEST((transactions(16, four) == Pair(4, 4)));
  BOOST_TEST((transactions(32, four) == Pair(8, 4)));
  BOOST_TEST((transactions(128, four) == Pair(32, 4)));
  BOOST_TEST((transactions(16, "setp.lt.u32 %p1, %r1, 9;\n@%p1 " + four) == Pair(2, 2)));
  // Matrices of eight rows.
  const std::string matrices =
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];";
  BOOST_TEST((transactions(16, matrices) == Pair(4, 4)));
  BOOST_TEST((transactions(128, matrices) == Pair(32, 4)));
  BOOST_TEST((transactions(80, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r3];") ==
              Pair(2, 2)));
  // Atomics of one address take turns.
  const std::string atomic = "red.shared.add.u32 [%r3], %r1;";
  BOOST_TEST((transactions(0, atomic) == Pair(32, 1)));
  BOOST_TEST((transactions(4, atomic) == Pair(1, 1)));
  // By a generic address.
  BOOST_TEST((transactions(8,
                           "cvt.u64.u32 %rd1, %r3;\ncvta.shared.u64 %rd1, %rd1;\n"
                           "ld.u32 %r4, [%rd1];") == Pair(2, 1)));
  BOOST_TEST((transactions(8, "ld.shared::cluster.u32 %r4, [%r3];") == Pair(2, 1)));
}

BOOST_AUTO_TEST_CASE(bytes_of_shared_and_local_memory_are_those_of_lanes) {
  const Tally t =
      profile_of(".local .align 8 .b8 l[32];\n" + in_shared(16) +
                 "st.shared.v2.u32 [%r3], {%r1, %r1};\nld.shared.u16 %h1, [%r3];\n"
                 "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r3];\n"
                 "st.local.u64 [l], %rd1;\nst.local.u64 [l+8], %rd1;\nld.local.u32 %r4, [l];")
          .total();
  BOOST_TEST(t.shared_bytes_written == 32u * 8);
  BOOST_TEST(t.shared_bytes_read == 32u * 2 + 256);
  BOOST_TEST(t.local_bytes_written == 32u * 16);
  BOOST_TEST(t.local_bytes_read == 32u * 4);
  BOOST_TEST(t.global_accesses == 0u);
}

BOOST_AUTO_TEST_CASE(asynchronous_copies_count_in_both_memories) {
  const auto copied = [](int to, int from, const std::string& rest) {
    return profile_of(in_shared(to) + "mul.wide.u32 %rd3, %r1, " + std::to_string(from) +
                      ";\nadd.s64 %rd1, %in, %rd3;\nmov.u32 %r9, 0;\n"
                      "cp.async.cg.shared.global [%r3], [%rd1], 16" +
                      rest + ";\ncp.async.wait_all;")
        .total();
  };
  const Tally dense = copied(16, 16, "");
  BOOST_TEST(dense.global_sectors == 16u);
  BOOST_TEST(dense.global_ideal == 16u);
  BOOST_TEST(dense.global_bytes_read == 512u);
  BOOST_TEST(dense.shared_transactions == 4u);
  BOOST_TEST(dense.shared_ideal == 4u);
  BOOST_TEST(dense.shared_bytes_written == 512u);
  const Tally apart = copied(128, 64, "");
  BOOST_TEST(apart.global_sectors == 32u);
  BOOST_TEST(apart.global_ideal == 16u);
  BOOST_TEST(apart.shared_transactions == 32u);
  const Tally zeros = copied(16, 16, ", %r9");
  BOOST_TEST(zeros.global_accesses == 0u);
  BOOST_TEST(zeros.shared_transactions == 4u);
}

namespace {

/// One thread's copy, whose mbarrier expects 256 bytes: %r2: s; %r5: the mbarrier.
std::string by_one_thread(const std::string& copy) {
  return "mov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\nadd.u32 %r5, %r2, 2048;\n"
         "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [%r5], 1;\n"
         "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 256;\n@%p1 " +
         copy;
}

}  // namespace

BOOST_AUTO_TEST_CASE(bulk_copies_count_in_both_memories) {
  const Tally in = profile_of(by_one_thread("cp.async.bulk.shared::cluster.global.mbarrier::"
                                            "complete_tx::bytes [%r2], [%in+16], 256, [%r5];"))
                       .total();
  BOOST_TEST(in.global_accesses == 1u);
  BOOST_TEST(in.global_sectors == 9u);  // from byte 16 to 272
  BOOST_TEST(in.global_ideal == 8u);
  BOOST_TEST(in.global_bytes_read == 256u);
  BOOST_TEST(in.global_bytes_written == 0u);
  BOOST_TEST(in.shared_accesses == 1u);
  BOOST_TEST(in.shared_transactions == 2u);
  BOOST_TEST(in.shared_ideal == 2u);
  BOOST_TEST(in.shared_bytes_written == 256u);
  BOOST_TEST(in.shared_bytes_read == 0u);
  const Tally out =
      profile_of(by_one_thread("cp.async.bulk.global.shared::cta.bulk_group [%out], [%r2], 64;"))
          .total();
  BOOST_TEST(out.global_sectors == 2u);
  BOOST_TEST(out.global_bytes_written == 64u);
  BOOST_TEST(out.global_bytes_read == 0u);
  BOOST_TEST(out.shared_transactions == 1u);
  BOOST_TEST(out.shared_bytes_read == 64u);
  BOOST_TEST(out.shared_bytes_written == 0u);
  const Tally sum = profile_of(by_one_thread("cp.reduce.async.bulk.global.shared::cta.bulk_group."
                                             "add.u32 [%out], [%r2], 64;"))
                        .total();
  BOOST_TEST(sum.global_bytes_read == 64u);
  BOOST_TEST(sum.global_bytes_written == 64u);
}

BOOST_AUTO_TEST_CASE(tensor_copies_count_the_bytes_inside_of_the_tensor) {
  const auto copied = [](const std::string& coordinates) {
    Options options;
    options.check = false;
    Device device(options);
    const auto module =
        device.load(kernel_of(by_one_thread("cp.async.bulk.tensor.2d.shared::cluster.global."
                                            "mbarrier::complete_tx::bytes [%r2], [%in, " +
                                            coordinates + "], [%r5];")));
    const Address in = device.allocate(4096), map = device.allocate(128);
    TensorMap encoded;  // 32 x 32 words, boxes of 8 x 8
    const std::uint64_t size[] = {32, 32}, strides[] = {128};
    const std::uint32_t box[] = {8, 8}, steps[] = {1, 1};
    encode_tiled(&encoded, 2, 2, reinterpret_cast<void*>(in), size, strides, box, steps, 0, 0, 0,
                 0);
    device.write(map, &encoded, sizeof encoded);
    std::byte parameters[20] = {};
    std::memcpy(parameters + 8, &map, 8);
    Launch launch;
    launch.block = {32, 1, 1};
    return device.profile(device.kernel(module, "k"), launch, parameters).total();
  };
  const Tally inside = copied("{3, 5}");  // rows of 32 bytes, from byte 12 on
  BOOST_TEST(inside.global_accesses == 1u);
  BOOST_TEST(inside.global_sectors == 16u);
  BOOST_TEST(inside.global_ideal == 8u);
  BOOST_TEST(inside.global_bytes_read == 256u);
  BOOST_TEST(inside.shared_bytes_written == 256u);
  const Tally corner = copied("{30, 30}");  // two rows of two words
  BOOST_TEST(corner.global_sectors == 2u);
  BOOST_TEST(corner.global_bytes_read == 16u);
  BOOST_TEST(corner.shared_bytes_written == 256u);  // with zeros
}

BOOST_AUTO_TEST_CASE(products_of_warpgroups_read_shared_memory) {
  const auto read = [](const std::string& a) {
    // Matrices of 0 at s, without a swizzle.
    const std::string body =
        "mov.u64 %rd4, s;\nshr.u64 %rd4, %rd4, 4;\nor.b64 %rd5, %rd4, 0x800080000;\n"
        "setp.ne.u32 %p2, 0, 1;\nmov.u32 %r10, 0;\nwgmma.fence.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, " +
        a + ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;";
    return profile_of(body, {1, 1, 1}, {128, 1, 1}).total();
  };
  // A: 64 rows of 32 bytes, B: 8.
  const Tally both = read("%rd5, %rd5, %p2, 1, 1, 0, 0");
  BOOST_TEST(both.shared_accesses == 4u);
  BOOST_TEST(both.shared_bytes_read == 64u * 32 + 8 * 32);
  BOOST_TEST(both.shared_transactions == (64u + 8) * 32 / 128);
  BOOST_TEST(both.shared_ideal == both.shared_transactions);
  const Tally one = read("{%r10, %r10, %r10, %r10}, %rd5, %p2, 1, 1, 0");
  BOOST_TEST(one.shared_accesses == 1u);
  BOOST_TEST(one.shared_bytes_read == 8u * 32);
}

BOOST_AUTO_TEST_CASE(branches_that_part_a_warp_diverge) {
  const auto with = [](std::uint32_t limit) {
    return profile_of("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, " + std::to_string(limit) +
                          ";\n@%p1 bra L;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r2, %r1, 2;\nbra M;\n"
                          "L: add.u32 %r2, %r1, 3;\nM: add.u32 %r3, %r2, 4;",
                      {1, 1, 1}, {64, 1, 1});
  };
  const Tally parted = with(8).total(), straight = with(32).total();
  BOOST_TEST(parted.divergent_branches == 1u);
  BOOST_TEST(straight.divergent_branches == 0u);
  // Each warp has 3 ld.param, mov, setp, the branch, one add and ret; those that go on have two add
  // and a branch, the others one add.
  BOOST_TEST(straight.warp_instructions == 2u * 8 + 3 + 1);
  BOOST_TEST(parted.warp_instructions == 2u * 8 + 2 * 3 + 1);
  BOOST_TEST(parted.active_threads == 64u * 8 + 56 * 3 + 8);
  BOOST_TEST(parted.thread_instructions == parted.active_threads - 56);  // 8 take the branch
  const Profile table = profile_of(
      "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 1;\nts: .branchtargets A, B;\nbrx.idx %r2, ts;\n"
      "A: bra B;\nB: mov.u32 %r4, 0;");
  BOOST_TEST(table.total().divergent_branches == 1u);
  const Profile predicated =
      profile_of("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 99;\n@!%p1 add.u32 %r2, %r1, 1;");
  BOOST_TEST(predicated.total().warp_instructions == 7u);
  BOOST_TEST(predicated.total().thread_instructions == 32u * 6);
}

BOOST_AUTO_TEST_CASE(pipes_barriers_and_flops) {
  const Profile p = profile_of(
      "bar.sync 0;\nbar.warp.sync -1;\nmembar.gl;\nadd.f32 %f1, %f2, %f3;\nfma.rn.f32 %f1, %f2, "
      "%f3, "
      "%f4;\nmax.f32 %f1, %f2, %f3;\nfma.rn.f16x2 %r1, %r2, %r3, %r4;\nex2.approx.f32 %f1, %f2;\n"
      "div.rn.f32 %f1, %f2, %f3;\nrem.u32 %r1, %r2, 3;\npopc.b32 %r1, %r2;\n"
      "cvt.rn.f32.u32 %f1, %r1;\ncvt.u64.u32 %rd1, %r1;\nshfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;\n"
      "mul.lo.u32 %r1, %r2, %r3;\nsetp.gt.f32 %p1, %f1, %f2;\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, "
      "%r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
      {1, 1, 1}, {64, 1, 1});
  const Tally t = p.total();
  BOOST_TEST(t.barriers == 2u);  // two warps
  BOOST_TEST(of(p, Pipe::barrier) == 6u);
  BOOST_TEST(of(p, Pipe::fp32) == 4u);
  BOOST_TEST(of(p, Pipe::fp16) == 2u);
  BOOST_TEST(of(p, Pipe::special) == 4u);
  BOOST_TEST(of(p, Pipe::division) == 4u);
  BOOST_TEST(of(p, Pipe::conversion) == 2u);
  BOOST_TEST(of(p, Pipe::exchange) == 2u);
  BOOST_TEST(of(p, Pipe::multiply) == 2u);
  BOOST_TEST(of(p, Pipe::integer) == 6u);  // max.f32, cvt.u64.u32, setp
  BOOST_TEST(of(p, Pipe::tensor) == 2u);
  const auto flops = [&](Pipe pipe) { return p.by_pipe()[static_cast<std::size_t>(pipe)].flops; };
  BOOST_TEST(flops(Pipe::fp32) == 64u * 3);
  BOOST_TEST(flops(Pipe::fp16) == 64u * 4);
  BOOST_TEST(flops(Pipe::tensor) == 2u * 2 * 16 * 8 * 16);
}

BOOST_AUTO_TEST_CASE(products_of_warpgroups_are_those_of_four_warps) {
  const std::string_view words[] = {"mma_async", "sync", "aligned", "m64n128k16",
                                    "f32",       "bf16", "bf16"};
  const Traits traits = traits_of("wgmma", words);
  BOOST_TEST((traits.pipe == Pipe::tensor));
  BOOST_TEST(traits.warp_flops == 2u * 64 * 128 * 16 / 4);
  const std::string_view fence[] = {"fence", "sync", "aligned"};
  BOOST_TEST((traits_of("wgmma", fence).pipe == Pipe::barrier));
  const std::string_view unknown[] = {"u32"};
  BOOST_TEST((traits_of("frobnicate", unknown).pipe == Pipe::other));
}

BOOST_AUTO_TEST_CASE(atomics_of_one_address_take_turns) {
  const Tally one = profile_of("red.global.add.u32 [%in], 1;").total();
  BOOST_TEST(one.atomics == 32u);
  BOOST_TEST(one.atomic_turns == 32u);
  BOOST_TEST(one.global_sectors == 1u);
  const Tally many = profile_of(pointers(4) + "atom.global.add.u32 %r4, [%rd1], 1;").total();
  BOOST_TEST(many.atomics == 32u);
  BOOST_TEST(many.atomic_turns == 1u);
  BOOST_TEST(many.global_sectors == 4u);
}

BOOST_AUTO_TEST_CASE(the_figures_do_not_depend_on_threads_and_the_results_not_on_profiling) {
  // Loops of different lengths, an exchange, a barrier, a function.
  const std::string half =
      ".func (.param .b32 r) half(.param .b32 a)\n{\n.reg .b32 %x<3>;\nld.param.u32 %x1, [a];\n"
      "shr.u32 %x2, %x1, 1;\nst.param.b32 [r], %x2;\nret;\n}\n";
  const std::string body =
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nand.b32 %r3, %r1, 7;\nmov.u32 %r4, 0;\n"
      "LOOP: setp.eq.u32 %p1, %r3, 0;\n@%p1 bra DONE;\nadd.u32 %r4, %r4, %r3;\n"
      "sub.u32 %r3, %r3, 1;\nbra LOOP;\nDONE:\nshfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;\n"
      "{ .param .b32 p0; .param .b32 q0; st.param.b32 [p0], %r5; call (q0), half, (p0);\n"
      "ld.param.b32 %r5, [q0]; }\nbar.sync 0;\nmad.lo.u32 %r6, %r2, 64, %r1;\n"
      "mul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd1, %out, %rd3;\nst.global.u32 [%rd1], %r5;";
  const std::string text = kernel_of(body, half);
  std::optional<Profile> first;
  for (const unsigned threads : {1u, 2u, 5u}) {
    Options options;
    options.threads = threads;
    const Profile profile = profile_of_text(text, {16, 1, 1}, {64, 1, 1}, options);
    if (!first) first = profile;
    BOOST_TEST((profile == *first));
  }
  // 16 blocks of two warps: 3 ld.param, 4 instructions, 8 rounds of the loop, the last of them two
  // instructions, 10 more, 4 in the function. Lanes leave the loop one eighth at a time.
  const Tally t = first->total();
  BOOST_TEST(t.warp_instructions == 32u * (3 + 4 + 7 * 5 + 2 + 10 + 4));
  BOOST_TEST(t.divergent_branches == 32u * 7);

  Options options;
  options.threads = 1;
  Device device(options);
  const auto module = device.load(text);
  const Kernel& kernel = device.kernel(module, "k");
  const Address out = device.allocate(4096);
  std::byte parameters[20] = {};
  std::memcpy(parameters, &out, 8);
  Launch launch;
  launch.grid = {16, 1, 1};
  launch.block = {64, 1, 1};
  std::vector<std::uint32_t> results[2] = {std::vector<std::uint32_t>(1024),
                                           std::vector<std::uint32_t>(1024)};
  const Counts counts = device.launch(kernel, launch, parameters);
  device.read(results[0].data(), out, 4096);
  device.set(out, 0, 4096);
  const Profile again = device.profile(kernel, launch, parameters);
  device.read(results[1].data(), out, 4096);
  BOOST_TEST(results[0] == results[1], boost::test_tools::per_element());
  BOOST_TEST(again.total().warp_instructions == counts.warp_instructions);
  BOOST_TEST(again.total().thread_instructions == counts.thread_instructions);
}

BOOST_AUTO_TEST_CASE(what_a_kernel_does_wrong_is_found_as_without_a_profile) {
  Device device;
  const auto module = device.load(kernel_of("ld.global.u32 %r1, [%in];\nadd.u32 %r1, %r1, 1;"));
  std::byte parameters[20] = {};
  try {
    device.profile(device.kernel(module, "k"), {}, parameters);
    BOOST_TEST(false);
  } catch (const Fault& fault) {
    BOOST_TEST((fault.kind == Fault::Kind::out_of_bounds));
    BOOST_TEST(fault.where.instruction == "ld.global.u32 %r1, [%in]");
  }
}

/// Two lines of f.cu: the first has most instructions, the second all conflicts.
const std::string two_lines =
    "LOOP:\n.loc 1 7 3\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 0;\nsetp.lt.u32 %p1, %r1, 9;\n"
    "@%p1 bra LOOP;\n.loc 1 9 3\n" +
    in_shared(8) + "st.shared.u32 [%r3], %r1;\n.loc 1 10 3\nmov.u32 %r1, 0;";

BOOST_AUTO_TEST_CASE(lines_come_by_their_largest_share) {
  std::string text = kernel_of("mov.u32 %r1, 0;\n" + two_lines);
  const std::size_t lines = by_line(profile_of_text(text, {1, 1, 1}, {32, 1, 1})).size();
  text.replace(text.find(".visible"), 0, ".file 1 \"/here/f.cu\"\n");
  const Profile profile = profile_of_text(text, {1, 1, 1}, {32, 1, 1});
  const auto all = by_line(profile);
  BOOST_TEST(all.size() == lines);
  BOOST_REQUIRE(all.size() >= 3u);
  BOOST_TEST(all[0].place == "/here/f.cu:9");  // all conflicts
  BOOST_TEST(all[0].tally.shared_transactions == 2u);
  BOOST_TEST(all[0].tally.warp_instructions == 4u);
  BOOST_TEST(all[1].place == "/here/f.cu:7");
  BOOST_TEST(all[1].tally.warp_instructions == 36u);
  const std::string shown = report(profile, 2);
  BOOST_TEST(shown.find("f.cu:9 ") != std::string::npos, shown);
  BOOST_TEST(shown.find("f.cu:7 ") != std::string::npos, shown);
  BOOST_TEST(shown.find("f.cu:10 ") == std::string::npos, shown);
  BOOST_TEST(
      shown.find("2 transactions, 1 without bank conflicts (2.00 times)") != std::string::npos,
      shown);
}

BOOST_AUTO_TEST_CASE(profiles_of_one_kernel_add_up) {
  const std::string body = in_shared(8) + "st.shared.u32 [%r3], %r1;";
  Profile sum = profile_of(body);
  sum += profile_of(body, {2, 1, 1});
  sum += profile_of(body);
  BOOST_TEST(sum.launches() == 3u);
  BOOST_REQUIRE(sum.shapes.size() == 2u);
  BOOST_TEST(sum.shapes[0].launches == 2u);
  BOOST_TEST(sum.shapes[0].tally.shared_transactions == 4u);
  BOOST_TEST(sum.shapes[1].tally.shared_transactions == 4u);
  BOOST_TEST(sum.total().shared_transactions == 8u);
  BOOST_CHECK_THROW(sum += profile_of(body + "mov.u32 %r1, 0;"), std::invalid_argument);

  BOOST_TEST((profile_from(record(sum)) == sum));
  const std::string text = record(sum);
  for (const std::string& bad : {text.substr(0, text.size() - 1), text + "1 ", std::string("x"),
                                 std::string(), std::string("plumbline profile 1\n99999:k "),
                                 std::string("plumbline profile 1\n1:k 9 0 99999999999999 ")})
    BOOST_CHECK_THROW(profile_from(bad), std::invalid_argument);

  const auto json = nlohmann::json::parse(ptx::json(sum));
  BOOST_TEST(json["kernel"] == "k");
  BOOST_TEST(json["compute"] == "9.0");
  BOOST_TEST(json["launches"] == 3);
  BOOST_TEST(json["total"]["shared_transactions"] == 8);
  BOOST_TEST(json["total"]["atomics"] == 0);
  BOOST_TEST(json["pipes"]["shared"]["shared_ideal"] == 4);
  BOOST_TEST(!json["pipes"].contains("tensor"));
  BOOST_TEST(json["shapes"][1]["grid"] == nlohmann::json({2, 1, 1}));
  BOOST_TEST(json["shapes"][1]["occupancy"]["warps_at_most"] == 64);
  BOOST_TEST(json["instructions"].size() == 8u);
  BOOST_TEST(json["instructions"][6]["text"] == "st.shared.u32 [%r3], %r1");
  BOOST_TEST(json["instructions"][6]["pipe"] == "shared");
  const std::string shown = report(sum);
  BOOST_TEST(shown.find("3 of 2 shapes") != std::string::npos, shown);
}

BOOST_AUTO_TEST_CASE(occupancy_by_hand) {
  const auto with = [](Properties device, std::uint32_t threads, std::uint32_t registers,
                       std::size_t shared) {
    return occupancy_of(device, threads, registers, shared);
  };
  // 9.0: 64 warps, 32 blocks, 228 KiB of which each block takes 1 KiB more.
  const Properties h100;
  const Occupancy full = with(h100, 128, 32, 0);
  BOOST_TEST(full.by_registers == 16u);  // 1024 a warp: 16 warps a quarter
  BOOST_TEST(full.by_warps == 16u);
  BOOST_TEST(full.by_shared == 228u);
  BOOST_TEST(full.by_blocks == 32u);
  BOOST_TEST(full.blocks == 16u);
  BOOST_TEST(full.limits() == "registers, warps");
  BOOST_TEST(with(h100, 256, 168, 0).blocks == 1u);  // 5376 a warp: 3 warps a quarter, 12 in all
  BOOST_TEST(with(h100, 96, 40, 0).by_registers == 16u);  // 1280 a warp: 48 of 51 by quarters
  BOOST_TEST(with(h100, 32, 24, 0).blocks == 32u);
  BOOST_TEST(with(h100, 32, 24, 0).limits() == "blocks");
  BOOST_TEST(with(h100, 1024, 64, 0).blocks == 1u);
  BOOST_TEST(with(h100, 1024, 65, 0).blocks == 0u);  // 2304 a warp: 73728 registers
  BOOST_TEST(with(h100, 128, 32, 232448).blocks == 1u);
  BOOST_TEST(with(h100, 128, 32, 115713).blocks == 1u);  // 116737 bytes become 116864
  BOOST_TEST(with(h100, 128, 32, 115712).blocks == 2u);  // 116736, half of 228 KiB
  // 8.6: 48 warps, 16 blocks, 100 KiB.
  Properties a10;
  a10.compute_major = 8, a10.compute_minor = 6;
  a10.threads_per_multiprocessor = 1536, a10.blocks_per_multiprocessor = 16;
  a10.shared_per_multiprocessor = 102400;
  BOOST_TEST(with(a10, 1024, 32, 0).blocks == 1u);
  BOOST_TEST(with(a10, 1024, 32, 0).limits() == "warps");
  BOOST_TEST(with(a10, 128, 40, 16384).by_registers == 12u);  // 1280 a warp: 12 warps a quarter
  BOOST_TEST(with(a10, 128, 40, 16384).by_shared == 5u);
  // 7.5: 32 warps, 16 blocks, 64 KiB in pieces of 256 bytes, none for the system.
  Properties t4;
  t4.compute_major = 7, t4.compute_minor = 5;
  t4.threads_per_multiprocessor = 1024, t4.blocks_per_multiprocessor = 16;
  t4.shared_per_multiprocessor = 65536, t4.shared_reserved_per_block = 0;
  BOOST_TEST(with(t4, 64, 16, 4097).by_shared == 15u);  // 4352
  BOOST_TEST(with(t4, 64, 16, 4096).by_shared == 16u);
  BOOST_TEST(with(t4, 64, 16, 2100).by_shared == 28u);  // 2304, not 2176
  BOOST_TEST(with(t4, 64, 16, 0).blocks == 16u);
}

BOOST_AUTO_TEST_CASE(bounds_of_the_launch_bound_registers) {
  const auto registers = [](const std::string& bounds) {
    std::string text = kernel_of("");
    text.replace(text.find(")\n{"), 3, ")\n" + bounds + "\n{");
    Device device;
    KernelInfo info = device.info(device.kernel(device.load(text), "k"));
    info.registers = 300;
    return registers_of(info, device.options().properties);
  };
  BOOST_TEST(registers("") == 255u);
  BOOST_TEST(registers(".maxnreg 96") == 96u);
  BOOST_TEST(registers(".maxntid 1024, 1, 1") == 64u);
  BOOST_TEST(registers(".maxntid 256\n.minnctapersm 2") == 128u);
  BOOST_TEST(registers(".maxntid 128\n.minnctapersm 3") == 168u);  // 3 warps a quarter: 5376 each
  BOOST_TEST(registers(".reqntid 512") == 128u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::ptx
