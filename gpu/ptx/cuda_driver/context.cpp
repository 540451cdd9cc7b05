// SPDX-License-Identifier: Apache-2.0
// Contexts, of which each thread has a stack.
#include <algorithm>

#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::Needs;
using plumbline::ptx::cuda_driver::run;

namespace {

enum Limit : int { stack_bytes = 0, printf_bytes = 1, heap_bytes = 2, l2_fetch_bytes = 5 };

/// The limits that can be set, as CUDA has them at first.
const std::map<int, std::size_t> first_limits = {
    {stack_bytes, 1024}, {printf_bytes, 1 << 20}, {heap_bytes, 8 << 20}, {l2_fetch_bytes, 64}};

/// A context that the program names; null: the current one.
Context& context_of(Process& process, Context* context) {
  if (context == nullptr) return process.current();
  expect(process.is_context(context), Error::invalid_context);
  return *context;
}

Error created(Context** context, unsigned flags, int device) {
  return run(Needs::no_fault, [&](Process& process) {
    expect(context != nullptr);
    expect_device(device);
    Context made;
    made.flags = flags;
    *context = &process.contexts.add(std::move(made));
    process.stack().push_back(*context);
  });
}

}  // namespace

PLUMBLINE_CUDA Error cuCtxCreate_v2(Context** context, unsigned flags, int device) {
  return created(context, flags, device);
}

/// The parameters ask for a part of the device.
PLUMBLINE_CUDA Error cuCtxCreate_v3(Context** context, void* parameters, int count, unsigned flags,
                                    int device) {
  if (parameters != nullptr || count != 0) return lacks("cuCtxCreate with parameters");
  return created(context, flags, device);
}

PLUMBLINE_CUDA Error cuCtxCreate_v4(Context** context, void* parameters, unsigned flags,
                                    int device) {
  if (parameters != nullptr) return lacks("cuCtxCreate with parameters");
  return created(context, flags, device);
}

PLUMBLINE_CUDA Error cuCtxDestroy_v2(Context* context) {
  return run(Needs::init, [&](Process& process) {
    expect(process.contexts.has(context), Error::invalid_context);
    process.clear(*context);
    process.contexts.remove(context);
    auto& stack = process.stack();
    if (!stack.empty() && stack.back() == context) stack.pop_back();
  });
}

PLUMBLINE_CUDA Error cuCtxPushCurrent_v2(Context* context) {
  return run(Needs::init, [&](Process& process) {
    expect(context != nullptr && process.is_context(context), Error::invalid_context);
    process.stack().push_back(context);
  });
}

PLUMBLINE_CUDA Error cuCtxPopCurrent_v2(Context** context) {
  return run(Needs::init, [&](Process& process) {
    auto& stack = process.stack();
    expect(!stack.empty(), Error::invalid_context);
    if (context) *context = stack.back();
    stack.pop_back();
  });
}

PLUMBLINE_CUDA Error cuCtxSetCurrent(Context* context) {
  return run(Needs::init, [&](Process& process) {
    expect(context == nullptr || process.is_context(context), Error::invalid_context);
    auto& stack = process.stack();
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(context);
  });
}

PLUMBLINE_CUDA Error cuCtxGetCurrent(Context** context) {
  return run(Needs::init, [&](Process& process) {
    expect(context != nullptr);
    const auto& stack = process.stack();
    *context = stack.empty() ? nullptr : stack.back();
  });
}

PLUMBLINE_CUDA Error cuCtxGetDevice(int* device) {
  return run(Needs::init, [&](Process& process) {
    expect(device != nullptr);
    process.current();
    *device = 0;
  });
}

PLUMBLINE_CUDA Error cuCtxGetDevice_v2(int* device, Context* context) {
  return run(Needs::init, [&](Process& process) {
    expect(device != nullptr);
    context_of(process, context);
    *device = 0;
  });
}

PLUMBLINE_CUDA Error cuCtxGetFlags(unsigned* flags) {
  return run([&](Process& process) {
    expect(flags != nullptr);
    *flags = process.current().flags;
  });
}

PLUMBLINE_CUDA Error cuCtxSetFlags(unsigned flags) {
  return run([&](Process& process) { process.current().flags = flags; });
}

PLUMBLINE_CUDA Error cuCtxGetId(Context* context, unsigned long long* id) {
  return run([&](Process& process) {
    expect(id != nullptr);
    *id = reinterpret_cast<std::uintptr_t>(&context_of(process, context));
  });
}

PLUMBLINE_CUDA Error cuCtxGetApiVersion(Context* context, unsigned* version) {
  return run(Needs::init, [&](Process& process) {
    expect(version != nullptr);
    context_of(process, context);
    *version = 3020;
  });
}

PLUMBLINE_CUDA Error cuCtxSynchronize() {
  return run([](Process& process) { process.streams.expect_no_capture(); });
}

PLUMBLINE_CUDA Error cuCtxSynchronize_v2(Context* context) {
  return run([&](Process& process) {
    context_of(process, context);
    process.streams.expect_no_capture();
  });
}

PLUMBLINE_CUDA Error cuCtxGetLimit(std::size_t* value, int limit) {
  return run([&](Process& process) {
    expect(value != nullptr);
    const auto& set = process.current().limits;
    const auto found = set.find(limit), first = first_limits.find(limit);
    expect(first != first_limits.end(), Error::unsupported_limit);
    *value = found == set.end() ? first->second : found->second;
  });
}

PLUMBLINE_CUDA Error cuCtxSetLimit(int limit, std::size_t value) {
  return run([&](Process& process) {
    expect(first_limits.contains(limit), Error::unsupported_limit);
    process.current().limits[limit] = value;
  });
}

/// Hints: there is no cache.
PLUMBLINE_CUDA Error cuCtxGetCacheConfig(int* configuration) {
  return run([&](Process&) {
    expect(configuration != nullptr);
    *configuration = 0;
  });
}

PLUMBLINE_CUDA Error cuCtxSetCacheConfig(int configuration) {
  return run([&](Process&) { expect(configuration >= 0 && configuration <= 3); });
}

PLUMBLINE_CUDA Error cuCtxGetSharedMemConfig(int* configuration) {
  return cuCtxGetCacheConfig(configuration);
}

PLUMBLINE_CUDA Error cuCtxSetSharedMemConfig(int configuration) {
  return run([&](Process&) { expect(configuration >= 0 && configuration <= 2); });
}

PLUMBLINE_CUDA Error cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return run([&](Process&) {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
  });
}

PLUMBLINE_CUDA Error cuCtxResetPersistingL2Cache() {
  return run([](Process&) {});
}

/// Nothing measures between them.
PLUMBLINE_CUDA Error cuProfilerStart() {
  return run([](Process&) {});
}

PLUMBLINE_CUDA Error cuProfilerStop() {
  return run([](Process&) {});
}

PLUMBLINE_CUDA Error cuDevicePrimaryCtxRetain(Context** context, int device) {
  return run(Needs::no_fault, [&](Process& process) {
    expect(context != nullptr);
    expect_device(device);
    ++process.primary_retained;
    *context = &process.primary();
  });
}

PLUMBLINE_CUDA Error cuDevicePrimaryCtxRelease_v2(int device) {
  return run(Needs::init, [&](Process& process) {
    expect_device(device);
    expect(process.primary_retained > 0, Error::invalid_context);
    const bool last = process.primary_retained == 1 && !process.runtime_uses_primary;
    if (last) process.clear(process.primary());
    --process.primary_retained;
  });
}

PLUMBLINE_CUDA Error cuDevicePrimaryCtxReset_v2(int device) {
  return run(Needs::init, [&](Process& process) {
    expect_device(device);
    process.clear(process.primary());
  });
}

PLUMBLINE_CUDA Error cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  return run(Needs::init, [&](Process& process) {
    expect_device(device);
    process.primary().flags = flags;
  });
}

PLUMBLINE_CUDA Error cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return run(Needs::init, [&](Process& process) {
    expect(flags != nullptr && active != nullptr);
    expect_device(device);
    *flags = process.primary().flags;
    *active = process.is_context(&process.primary());
  });
}
