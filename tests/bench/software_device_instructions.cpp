// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "ptx/device.hpp"
#include "tests/bench/software_device.hpp"

namespace plumbline::bench {
namespace {

constexpr int kUnrolled = 32, kTurns = 1024, kWarps = 4;

/// `text` has # where the number of a register goes, which changes from one instruction to the
/// next.
struct Instruction {
  const char* name;
  const char* text;
  int registers = 8;  ///< how many it may go through
};
constexpr Instruction kInstructions[] = {
    {"fma.rn.f32", "fma.rn.f32 %f#, %f#, %f20, %f21;"},
    {"ex2.approx.ftz.f32", "ex2.approx.ftz.f32 %f#, %f20;"},
    {"max.f32", "max.f32 %f#, %f#, %f20;"},
    {"cvt.rn.bf16x2.f32", "cvt.rn.bf16x2.f32 %r#, %f20, %f21;"},
    {"add.s32", "add.s32 %r#, %r#, %r20;"},
    {"add.s64", "add.s64 %rd#, %rd#, %rd20;"},
    {"setp.lt.s32", "setp.lt.s32 %p#, %r#, %r20;"},
    {"selp.f32", "selp.f32 %f#, %f#, %f20, %p9;"},
    {"mov.b32", "mov.b32 %r#, %r20;"},
    {"shfl.sync.bfly.b32", "shfl.sync.bfly.b32 %r#|%p8, %r20, 1, 31, -1;"},
    {"bra", "bra L#; L#:", kUnrolled},
    {"@p add.s32, half the lanes", "@%p9 add.s32 %r#, %r#, %r20;"},
    {"ld.global.f32", "ld.global.f32 %f#, [%rd24];"},
    {"ld.global.v4.f32", "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd25];"},
    {"st.global.f32", "st.global.f32 [%rd24], %f#;"},
    {"ld.shared.f32", "ld.shared.f32 %f#, [%r24];"},
    {"ld.shared.f32, a row of 65", "ld.shared.f32 %f#, [%r25];"},
    {"ld.shared.v4.f32", "ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%r26];"},
    {"st.shared.f32", "st.shared.f32 [%r24], %f#;"},
    {"st.shared.f32, a row of 65", "st.shared.f32 [%r25], %f#;"},
    {"ldmatrix.x4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r26];"},
    {"ldmatrix.x4.trans",
     "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0, %r1, %r2, %r3}, [%r26];"},
    {"mma.m16n8k16, bf16",
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, "
     "%r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};"},
    {"cp.async, 16 bytes", "cp.async.cg.shared.global [%r26], [%rd25], 16; cp.async.wait_all;"},
    {"bar.sync", "bar.sync 0;"},
};

std::string kernel_of(const Instruction& instruction) {
  std::string body;
  for (int i = 0; i < kUnrolled; ++i) {
    const std::string number = std::to_string(i % instruction.registers);
    for (const char* c = instruction.text; *c; ++c) body += *c == '#' ? number : std::string(1, *c);
    body += '\n';
  }
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 memory)
{
.reg .pred %p<16>;
.reg .b32 %r<32>;
.reg .f32 %f<32>;
.reg .b64 %rd<32>;
.shared .align 16 .b8 s[36864];
ld.param.u64 %rd24, [memory];
mov.u32 %r30, %tid.x;
mov.u32 %r28, s;
mul.wide.u32 %rd26, %r30, 16;
add.s64 %rd25, %rd24, %rd26;
mul.wide.u32 %rd26, %r30, 4;
add.s64 %rd24, %rd24, %rd26;
mad.lo.u32 %r24, %r30, 4, %r28;
mad.lo.u32 %r25, %r30, 260, %r28;
mad.lo.u32 %r26, %r30, 16, %r28;
and.b32 %r29, %r30, 1;
setp.eq.u32 %p9, %r29, 0;
mov.f32 %f20, 0f3f000000;
mov.f32 %f21, 0f3f400000;
mov.u32 %r20, 3;
mov.u32 %r31, 0;
st.shared.v4.f32 [%r26], {%f20, %f21, %f20, %f21};
bar.sync 0;
st.shared.f32 [%r25], %f20;
bar.sync 0;
TURN:
)" + body +
         R"(
add.u32 %r31, %r31, 1;
setp.lt.u32 %p15, %r31, )" +
         std::to_string(kTurns) + R"(;
@%p15 bra TURN;
ret;
}
)";
}

}  // namespace

void measure_instructions(const std::string& only, int repetitions, std::ostream& out) {
  for (const Instruction& instruction : kInstructions) {
    if (std::string(instruction.name).find(only) == std::string::npos) continue;
    std::vector<double> nanoseconds[2];
    for (int n = 0; n <= repetitions; ++n)  // the first is not counted
      for (const bool check : {true, false}) {
        ptx::Options options;
        options.check = check;
        options.threads = 1;
        ptx::Device device(options);
        const std::uint64_t module = device.load(kernel_of(instruction), instruction.name);
        const ptx::Kernel& kernel = device.kernel(module, "k");
        device.info(kernel);
        const ptx::Address memory = device.allocate(1 << 16);
        device.set(memory, 0, 1 << 16);
        ptx::Launch launch;
        launch.block = {32 * kWarps, 1, 1};
        const Seconds taken = seconds_of(
            [&] { device.launch(kernel, launch, std::as_bytes(std::span(&memory, 1))); });
        if (n > 0)
          nanoseconds[check ? 0 : 1].push_back(1e9 * taken.cpu / (kUnrolled * kTurns * kWarps));
      }
    out << nlohmann::json{{"instruction", instruction.name},
                          {"checked", nanoseconds[0]},
                          {"unchecked", nanoseconds[1]}}
        << std::endl;
  }
}

}  // namespace plumbline::bench
