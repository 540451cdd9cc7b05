// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::run;

namespace {

/// What the host waits for must not be part of a capture.
Error awaited(const Stream* stream) {
  const Asynchronous call;
  return run([&](Process& process) {
    process.streams.expect_not_captured(process.streams.of(stream).point);
    process.streams.catch_up(stream);
  });
}

Error awaited(const Event* event) {
  const Asynchronous call;
  return run([&](Process& process) {
    process.streams.expect_not_captured(process.streams.events.of(event).point);
    process.streams.catch_up(process.streams.events.of(event));
  });
}

}  // namespace

PLUMBLINE_CUDA Error cuStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  const Asynchronous call;
  return run([&](Process& process) {
    expect(stream != nullptr && flags <= 1);
    *stream = &process.streams.add(&process.current(), flags, priority);
  });
}

PLUMBLINE_CUDA Error cuStreamCreate(Stream** stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

PLUMBLINE_CUDA Error cuStreamDestroy_v2(Stream* stream) {
  return run([&](Process& process) { process.streams.remove(stream); });
}

PLUMBLINE_CUDA Error cuStreamSynchronize(Stream* stream) { return awaited(stream); }

PLUMBLINE_CUDA Error cuStreamQuery(Stream* stream) { return awaited(stream); }

PLUMBLINE_CUDA Error cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  const Asynchronous call;
  return run(
      [&](Process& process) { process.streams.wait(stream, process.streams.events.of(event)); });
}

PLUMBLINE_CUDA Error cuStreamGetFlags(Stream* stream, unsigned* flags) {
  return run([&](Process& process) {
    expect(flags != nullptr);
    *flags = process.streams.of(stream).flags;
  });
}

PLUMBLINE_CUDA Error cuStreamGetPriority(Stream* stream, int* priority) {
  return run([&](Process& process) {
    expect(priority != nullptr);
    *priority = process.streams.of(stream).priority;
  });
}

PLUMBLINE_CUDA Error cuStreamGetId(Stream* stream, unsigned long long* id) {
  return run([&](Process& process) {
    expect(id != nullptr);
    *id = process.streams.of(stream).number;
  });
}

PLUMBLINE_CUDA Error cuStreamGetDevice(Stream* stream, int* device) {
  return run([&](Process& process) {
    expect(device != nullptr);
    process.streams.of(stream);
    *device = 0;
  });
}

PLUMBLINE_CUDA Error cuStreamGetCtx(Stream* stream, const Context** context) {
  return run([&](Process& process) {
    expect(context != nullptr);
    const Context* owner = process.streams.of(stream).context;
    *context = owner ? owner : &process.current();
  });
}

/// All that managed memory could be attached to is one device.
PLUMBLINE_CUDA Error cuStreamAttachMemAsync(Stream* stream, Address address, std::size_t,
                                            unsigned) {
  return run([&](Process& process) {
    process.streams.of(stream);
    expect(process.allocation_with(address) != nullptr);
  });
}

PLUMBLINE_CUDA Error cuLaunchHostFunc(Stream* stream, void (*function)(void*), void* data) {
  bool now = false;
  const Error error = run([&](Process& process) {
    now = process.streams.submit(stream, HostCall{function, data});
  });
  if (now) function(data);
  return error;
}

/// A callback is told the error of what came before it: there was none.
PLUMBLINE_CUDA Error cuStreamAddCallback(Stream* stream, void (*callback)(Stream*, Error, void*),
                                         void* data, unsigned flags) {
  const Error error = run([&](Process& process) {
    expect(callback != nullptr && flags == 0);
    process.streams.expect_not_captured(process.streams.of(stream).point);
  });
  if (error == Error::success) callback(stream, Error::success, data);
  return error;
}

PLUMBLINE_CUDA Error cuEventCreate(Event** event, unsigned flags) {
  const Asynchronous call;
  return run([&](Process& process) {
    expect(event != nullptr && flags <= 7);
    *event = &process.streams.events.add({&process.current(), flags});
  });
}

PLUMBLINE_CUDA Error cuEventDestroy_v2(Event* event) {
  return run([&](Process& process) { process.streams.events.remove(event); });
}

PLUMBLINE_CUDA Error cuEventRecord(Event* event, Stream* stream) {
  const Asynchronous call;
  return run(
      [&](Process& process) { process.streams.record(process.streams.events.of(event), stream); });
}

PLUMBLINE_CUDA Error cuEventRecordWithFlags(Event* event, Stream* stream, unsigned) {
  return cuEventRecord(event, stream);
}

PLUMBLINE_CUDA Error cuEventSynchronize(Event* event) { return awaited(event); }

PLUMBLINE_CUDA Error cuEventQuery(Event* event) { return awaited(event); }

PLUMBLINE_CUDA Error cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  return run([&](Process& process) {
    expect(milliseconds != nullptr);
    *milliseconds = process.streams.milliseconds(from, to);
  });
}

PLUMBLINE_CUDA Error cuEventElapsedTime_v2(float* milliseconds, Event* from, Event* to) {
  return cuEventElapsedTime(milliseconds, from, to);
}
