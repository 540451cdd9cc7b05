// SPDX-License-Identifier: Apache-2.0
// Calls of functions: parameters, results, recursion, function pointers (section 9.7.12.5 of the
// PTX ISA).
#include "tests/gpu/ptx/conformance/families.hpp"
#include "tests/gpu/ptx/conformance/program.hpp"

namespace plumbline::ptx::conformance {
namespace {

const char* const square = R"(
.func (.param .b32 result) KERNEL_square(.param .b32 x)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r0, [x];
  mul.lo.u32 %r1, %r0, %r0;
  st.param.b32 [result], %r1;
  ret;
}
)";

void parameters(Family& family) {
  add_program(family, "call with a parameter and a result",
              {R"(
  {
    .param .b32 argument;
    .param .b32 back;
    st.param.b32 [argument], %t;
    call (back), KERNEL_square, (argument);
    ld.param.b32 %r0, [back];
  }
  {
    .param .b32 argument;
    .param .b32 back;
    st.param.b32 [argument], %r0;
    call.uni (back), KERNEL_square, (argument);
    ld.param.b32 %r0, [back];
  })",
               square},
              [](unsigned, unsigned t) { return t * t * t * t; });
  add_program(family, "call of part of a warp",
              {R"(
  setp.gt.u32 %p0, %lane, 10;
  mov.u32 %r0, 1;
  @!%p0 bra END;
  {
    .param .b32 argument;
    .param .b32 back;
    st.param.b32 [argument], %lane;
    call (back), KERNEL_square, (argument);
    ld.param.b32 %r0, [back];
  }
END:)",
               square},
              [](unsigned, unsigned t) { return t % 32 > 10 ? (t % 32) * (t % 32) : 1; });
  add_program(family, "call in which lanes return early",
              {R"(
  {
    .param .b32 argument;
    .param .b32 back;
    st.param.b32 [argument], %t;
    call (back), KERNEL_early, (argument);
    ld.param.b32 %r0, [back];
  })",
               R"(
.func (.param .b32 result) KERNEL_early(.param .b32 x)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  ld.param.u32 %r0, [x];
  and.b32 %r1, %r0, 1;
  setp.eq.u32 %p, %r1, 0;
  st.param.b32 [result], 5;
  @%p ret;
  add.u32 %r2, %r0, 100;
  st.param.b32 [result], %r2;
  ret;
}
)"},
              [](unsigned, unsigned t) { return t % 2 ? t + 100 : 5; });
  add_program(family, "recursion of another depth for each lane",
              {R"(
  {
    .param .b32 argument;
    .param .b32 back;
    and.b32 %r1, %t, 15;
    st.param.b32 [argument], %r1;
    call (back), KERNEL_sum, (argument);
    ld.param.b32 %r0, [back];
  })",
               R"(
.func (.param .b32 result) KERNEL_sum(.param .b32 n)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  ld.param.u32 %r0, [n];
  mov.u32 %r3, 0;
  setp.eq.u32 %p, %r0, 0;
  @%p bra DONE;
  sub.u32 %r1, %r0, 1;
  {
    .param .b32 argument;
    .param .b32 back;
    st.param.b32 [argument], %r1;
    call (back), KERNEL_sum, (argument);
    ld.param.b32 %r2, [back];
  }
  add.u32 %r3, %r2, %r0;
DONE:
  st.param.b32 [result], %r3;
  ret;
}
)"},
              [](unsigned, unsigned t) { return (t % 16) * (t % 16 + 1) / 2; });
}

void structures(Family& family) {
  add_program(family, "a structure by value, without a result",
              {R"(
  {
    .param .align 8 .b8 argument[16];
    .param .b64 where;
    st.param.b32 [argument], %t;
    st.param.b16 [argument+4], 7;
    st.param.b8 [argument+6], 9;
    st.param.b64 [argument+8], 1000;
    st.param.b64 [where], %out;
    call KERNEL_store, (argument, where);
  }
  ld.global.u32 %r0, [%out];)",
               R"(
.func KERNEL_store(.param .align 8 .b8 s[16], .param .b64 where)
{
  .reg .b16 %h<4>;
  .reg .b32 %r<6>;
  .reg .b64 %l<4>;
  ld.param.u32 %r0, [s];
  ld.param.u16 %h0, [s+4];
  ld.param.u8 %h1, [s+6];
  ld.param.u64 %l0, [s+8];
  ld.param.u64 %l1, [where];
  mul.wide.u16 %r1, %h0, %h1;
  cvt.u32.u64 %r2, %l0;
  add.u32 %r0, %r0, %r1;
  add.u32 %r0, %r0, %r2;
  st.global.u32 [%l1], %r0;
  ret;
}
)"},
              [](unsigned, unsigned t) { return t + 63 + 1000; });
  add_program(family, "a structure as a result",
              {R"(
  {
    .param .b32 argument;
    .param .align 4 .b8 back[8];
    st.param.b32 [argument], %t;
    call (back), KERNEL_pair, (argument);
    ld.param.v2.b32 {%r1, %r2}, [back];
  }
  sub.u32 %r0, %r1, %r2;)",
               R"(
.func (.param .align 4 .b8 result[8]) KERNEL_pair(.param .b32 x)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r0, [x];
  mul.lo.u32 %r1, %r0, 10;
  add.u32 %r2, %r0, 1;
  st.param.b32 [result], %r1;
  st.param.b32 [result+4], %r2;
  ret;
}
)"},
              [](unsigned, unsigned t) { return 10 * t - (t + 1); });
  add_program(family, "parameters in registers",
              {R"(
  call (%r0), KERNEL_add, (%t, 40);)",
               R"(
.func (.reg .b32 result) KERNEL_add(.reg .b32 x, .reg .b32 y)
{
  add.u32 result, x, y;
  ret;
}
)"},
              [](unsigned, unsigned t) { return t + 40; });
}

void pointers(Family& family) {
  const std::string two = R"(
.func (.param .b32 result) KERNEL_double(.param .b32 x)
{
  .reg .b32 %r<2>;
  ld.param.u32 %r0, [x];
  shl.b32 %r0, %r0, 1;
  st.param.b32 [result], %r0;
  ret;
}
)";
  const std::string by_prototype = R"(
  {
    .param .b32 argument;
    .param .b32 back;
    st.param.b32 [argument], %t;
prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (back), %l0, (argument), prototype;
    ld.param.b32 %r0, [back];
  })";
  add_program(family, "indirect call by .callprototype",
              {R"(
  and.b32 %r1, %t, 1;
  setp.eq.u32 %p0, %r1, 0;
  mov.u64 %l0, KERNEL_square;
  mov.u64 %l1, KERNEL_double;
  selp.b64 %l0, %l0, %l1, %p0;)" +
                   by_prototype,
               square + two},
              [](unsigned, unsigned t) { return t % 2 ? 2 * t : t * t; });
  add_program(family, "indirect call by .calltargets",
              {R"(
  setp.lt.u32 %p0, %warp, 2;
  mov.u64 %l0, KERNEL_square;
  mov.u64 %l1, KERNEL_double;
  selp.b64 %l0, %l0, %l1, %p0;
  {
    .param .b32 argument;
    .param .b32 back;
    st.param.b32 [argument], %t;
targets: .calltargets KERNEL_square, KERNEL_double;
    call (back), %l0, (argument), targets;
    ld.param.b32 %r0, [back];
  })",
               square + two},
              [](unsigned, unsigned t) { return t < 64 ? t * t : 2 * t; });
  add_program(family, "indirect call by a table of functions",
              {R"(
  and.b32 %r1, %t, 1;
  mov.u64 %l0, KERNEL_table;
  mul.wide.u32 %l1, %r1, 8;
  add.s64 %l0, %l0, %l1;
  ld.global.u64 %l0, [%l0];)" +
                   by_prototype,
               square + two +
                   "\n.global .align 8 .u64 KERNEL_table[2] = {KERNEL_square, KERNEL_double};\n"},
              [](unsigned, unsigned t) { return t % 2 ? 2 * t : t * t; });
  add_program(family, "local memory of a function",
              {R"(
  {
    .param .b32 argument;
    .param .b32 back;
    st.param.b32 [argument], %lane;
    call (back), KERNEL_reverse, (argument);
    ld.param.b32 %r0, [back];
  })",
               R"(
.func (.param .b32 result) KERNEL_reverse(.param .b32 x)
{
  .local .align 4 .b8 words[64];
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %l<4>;
  ld.param.u32 %r0, [x];
  mov.u64 %l0, words;
  mov.u32 %r1, 0;
FILL:
  mul.wide.u32 %l1, %r1, 4;
  add.s64 %l2, %l0, %l1;
  mad.lo.u32 %r2, %r1, %r1, %r0;
  st.local.u32 [%l2], %r2;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p, %r1, 16;
  @%p bra FILL;
  and.b32 %r3, %r0, 15;
  mul.wide.u32 %l1, %r3, 4;
  add.s64 %l2, %l0, %l1;
  ld.local.u32 %r4, [%l2];
  st.param.b32 [result], %r4;
  ret;
}
)"},
              [](unsigned, unsigned t) { return (t % 16) * (t % 16) + t % 32; });
}

}  // namespace

Family calls() {
  Family family{"calls", {}, {}};
  parameters(family);
  structures(family);
  pointers(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
