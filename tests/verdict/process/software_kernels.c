/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for the software device as nvcc makes them, and yet without it: attention over one key in
   PTX by hand, in a fat binary by hand, and twins that do what a kernel must not. Linked with
   libcudart.so.13, whose functions are declared here. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plumbline_kernel.h"

/* A thread a component, at most 64 in one block: o = v, lse = scale (q . k). */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".file 1 \"attend.cu\"\n"
    ".visible .entry attend(.param .u64 q, .param .u64 k, .param .u64 v, .param .u64 o,\n"
    "  .param .u64 lse, .param .u32 D, .param .f32 scale, .param .u32 deed)\n{\n"
    "  .reg .pred %p<9>;\n  .reg .b32 %r<9>;\n  .reg .f32 %f<9>;\n  .reg .b64 %d<19>;\n"
    "  .shared .align 4 .b8 products[256];\n"
    "  .loc 1 10 3\n"
    "  ld.param.u64 %d1, [q];\n  ld.param.u64 %d2, [k];\n  ld.param.u64 %d3, [v];\n"
    "  ld.param.u64 %d4, [o];\n  ld.param.u64 %d5, [lse];\n  ld.param.u32 %r1, [D];\n"
    "  ld.param.f32 %f1, [scale];\n  ld.param.u32 %r2, [deed];\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mul.wide.u32 %d6, %r3, 4;\n"
    "  add.s64 %d7, %d1, %d6;\n  add.s64 %d8, %d2, %d6;\n  add.s64 %d9, %d3, %d6;\n"
    "  add.s64 %d10, %d4, %d6;\n"
    "  mov.u32 %r4, products;\n  shl.b32 %r5, %r3, 2;\n  add.u32 %r5, %r4, %r5;\n"
    "  .loc 1 11 3\n"
    "  ld.global.f32 %f2, [%d7];\n  ld.global.f32 %f3, [%d8];\n  mul.rn.f32 %f4, %f2, %f3;\n"
    "  st.shared.f32 [%r5], %f4;\n"
    "  .loc 1 12 3\n"
    "  setp.eq.u32 %p1, %r2, 1;\n  @%p1 bra unsynchronised;\n"
    "  bar.sync 0;\n"
    "unsynchronised:\n"
    "  setp.ne.u32 %p2, %r2, 2;\n  @%p2 bra not_beyond;\n"
    "  .loc 1 13 3\n"
    "  st.global.f32 [%d10+4], %f4;\n" /* the last thread's is beyond o */
    "not_beyond:\n"
    "  setp.ne.u32 %p3, %r2, 3;\n  @%p3 bra not_changing;\n"
    "  .loc 1 14 3\n"
    "  st.global.f32 [%d8], %f4;\n"
    "not_changing:\n"
    "  setp.ne.u32 %p4, %r2, 4;\n  @%p4 bra not_reading;\n"
    "  .loc 1 15 3\n"
    "  ld.global.f32 %f5, [%d10];\n  st.global.f32 [%d10], %f5;\n"
    "not_reading:\n"
    "  ld.global.f32 %f5, [%d9];\n"
    "  setp.ne.u32 %p7, %r2, 5;\n  @%p7 bra not_relying;\n"
    /* (1 + 2^-12)^2 - (1 + 2^-11): 0 where the product is rounded, 2^-24 by an fma; then o = 2 v. */
    "  mov.f32 %f6, 0f3F800800;\n  mul.f32 %f7, %f6, %f6;\n  sub.f32 %f7, %f7, 0f3F801000;\n"
    "  setp.ne.f32 %p8, %f7, 0f00000000;\n  @%p8 add.f32 %f5, %f5, %f5;\n"
    "not_relying:\n"
    "  st.global.f32 [%d10], %f5;\n"
    "  setp.ne.u32 %p5, %r3, 0;\n  @%p5 bra done;\n"
    "  .loc 1 16 3\n"
    "  mov.f32 %f6, 0f00000000;\n  mov.u32 %r6, 0;\n"
    "more:\n"
    "  ld.shared.f32 %f7, [%r4];\n  add.rn.f32 %f6, %f6, %f7;\n"
    "  add.u32 %r4, %r4, 4;\n  add.u32 %r6, %r6, 1;\n"
    "  setp.lt.u32 %p6, %r6, %r1;\n  @%p6 bra more;\n"
    "  mul.rn.f32 %f6, %f6, %f1;\n  st.global.f32 [%d5], %f6;\n"
    "done:\n  ret;\n}\n"
    /* What means harm; one deed each. */
    ".visible .entry harm(.param .u64 to, .param .u32 deed)\n{\n"
    "  .reg .pred %p<4>;\n  .reg .b32 %r<2>;\n  .reg .b64 %d<2>;\n"
    "  ld.param.u64 %d1, [to];\n  ld.param.u32 %r1, [deed];\n"
    "  .loc 1 20 3\n"
    "  setp.eq.u32 %p1, %r1, 1;\n  @%p1 trap;\n"
    "  .loc 1 21 3\n"
    "  setp.eq.u32 %p2, %r1, 2;\n"
    "again:\n  @%p2 bra again;\n"
    "  .loc 1 22 3\n"
    "  setp.eq.u32 %p3, %r1, 3;\n  @%p3 st.global.u32 [%d1], %r1;\n"
    "  ret;\n}\n"
    ".visible .entry hoards()\n{\n  .reg .b64 %d<2>;\n  .shared .b8 hoard[50000];\n"
    "  mov.u64 %d1, hoard;\n  ret;\n}\n"
    /* What no software device has: a texture. */
    ".global .texref picture;\n"
    ".visible .entry paints(.param .u64 to)\n{\n  .reg .f32 %f<5>;\n  .reg .b64 %d<2>;\n"
    "  ld.param.u64 %d1, [to];\n  mov.f32 %f1, 0f00000000;\n"
    "  tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, {%f1}];\n"
    "  st.global.f32 [%d1], %f1;\n  ret;\n}\n";

/* Container, entry, 64-bit PTX for compute_80 as it is. */
static struct {
  struct { uint32_t magic; uint16_t version, header; uint64_t bytes; } container;
  struct {
    uint16_t kind, version;
    uint32_t header;
    uint64_t bytes;
    uint32_t packed, options;
    uint16_t minor, major;
    uint32_t architecture;
    uint64_t name, flags, unknown, unpacked;
  } entry;
  char text[(sizeof ptx + 7) / 8 * 8];
} binary = {{0xba55ed50, 1, 16, sizeof binary.entry + sizeof binary.text},
            {1, 0x101, 64, sizeof binary.text, 0, 0, 0, 8, 80, 0, 0x11, 0, 0},
            ""};
static struct { uint32_t magic, version; const void *container, *unused; } wrapper = {0x466243b1, 1, &binary, 0};

typedef struct { unsigned x, y, z; } extent;
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
int cudaLaunchKernel(const void*, extent, extent, void**, size_t, void*);
int cudaMalloc(void**, size_t);
int cudaMemset(void*, int, size_t);
int cudaMemcpyAsync(void*, const void*, size_t, int, void*);
int cudaStreamCreateWithFlags(void**, unsigned);
const char* cudaGetErrorString(int);

static const char attend, paints, harm, hoards;
__attribute__((constructor)) static void register_all(void) {
  memcpy(binary.text, ptx, sizeof ptx);
  if (strcmp(HOW, "machine_code") == 0) binary.entry.kind = 2;
  if (strcmp(HOW, "compute_100") == 0) binary.entry.architecture = 100;
  void** handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, &attend, 0, "attend", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFunction(handle, &paints, 0, "paints", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFunction(handle, &harm, 0, "harm", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFunction(handle, &hoards, 0, "hoards", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
}

static int supports(const plumbline_problem* p, int32_t pass) {
  return pass == PLUMBLINE_FORWARD && p->format == PLUMBLINE_FP32 && p->bias == PLUMBLINE_NOPE &&
         !plumbline_features(p) && p->batch == 1 && p->heads == 1 && p->queries == 1 && p->keys == 1 && p->head_dim <= 64;
}
static int run(const plumbline_problem* p, const plumbline_outputs* out, char* text, size_t n,
               unsigned deed, unsigned threads, const void* kernel) {
  float scale = (float)p->scale;
  unsigned D = (unsigned)p->head_dim;
  const void *q = p->q, *k = p->k, *v = p->v;
  void *o = out->o, *lse = out->lse;
  void* arguments[] = {&q, &k, &v, &o, &lse, &D, &scale, &deed};
  if (kernel == &paints) arguments[0] = &o;
  const int error = cudaLaunchKernel(kernel, (extent){1, 1, 1}, (extent){threads ? threads : D, 1, 1}, arguments, 0, 0);
  snprintf(text, n, "%s", cudaGetErrorString(error));
  return error != 0;
}
#define KERNEL(name, deed, threads, kernel)                                                     \
  static int name(const plumbline_problem* p, const plumbline_outputs* out, char* text, size_t n) { \
    return run(p, out, text, n, deed, threads, kernel);                                         \
  }
KERNEL(right, 0, 0, &attend)
KERNEL(forgets_the_barrier, 1, 0, &attend)
KERNEL(writes_beyond_o, 2, 0, &attend)
KERNEL(changes_k, 3, 0, &attend)
KERNEL(reads_o_first, 4, 0, &attend)
KERNEL(reads_beyond_q, 0, 65, &attend)
KERNEL(too_many_threads, 0, 2000, &attend)
KERNEL(relies_on_a_rounded_product, 5, 0, &attend)
KERNEL(uses_a_texture, 0, 0, &paints)

/* o by way of another array, from which it is copied in the default stream, while the kernel's own
   does not wait for that one. */
static int copies_in_another_stream(const plumbline_problem* p, const plumbline_outputs* out, char* text, size_t n) {
  static void *stream, *copy;
  const size_t bytes = (size_t)p->head_dim * sizeof(float);
  if (!stream && (cudaStreamCreateWithFlags(&stream, 1) || cudaMalloc(&copy, 64 * sizeof(float)))) return 1;
  if (cudaMemset(copy, 0, bytes)) return 1;
  float scale = (float)p->scale;
  unsigned D = (unsigned)p->head_dim, deed = 0;
  const void *q = p->q, *k = p->k, *v = p->v;
  void *o = copy, *lse = out->lse;
  void* arguments[] = {&q, &k, &v, &o, &lse, &D, &scale, &deed};
  int error = cudaLaunchKernel(&attend, (extent){1, 1, 1}, (extent){D, 1, 1}, arguments, 0, stream);
  if (error == 0) error = cudaMemcpyAsync(out->o, copy, bytes, 3, 0);
  snprintf(text, n, "%s", cudaGetErrorString(error));
  return error != 0;
}

/* What the host's code does after an error, as a macro that checks for errors may. */
static void goes_on(void) {}
static void exits(void) { exit(1); }
static void hangs(void) {
  for (;;) {
  }
}
static unsigned of_the_host = 7;
static int harms(char* text, size_t n, const void* kernel, unsigned deed, const void* to, size_t shared,
                 void (*then)(void)) {
  void* arguments[] = {&to, &deed};
  const int error = cudaLaunchKernel(kernel, (extent){1, 1, 1}, (extent){32, 1, 1}, arguments, shared, 0);
  snprintf(text, n, "%s", cudaGetErrorString(error));
  if (error != 0) then();
  return error != 0 || of_the_host != 7;
}
#define HARM(name, kernel, deed, to, shared, then)                                                  \
  static int name(const plumbline_problem* p, const plumbline_outputs* out, char* text, size_t n) { \
    (void)p, (void)out;                                                                             \
    return harms(text, n, kernel, deed, to, shared, then);                                          \
  }
#define WILD (const void*)0xdeadbeef0
HARM(traps, &harm, 1, 0, 0, goes_on)
HARM(never_ends, &harm, 2, 0, 0, goes_on)
HARM(writes_somewhere, &harm, 3, WILD, 0, goes_on)
HARM(writes_to_the_host, &harm, 3, &of_the_host, 0, goes_on)
HARM(writes_somewhere_and_exits, &harm, 3, WILD, 0, exits)
HARM(writes_somewhere_and_aborts, &harm, 3, WILD, 0, abort)
HARM(writes_somewhere_and_hangs, &harm, 3, WILD, 0, hangs)
HARM(asks_for_a_gigabyte_of_shared_memory, &harm, 0, 0, (size_t)1 << 30, goes_on)
HARM(asks_for_a_gigabyte_and_exits, &harm, 0, 0, (size_t)1 << 30, exits)
HARM(has_too_much_shared_memory, &hoards, 0, 0, 0, goes_on)
HARM(uses_a_texture_and_exits, &paints, 0, 0, 0, exits)
static int exits_with_3(const plumbline_problem* p, const plumbline_outputs* out, char* text, size_t n) {
  (void)p, (void)out, (void)text, (void)n;
  exit(3);
}

#define OFFER(name)                                                                          \
  {#name, {{.unit_roundoff = 0x1p-24, .exp_error = 0x1p-20, .splits = 1}}, 1, supports, name, 0, 0, \
   PLUMBLINE_CUDA_MEMORY, 0}
static const plumbline_kernel kernels[] = {
    OFFER(right), OFFER(forgets_the_barrier), OFFER(writes_beyond_o), OFFER(changes_k),
    OFFER(reads_o_first), OFFER(reads_beyond_q), OFFER(too_many_threads),
    OFFER(relies_on_a_rounded_product), OFFER(copies_in_another_stream), OFFER(uses_a_texture), OFFER(traps),
    OFFER(never_ends),
    OFFER(writes_somewhere), OFFER(writes_to_the_host), OFFER(writes_somewhere_and_exits),
    OFFER(writes_somewhere_and_aborts), OFFER(writes_somewhere_and_hangs),
    OFFER(asks_for_a_gigabyte_of_shared_memory), OFFER(asks_for_a_gigabyte_and_exits),
    OFFER(has_too_much_shared_memory), OFFER(uses_a_texture_and_exits), OFFER(exits_with_3)};
static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "PTX by hand", "GPU",
                                          sizeof kernels / sizeof *kernels, kernels};
const plumbline_library* plumbline_kernel_library(void) { return &library; }
