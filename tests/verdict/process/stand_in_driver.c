/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the CUDA driver, libcuda.so.1, where there is none: device memory is memory of the
   process. It is as late as CUDA may be: work begins when the host waits for it, and copies to the
   device arrive then, after it, for its stream does not wait for theirs. Calls in a wrong order
   fail, as CUDA's do. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, NO_DEVICE = 100, INVALID_CONTEXT = 201,
  ILLEGAL_ADDRESS = 700
};

static struct { char* begin; size_t bytes; } allocations[16];
static struct { char* to; char* bytes; size_t size; } copies[16];
static int copy_count, initialized, retained;
static const int primary = 1;
static void* current;
static int lost; /* the error that stays */
static void (*work)(void*);
static void* argument;

static size_t used_bytes(void) {
  size_t used = 0;
  for (int n = 0; n < 16; ++n) used += allocations[n].begin ? allocations[n].bytes : 0;
  return used;
}
/* What the driver has not: for kernels that are to do something with it. */
int stand_in_allocations(void) {
  int count = 0;
  for (int n = 0; n < 16; ++n) count += allocations[n].begin != NULL;
  return count;
}
int stand_in_owns(const void* address) {
  for (int n = 0; n < 16; ++n) {
    const char *at = address, *begin = allocations[n].begin;
    if (begin && at >= begin && at < begin + allocations[n].bytes) return 1;
  }
  return 0;
}
void stand_in_launch(void (*function)(void*), void* with) { work = function, argument = with; }
void stand_in_lose_device(void) { lost = ILLEGAL_ADDRESS; }

static int ready(void) {
  return !initialized ? NOT_INITIALIZED : current != (void*)&primary ? INVALID_CONTEXT : lost;
}
int cuInit(unsigned flags) {
  if (flags != 0) return INVALID_VALUE;
  const char* how = getenv("PLUMBLINE_TEST_CUDA");
  if (how && !strcmp(how, "no device")) return NO_DEVICE;
  return initialized = 1, SUCCESS;
}
int cuDeviceGet(int* device, int number) {
  if (!initialized) return NOT_INITIALIZED;
  return *device = 7, number == 0 ? SUCCESS : INVALID_VALUE;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (!initialized) return NOT_INITIALIZED;
  return *context = (void*)&primary, ++retained, device == 7 ? SUCCESS : INVALID_VALUE;
}
int cuCtxSetCurrent(void* context) {
  if (context && !retained) return INVALID_CONTEXT;
  return current = context, SUCCESS;
}
int cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
  const char* limit = getenv("PLUMBLINE_TEST_CUDA_BYTES");
  if (ready()) return ready();
  if (limit && used_bytes() + bytes > strtoull(limit, NULL, 10)) return OUT_OF_MEMORY;
  for (int n = 0; n < 16; ++n) {
    if (allocations[n].begin) continue;
    allocations[n].begin = aligned_alloc(256, (bytes + 255) / 256 * 256);
    allocations[n].bytes = bytes;
    return *address = (unsigned long long)allocations[n].begin, SUCCESS;
  }
  return OUT_OF_MEMORY;
}
int cuMemFree_v2(unsigned long long address) {
  if (ready()) return ready();
  for (int n = 0; n < 16; ++n) {
    if (!address || allocations[n].begin != (char*)address) continue;
    free(allocations[n].begin);
    return allocations[n].begin = NULL, SUCCESS;
  }
  return INVALID_VALUE;
}
static int inside(unsigned long long address, size_t bytes) {
  return stand_in_owns((void*)address) && stand_in_owns((char*)address + bytes - 1);
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
  if (ready()) return ready();
  if (!inside(to, bytes) || copy_count == 16) return INVALID_VALUE;
  copies[copy_count].to = (char*)to;
  copies[copy_count].bytes = memcpy(malloc(bytes), from, bytes);
  copies[copy_count++].size = bytes;
  return SUCCESS;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {
  if (ready()) return ready();
  if (!inside(from, bytes)) return INVALID_VALUE;
  return memcpy(to, (void*)from, bytes), SUCCESS;
}
int cuCtxSynchronize(void) {
  if (work) work(argument), work = NULL;
  for (int n = 0; n < copy_count; ++n) {
    memcpy(copies[n].to, copies[n].bytes, copies[n].size);
    free(copies[n].bytes);
  }
  copy_count = 0;
  return ready();
}
int cuGetErrorString(int error, const char** words) {
  *words = error == OUT_OF_MEMORY     ? "out of memory"
           : error == NO_DEVICE       ? "no CUDA-capable device is detected"
           : error == ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
                                      : NULL;
  return *words ? SUCCESS : INVALID_VALUE;
}
