// SPDX-License-Identifier: Apache-2.0
// What an input of the fuzzers, or of their replay, is and what is done with it.
#ifndef PLUMBLINE_TESTS_GPU_PTX_FUZZ_FUZZED_TEXT_HPP
#define PLUMBLINE_TESTS_GPU_PTX_FUZZ_FUZZED_TEXT_HPP

#include <string>
#include <string_view>

#include "ptx/device.hpp"

namespace plumbline::ptx {

/// An input that begins with a dot or a slash is a module; any other is statements of a kernel `k`
/// with registers, memory of every space, a function and the labels L0 (before them) and L1
/// (after).
inline std::string fuzzed_text(std::string_view input) {
  if (!input.empty() && (input[0] == '.' || input[0] == '/')) return std::string(input);
  static constexpr std::string_view before = R"(.version 8.6
.target sm_90a
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .shared .align 16 .b8 dynamic[];
.const .align 16 .b8 c[64] = {1, 2, 3};
.global .align 16 .b8 g[256] = {37, 115, 37, 100, 37, 42, 102, 10};
.func (.param .b32 r) called(.param .b32 a, .param .b64 b)
{ .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }
.visible .entry k(.param .u64 o, .param .u64 i, .param .u32 n, .param .align 64 .b8 map[128])
{
.reg .pred %p<16>; .reg .b16 %rs<16>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .b128 %rq<4>;
.shared .align 1024 .b8 s[4096]; .shared .align 8 .b64 bar[4]; .local .align 16 .b8 l[128];
.param .b32 a0; .param .b64 a1; .param .b32 r0;
mov.u32 %r0, %tid.x; mov.u32 %r1, s; mov.u32 %r2, bar; setp.lt.u32 %p1, %r0, 16;
mul.wide.u32 %rd3, %r0, 16; ld.param.u64 %rd1, [o]; ld.param.u64 %rd2, [i];
add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; cvta.local.u64 %rd4, l; mov.u64 %rd5, map;
L0:
)";
  return std::string(before).append(input).append("\nL1: ret;\n}\n");
}

}  // namespace plumbline::ptx

#endif
