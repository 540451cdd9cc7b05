// SPDX-License-Identifier: Apache-2.0
// Streams, events and synchronisation. Whatever was asked for before has been done.
#include <chrono>

#include "ptx/cudart/runtime.hpp"

namespace plumbline::ptx::cudart {

struct Stream {
  unsigned flags;
};

struct Event {
  std::optional<std::chrono::steady_clock::time_point> recorded;
};

}  // namespace plumbline::ptx::cudart

using namespace plumbline::ptx::cudart;

namespace {

Error synchronize(const Stream* stream) {
  return run([&](Runtime& runtime) { expect_stream(runtime, stream); });
}

void expect_event(const Event* event) { expect(event != nullptr, Error::invalid_resource_handle); }

}  // namespace

PLUMBLINE_CUDART Error cudaStreamCreateWithFlags(Stream** stream, unsigned flags) {
  return run([&](Runtime& runtime) {
    expect(stream != nullptr && flags <= 1);
    *stream = new Stream{flags};
    runtime.streams.insert(*stream);
  });
}

PLUMBLINE_CUDART Error cudaStreamCreate(Stream** stream) {
  return cudaStreamCreateWithFlags(stream, 0);
}

PLUMBLINE_CUDART Error cudaStreamCreateWithPriority(Stream** stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

PLUMBLINE_CUDART Error cudaStreamDestroy(Stream* stream) {
  return run([&](Runtime& runtime) {
    expect(runtime.streams.erase(stream) == 1, Error::invalid_resource_handle);
    delete stream;
  });
}

PLUMBLINE_CUDART Error cudaStreamSynchronize(Stream* stream) { return synchronize(stream); }

PLUMBLINE_CUDART Error cudaStreamQuery(Stream* stream) { return synchronize(stream); }

PLUMBLINE_CUDART Error cudaStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  return run([&](Runtime& runtime) {
    expect_stream(runtime, stream);
    expect_event(event);
  });
}

PLUMBLINE_CUDART Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return run([&](Runtime&) {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
  });
}

PLUMBLINE_CUDART Error cudaDeviceSynchronize() { return synchronize(nullptr); }

PLUMBLINE_CUDART Error cudaEventCreateWithFlags(Event** event, unsigned) {
  return run([&](Runtime&) {
    expect(event != nullptr);
    *event = new Event;
  });
}

PLUMBLINE_CUDART Error cudaEventCreate(Event** event) { return cudaEventCreateWithFlags(event, 0); }

PLUMBLINE_CUDART Error cudaEventDestroy(Event* event) {
  return run([&](Runtime&) {
    expect_event(event);
    delete event;
  });
}

PLUMBLINE_CUDART Error cudaEventRecord(Event* event, Stream* stream) {
  return run([&](Runtime& runtime) {
    expect_stream(runtime, stream);
    expect_event(event);
    event->recorded = std::chrono::steady_clock::now();
  });
}

PLUMBLINE_CUDART Error cudaEventRecordWithFlags(Event* event, Stream* stream, unsigned) {
  return cudaEventRecord(event, stream);
}

PLUMBLINE_CUDART Error cudaEventSynchronize(Event* event) {
  return run([&](Runtime&) { expect_event(event); });
}

PLUMBLINE_CUDART Error cudaEventQuery(Event* event) { return cudaEventSynchronize(event); }

PLUMBLINE_CUDART Error cudaEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  return run([&](Runtime&) {
    expect(milliseconds != nullptr);
    expect_event(from);
    expect_event(to);
    expect(from->recorded && to->recorded, Error::invalid_resource_handle);
    *milliseconds =
        std::chrono::duration<float, std::milli>(*to->recorded - *from->recorded).count();
  });
}

/// As programs compiled with CUDA 12.8 call it.
PLUMBLINE_CUDART Error cudaEventElapsedTime_v2(float* milliseconds, Event* from, Event* to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}
