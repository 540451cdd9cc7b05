// SPDX-License-Identifier: Apache-2.0
// The PTX reader: what it takes, and the line of what it does not.
#include <boost/test/unit_test.hpp>

#include "on_device.hpp"
#include "ptx/read/module.hpp"
#include "ptx/read/place.hpp"

namespace plumbline::ptx {

BOOST_AUTO_TEST_SUITE(reader_test)

namespace {

std::size_t line_of_error(const std::string& text) {
  try {
    read_module(text);
  } catch (const BadPtx& error) {
    return error.line;
  }
  return 0;
}

const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";

BOOST_AUTO_TEST_CASE(errors_name_their_line) {
  BOOST_TEST(line_of_error("") == 1u);
  BOOST_TEST(line_of_error(head + ".visible .entry k()\n{\n  mov.u32 %r1, 0;\n}\n") == 6u);
  BOOST_TEST(line_of_error(head + ".visible .entry k()\n{\n  bra L;\n}\n") == 6u);
  BOOST_TEST(line_of_error(head + ".visible .entry k()\n{\n  ret;\n") == 4u);
  BOOST_TEST(line_of_error(head + ".reg .b33 x;\n") == 4u);
  BOOST_TEST(line_of_error(head + "/* no end\n\n") == 4u);
  BOOST_TEST(line_of_error(head + ".global .b32 x[2] = {1, 2, 3};\n") == 4u);
  BOOST_TEST(line_of_error(head + ".global .b32 x;\n.global .b32 x;\n") == 5u);
  BOOST_TEST(line_of_error(head + ".visible .entry k()\n{\n.reg .b32 %r<2>;\n\n@%r1 ret;\n}\n") ==
             8u);
}

BOOST_AUTO_TEST_CASE(nested_and_huge_declarations_end_with_an_error) {
  std::string braces = head + ".visible .entry k()\n{\n";
  for (int i = 0; i < 100000; ++i) braces += "{";
  BOOST_TEST(line_of_error(braces) == 6u);
  std::string vectors = head + ".visible .entry k()\n{\n mov.b32 ";
  for (int i = 0; i < 100000; ++i) vectors += "{";
  BOOST_TEST(line_of_error(vectors) == 6u);
  std::string initial = head + ".global .b8 x[1] = ";
  for (int i = 0; i < 100000; ++i) initial += "{";
  BOOST_TEST(line_of_error(initial) == 4u);
  BOOST_TEST(line_of_error(head + ".global .b64 x[4294967296][4294967296];\n") == 4u);
  BOOST_TEST(line_of_error(head + ".visible .entry k()\n{\n.reg .b32 %r<4000000000>;\n}\n") == 6u);
}

BOOST_AUTO_TEST_CASE(scopes_have_registers_and_labels_of_their_own) {
  const Run run = run_body(
      "mov.u32 %r1, 5;\n"
      "{ .reg .b32 %r1; mov.u32 %r1, 7; bra L; mov.u32 %r1, 8; L: st.global.u32 [%out], %r1; }\n"
      "{ .reg .b32 t; mov.u32 t, 9; bra L; mov.u32 t, 10; L: st.global.u32 [%out+4], t; }\n"
      "st.global.u32 [%out+8], %r1;",
      {1, 1, 1}, {1, 1, 1});
  BOOST_TEST(!run.fault.has_value());
  BOOST_TEST(run.out[0] == 7u);
  BOOST_TEST(run.out[1] == 9u);
  BOOST_TEST(run.out[2] == 5u);
}

BOOST_AUTO_TEST_CASE(variables_have_their_initial_values) {
  const Run run = run_text(
      kernel_of(
          "ld.global.u32 %r1, [v+4];\nst.global.u32 [%out], %r1;\n"
          "ld.const.u16 %h1, [c+2];\ncvt.u32.u16 %r2, %h1;\nst.global.u32 [%out+4], %r2;\n"
          "ld.global.u64 %rd1, [a];\nld.global.u32 %r3, [%rd1];\n"
          "st.global.u32 [%out+8], %r3;",
          ".global .align 4 .u32 v[3] = {10, 0x14, 30};\n.const .align 2 .b8 c[4] = {1, 2, 3, "
          "4};\n.global .u64 a = v+8;\n"),
      {1, 1, 1}, {1, 1, 1});
  BOOST_TEST(!run.fault.has_value());
  BOOST_TEST(run.out[0] == 20u);
  BOOST_TEST(run.out[1] == 0x0403u);
  BOOST_TEST(run.out[2] == 30u);
}

/// Why the kernel `k` is not launched.
std::string run_refused(const std::string& ptx) {
  try {
    run_text(ptx, {1, 1, 1}, {32, 1, 1});
  } catch (const Refused& refused) {
    if (refused.reason == Refused::Reason::not_supported) return refused.what();
    return "another reason: " + std::string(refused.what());
  } catch (const BadPtx& bad) {
    return bad.what();
  }
  return "launched";
}

BOOST_AUTO_TEST_CASE(an_instruction_that_is_lacking_refuses_its_kernel_alone) {
  Device device;
  const auto module = device.load(head +
                                  ".visible .entry bad()\n{\n  frobnicate.b32;\n}\n"
                                  ".visible .entry good()\n{\n  ret;\n}\n");
  BOOST_TEST(device.info(device.kernel(module, "bad")).missing.find("line 6: frobnicate") !=
             std::string::npos);
  BOOST_CHECK_THROW(device.launch(device.kernel(module, "bad"), {}, {}), Refused);
  device.launch(device.kernel(module, "good"), {}, {});
}

BOOST_AUTO_TEST_CASE(what_the_device_lacks_is_refused_before_the_launch_by_name_and_line) {
  // docs/software_device.md lists them.
  const std::pair<const char*, const char*> lacking[] = {
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
       "{%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f1, %f2, %f3, %f4}, "
       "%r9, 0x0"},
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
       "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r1, %r2}, {%r3, %r4}, "
       "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16",
       "{%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0x0, %p1, 1, 1, 0, 0"},
      {"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc",
       "{%r1, %r2, %r3, %r4}, %rd1, %rd2, %p1"},
      {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32",
       "{%r1, %r2}, {%r3}, {%r4}, {%r5, %r6}"},
      {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
       "[s], [%rd1, {%r1, %r2, %r3}], [s], {%h1}"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes",
       "[s], [%rd1, {%r1, %r2, %r3, %r4, %r5}], [s]"},
      {"cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group",
       "[%rd1, {%r1, %r2, %r3, %r4, %r5}], [s]"},
      {"tex.1d.v4.f32.f32", "{%f1, %f2, %f3, %f4}, [%rd1, {%f1}]"},
      {"vadd.s32.s32.s32", "%r1, %r2, %r3"},
      // Words that mean nothing to it.
      {"add.foo.u32", "%r1, %r2, %r3"},
      {"ld.global.foo.u32", "%r1, [%rd1]"},
      {"atom.global.foo.add.u32", "%r1, [%rd1], 1"},
      {"bar.sync.foo", "0"},
      {"setp.lt.foo.u32", "%p1, %r1, %r2"}};
  for (const auto& [opcode, operands] : lacking) {
    const std::string text = run_refused(kernel_of(std::string(opcode) + " " + operands + ";"));
    BOOST_TEST_CONTEXT(opcode << ": " << text) {
      BOOST_TEST(text.starts_with("k: an instruction that this device lacks, "));
      BOOST_TEST(text.find("line 18: " + std::string(opcode)) != text.npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(messages_leave_out_the_middle_of_long_texts) {
  BOOST_TEST(brief_instruction("mma {%r1, %r2, %r3, %r4}, [%rd1];") ==
             "mma {%r1, %r2, %r3, %r4}, [%rd1];");
  BOOST_TEST(
      brief_instruction("wgmma {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %rd1, {%r1}") ==
      "wgmma {%f0, ..., %f8}, %rd1, {%r1}");
  BOOST_TEST(brief_instruction("broken {%f0, %f1") == "broken {%f0, %f1");
  BOOST_TEST(called_at({}) == "");
  BOOST_TEST(called_at({"a:1", "b:2", "c:3", "d:4"}) ==
             ", called at a:1, called at b:2, called at c:3, called at d:4");
  BOOST_TEST(called_at({"a:1", "b:2", "c:3", "d:4", "e:5", "f:6"}) ==
             ", called at a:1, called at b:2, ... (2 more), called at e:5, called at f:6");
  BOOST_TEST(brief_name("_Z6kernelPf") == "kernel(float*)");
  std::string name = "outer";  // outer<one<inner<inner<...>>>>(int)
  for (int depth = 0; depth < 60; ++depth) name = "of<" + name + ">";
  BOOST_TEST(brief_name(name) == "of<of<of<of<...>>>>");
  const std::string wide = "f<" + std::string(200, 'x') + ">(int)";
  BOOST_TEST(brief_name(wide) == "f<...>(...)");
}

BOOST_AUTO_TEST_CASE(instructions_that_the_target_does_not_have_are_no_ptx_for_it) {
  const auto refusal = [](const std::string& target, const std::string& body) {
    std::string text = kernel_of(body);
    text.replace(text.find("sm_90a"), 6, target);
    return run_refused(text);
  };
  const std::string wgmma = "wgmma.fence.sync.aligned;", rank = "mov.u32 %r1, %cluster_ctarank;",
                    registers = "setmaxnreg.inc.sync.aligned.u32 40;";
  BOOST_TEST(refusal("sm_90a", wgmma).find(".target") == std::string::npos);
  for (const std::string target : {"sm_80", "sm_90", "sm_100a"})
    BOOST_TEST(refusal(target, wgmma)
                       .find("PTX line 18: it needs .target sm_90a, and the module's is " + target +
                             ": " + wgmma.substr(0, 11)) != std::string::npos,
               refusal(target, wgmma));
  BOOST_TEST(refusal("sm_89", rank).find("it needs .target sm_90 or higher") != std::string::npos);
  BOOST_TEST(refusal("sm_90", rank) == "launched");
  BOOST_TEST(refusal("sm_100", registers).find("sm_90a, or a higher one with a suffix") !=
             std::string::npos);
  BOOST_TEST(refusal("sm_100f", registers).find(".target") == std::string::npos);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::ptx
