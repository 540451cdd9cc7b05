/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that take pointers to device memory, as the stand-in driver has it: the example in C, and
   twins of it that do what a kernel must not. */
#define plumbline_kernel_library library_of_the_example
#include "../../../docs/examples/attention.c"
#undef plumbline_kernel_library
#include <dlfcn.h>

/* Found when they are called: without a driver the library can be loaded all the same. */
static void* of_driver(const char* name) { return dlsym(dlopen("libcuda.so.1", RTLD_NOW), name); }
static int owned(const void* address) {
  return ((int (*)(const void*))of_driver("stand_in_owns"))(address);
}
static int allocations(void) { return ((int (*)(void))of_driver("stand_in_allocations"))(); }
static void launch(void (*work)(void*)) {
  ((void (*)(void (*)(void*), void*))of_driver("stand_in_launch"))(work, NULL);
}
static void lose_device(void* nothing) {
  (void)nothing, ((void (*)(void))of_driver("stand_in_lose_device"))();
}
/* A kernel may have contexts of its own. */
static void leave_no_context(void) { ((int (*)(void*))of_driver("cuCtxSetCurrent"))(NULL); }
static void take_memory(size_t bytes) {
  unsigned long long address;
  ((int (*)(unsigned long long*, size_t))of_driver("cuMemAlloc_v2"))(&address, bytes);
}

static struct {
  plumbline_problem problem;
  plumbline_outputs outputs;
} job;
static size_t o_count(void) {
  return (size_t)job.problem.batch * job.problem.heads * job.problem.queries * job.problem.head_dim;
}
static void attend(void* nothing) {
  char message[64];
  (void)nothing, forward(&job.problem, &job.outputs, message, sizeof message);
}
static void write_beyond_o(void* nothing) {
  attend(nothing);
  ((float*)job.outputs.o)[o_count()] = 1;
}
/* Over the margin of o and into lse and its own; not beyond all of the arrays. */
static void write_far_beyond_o(void* nothing) {
  for (size_t n = 0; n < o_count() + 20000; ++n) ((float*)job.outputs.o)[n] = 1;
  (void)nothing;
}
static void write_before_lse(void* nothing) {
  attend(nothing);
  job.outputs.lse[-2] = 1;
}
static void write_beyond_slopes(void* nothing) {
  attend(nothing);
  ((float*)job.problem.parameters[PLUMBLINE_SLOPES])[job.problem.heads] = 1;
}
static void change_k(void* nothing) {
  attend(nothing);
  ((float*)job.problem.k)[2] = 77;
}

static int run(const plumbline_problem* p, const plumbline_outputs* out, char* message, size_t size,
               void (*work)(void*)) {
  const void* device[] = {p->q, p->k, p->v, p->parameters[PLUMBLINE_SLOPES], out->o, out->lse};
  for (int n = 0; n < 6; ++n) {
    if (!owned(device[n])) return snprintf(message, size, "array %d is not there", n), 1;
    if ((size_t)device[n] % 256) return snprintf(message, size, "array %d is not aligned", n), 1;
  }
  if (allocations() != 1) return snprintf(message, size, "memory is left over"), 1;
  job.problem = *p, job.outputs = *out;
  return launch(work), 0;
}
#define KERNEL(name, work)                                                                 \
  static int name(const plumbline_problem* p, const plumbline_outputs* out, char* message, \
                  size_t size) {                                                           \
    const int status = run(p, out, message, size, work);                                   \
    return leave_no_context(), status;                                                     \
  }
KERNEL(right, attend)
KERNEL(writes_beyond_o, write_beyond_o)
KERNEL(writes_far_beyond_o, write_far_beyond_o)
KERNEL(writes_before_lse, write_before_lse)
KERNEL(writes_beyond_slopes, write_beyond_slopes)
KERNEL(changes_k, change_k)
KERNEL(loses_the_device, lose_device)
KERNEL(does_nothing, NULL)
static int returns_an_error(const plumbline_problem* p, const plumbline_outputs* out, char* message,
                            size_t size) {
  run(p, out, message, size, write_beyond_o);
  return snprintf(message, size, "no such launch"), 1; /* which says more */
}
static int returns_an_error_and_loses_the_device(const plumbline_problem* p,
                                                 const plumbline_outputs* out, char* message,
                                                 size_t size) {
  run(p, out, message, size, lose_device);
  return snprintf(message, size, "a bad launch"), 1;
}
static int takes_memory(const plumbline_problem* p, const plumbline_outputs* out, char* message,
                        size_t size) {
  const int status = run(p, out, message, size, attend);
  return take_memory(1 << 20), status;
}

#define ENTRY(name) {#name, {FP32}, 1, supports, name, NULL, NULL, PLUMBLINE_CUDA_MEMORY, 0}
static const plumbline_kernel kernels[] = {
    ENTRY(right), ENTRY(writes_beyond_o), ENTRY(writes_far_beyond_o), ENTRY(writes_before_lse),
    ENTRY(writes_beyond_slopes), ENTRY(changes_k), ENTRY(loses_the_device), ENTRY(does_nothing),
    ENTRY(returns_an_error), ENTRY(returns_an_error_and_loses_the_device), ENTRY(takes_memory)};
static const plumbline_library of_device = {PLUMBLINE_ABI_VERSION, "device kernels", "stand-in",
                                            sizeof kernels / sizeof kernels[0], kernels};
const plumbline_library* plumbline_kernel_library(void) { return &of_device; }
