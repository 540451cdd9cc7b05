/* SPDX-License-Identifier: Apache-2.0 */
/* A library of kernels that do what a kernel must not, each one thing. Those that go on after it
   give no right result either. fp32 without bias. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "plumbline_kernel.h"

#define KERNEL(name) \
  static int name(const plumbline_problem* p, const plumbline_outputs* out, char* m, size_t n)

static volatile float sink;
static size_t o_count(const plumbline_problem* p) {
  return (size_t)p->batch * p->heads * p->queries * p->head_dim;
}
static size_t lse_count(const plumbline_problem* p) { return o_count(p) / p->head_dim; }
static int fill(const plumbline_problem* p, const plumbline_outputs* out, float value) {
  for (size_t n = 0; n < o_count(p); ++n) ((float*)out->o)[n] = value;
  for (size_t n = 0; n < lse_count(p); ++n) out->lse[n] = value;
  return 0;
}
KERNEL(null_pointer) {
  *(volatile float*)NULL = 1;
  return (void)p, (void)out, (void)m, (void)n, 0;
}
KERNEL(aborts) {
  abort();
  return (void)p, (void)out, (void)m, (void)n, 0;
}
KERNEL(exits) {
  exit(0);
  return (void)p, (void)out, (void)m, (void)n, 0;
}
KERNEL(divides_by_zero) {
  volatile int zero = 0;
  return (void)out, (void)m, (void)n, p->keys / zero;
}
static int deeper(volatile char* above) {
  volatile char frame[4096];
  frame[0] = above[0];
  return sink < 1 ? deeper(frame) + frame[0] : 0;
}
KERNEL(uses_up_the_stack) {
  char first = 0;
  return (void)p, (void)out, (void)m, (void)n, deeper(&first);
}
KERNEL(hangs) {
  const char* path = getenv("PLUMBLINE_TEST_CALLS");
  FILE* calls = path ? fopen(path, "a") : NULL;
  if (calls) fputc('x', calls), fclose(calls);
  for (volatile int forever = 1; forever;) sleep(1);
  return (void)p, (void)out, (void)m, (void)n, 0;
}
static void* goes_on_writing(void* o) {
  for (volatile int forever = 1; forever;) *(volatile float*)o = 1;
  return NULL;
}
static void* writes_later(void* o) {
  usleep(50000);
  return goes_on_writing(o);
}
static int left_behind(void* (*work)(void*), void* o) {
  pthread_t thread;
  return pthread_create(&thread, NULL, work, o) || pthread_detach(thread);
}
KERNEL(returns_early) {
  fill(p, out, 0);
  return (void)m, (void)n, left_behind(goes_on_writing, out->o);
}
KERNEL(returns_much_too_early) {
  fill(p, out, 0);
  return (void)m, (void)n, left_behind(writes_later, out->o);
}
KERNEL(takes_its_time) { return (void)m, (void)n, sleep(1), fill(p, out, 0); }
KERNEL(writes_to_no_address) {
  *(volatile float*)(1ULL << 63) = 1; /* not an address on x86-64 */
  return (void)p, (void)out, (void)m, (void)n, 0;
}
KERNEL(writes_to_q) {
  ((float*)p->q)[1] = 0;
  return (void)m, (void)n, fill(p, out, 1);
}
KERNEL(writes_past_lse) {
  /* Beyond the alignment and the page: what a loop without its bounds check does. */
  for (size_t n = 0; n < lse_count(p) + 64; ++n) ((volatile float*)out->lse)[n] = 1;
  return (void)m, (void)n, 0;
}
KERNEL(writes_before_o) {
  ((float*)out->o)[-3] = 1;
  return (void)m, (void)n, fill(p, out, 1);
}
KERNEL(reads_past_k) {
  sink = ((const float*)p->k)[(size_t)p->batch * p->kv_heads * p->keys * p->head_dim + 16];
  return (void)m, (void)n, fill(p, out, 1);
}
KERNEL(gives_zeros) { return (void)m, (void)n, fill(p, out, 0); }
KERNEL(gives_nan) { return (void)m, (void)n, fill(p, out, nanf("")); }
KERNEL(gives_its_input) {
  fill(p, out, 1);
  memcpy(out->o, p->q, o_count(p) * sizeof(float));
  return (void)m, (void)n, 0;
}
KERNEL(gives_nothing) { return (void)p, (void)out, (void)m, (void)n, 0; }
KERNEL(reads_a_file) {
  const char* path = getenv("PLUMBLINE_TEST_EXPECTED");
  FILE* file = path ? fopen(path, "rb") : NULL;
  if (file) fclose(file);
  return (void)m, (void)n, fill(p, out, 1);
}
/* The judge's descriptors and memory: what may be reached of them is reported as the result. */
KERNEL(looks_for_the_judge) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
  int found = open(path, O_RDONLY) >= 0;
  for (int descriptor = 6; descriptor < 64; ++descriptor) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    char target[256] = "";
    if (readlink(path, target, sizeof target - 1) > 0 && !strstr(target, "/mem")) found |= 2;
  }
  snprintf(m, n, "found %d", found);
  return (void)p, (void)out, 100 + found;
}
KERNEL(talks) {
  puts("this is no JSON");
  fflush(stdout);
  return (void)m, (void)n, fill(p, out, 0);
}

static int supports(const plumbline_problem* p, int32_t pass) {
  const int32_t not_computed = PLUMBLINE_HAS_ROPE | PLUMBLINE_HAS_SOFTCAP | PLUMBLINE_HAS_SINKS |
                               PLUMBLINE_HAS_MASK | PLUMBLINE_HAS_VALUE_DIM |
                               PLUMBLINE_HAS_LSE_GRADIENT | PLUMBLINE_HAS_DROPOUT |
                               PLUMBLINE_HAS_STRIDES | PLUMBLINE_HAS_PACKED_SEQUENCES;
  return (void)pass, p->format == PLUMBLINE_FP32 && p->bias == PLUMBLINE_NOPE &&
                         !(plumbline_features(p) & not_computed);
}
KERNEL(forks) {
  return fork() < 0 ? 1 : gives_zeros(p, out, m, n); /* the child returns as well */
}
KERNEL(calls_nothing) {
  int (*volatile nothing)(void) = NULL;
  return (void)p, (void)out, (void)m, (void)n, nothing();
}
/* With several heads a fault, with one another. */
KERNEL(crashes_with_two_heads) {
  if (p->heads > 1) *(volatile int*)NULL = 1;
  return gives_zeros(p, out, m, n);
}
static int supports_reads(const plumbline_problem* p, int32_t pass) {
  return supports(p, pass) && (!p->lengths || p->lengths[0] >= 0);
}
static int supports_hangs(const plumbline_problem* p, int32_t pass) {
  return supports(p, pass) && hangs(p, NULL, NULL, 0);
}

#define CONTRACT                                                    \
  {                                                                 \
    { .unit_roundoff = 0x1p-24, .exp_error = 0x1p-20, .splits = 1 } \
  }
#define ENTRY(name) \
  { #name, CONTRACT, 1, supports, name, 0, 0, PLUMBLINE_HOST_MEMORY, 0 }
static const plumbline_kernel kernels[] = {
    ENTRY(null_pointer),
    ENTRY(aborts),
    ENTRY(exits),
    ENTRY(divides_by_zero),
    ENTRY(uses_up_the_stack),
    ENTRY(hangs),
    ENTRY(writes_to_q),
    ENTRY(writes_past_lse),
    ENTRY(writes_before_o),
    ENTRY(reads_past_k),
    ENTRY(gives_zeros),
    ENTRY(gives_nan),
    ENTRY(gives_its_input),
    ENTRY(gives_nothing),
    ENTRY(reads_a_file),
    ENTRY(looks_for_the_judge),
    ENTRY(talks),
    ENTRY(returns_early),
    ENTRY(returns_much_too_early),
    ENTRY(takes_its_time),
    ENTRY(writes_to_no_address),
    ENTRY(crashes_with_two_heads),
    ENTRY(calls_nothing), ENTRY(forks),
    {"supports_reads", CONTRACT, 1, supports_reads, gives_zeros, 0, 0, 0, 0},
    {"supports_hangs", CONTRACT, 1, supports_hangs, gives_zeros, 0, 0, 0, 0}};
static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "bad kernels", "CPU",
                                          sizeof kernels / sizeof kernels[0], kernels};

/* PLUMBLINE_TEST_LOADING asks for what goes wrong before any kernel runs. */
const plumbline_library* plumbline_kernel_library(void) {
  static plumbline_library changed;
  const char* how = getenv("PLUMBLINE_TEST_LOADING");
  if (how && !strcmp(how, "crash")) *(volatile int*)NULL = 1;
  if (how && !strcmp(how, "exit")) exit(5);
  if (how && !strcmp(how, "none")) return NULL;
  changed = library;
  if (how && !strcmp(how, "version")) changed.abi_version = 99;
  if (how && !strcmp(how, "twice")) {
    static plumbline_kernel two[2];
    two[0] = two[1] = kernels[0];
    changed.kernels = two;
    changed.kernel_count = 2;
  }
  return &changed;
}
