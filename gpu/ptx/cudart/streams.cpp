// SPDX-License-Identifier: Apache-2.0
// Streams, events and synchronisation.
#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::run;
using plumbline::ptx::cudart::through;

extern "C" {
Error cuStreamCreateWithPriority(Stream**, unsigned, int);
Error cuStreamDestroy_v2(Stream*);
Error cuStreamSynchronize(Stream*);
Error cuStreamQuery(Stream*);
Error cuStreamWaitEvent(Stream*, Event*, unsigned);
Error cuStreamGetFlags(Stream*, unsigned*);
Error cuStreamGetPriority(Stream*, int*);
Error cuEventCreate(Event**, unsigned);
Error cuEventDestroy_v2(Event*);
Error cuEventRecord(Event*, Stream*);
Error cuEventSynchronize(Event*);
Error cuEventQuery(Event*);
Error cuEventElapsedTime(float*, Event*, Event*);
}

namespace {

Error called(Stream* stream, HostCall call) {
  bool now = false;
  const Error error = run([&](Process& process) { now = process.streams.submit(stream, call); });
  if (now) call.function(call.data);
  return error;
}

}  // namespace

PLUMBLINE_CUDA Error cudaStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  const Asynchronous call;
  return through(cuStreamCreateWithPriority, stream, flags, priority);
}

PLUMBLINE_CUDA Error cudaStreamCreateWithFlags(Stream** stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

PLUMBLINE_CUDA Error cudaStreamCreate(Stream** stream) {
  return cudaStreamCreateWithFlags(stream, 0);
}

PLUMBLINE_CUDA Error cudaStreamDestroy(Stream* stream) {
  return through(cuStreamDestroy_v2, stream);
}

PLUMBLINE_CUDA Error cudaStreamSynchronize(Stream* stream) {
  const Asynchronous call;
  return through(cuStreamSynchronize, stream);
}

PLUMBLINE_CUDA Error cudaStreamQuery(Stream* stream) {
  const Asynchronous call;
  return through(cuStreamQuery, stream);
}

PLUMBLINE_CUDA Error cudaStreamWaitEvent(Stream* stream, Event* event, unsigned flags) {
  const Asynchronous call;
  return through(cuStreamWaitEvent, stream, event, flags);
}

PLUMBLINE_CUDA Error cudaStreamGetFlags(Stream* stream, unsigned* flags) {
  return through(cuStreamGetFlags, stream, flags);
}

PLUMBLINE_CUDA Error cudaStreamGetPriority(Stream* stream, int* priority) {
  return through(cuStreamGetPriority, stream, priority);
}

PLUMBLINE_CUDA Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return run([&](Process&) {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
  });
}

PLUMBLINE_CUDA Error cudaDeviceSynchronize() {
  return run([](Process& process) { process.streams.expect_no_capture(); });
}

PLUMBLINE_CUDA Error cudaLaunchHostFunc(Stream* stream, void (*function)(void*), void* data) {
  return called(stream, {function, data});
}

/// A callback is told the error of what came before it: here that of a call that has not failed.
/// CUDA does not capture callbacks.
PLUMBLINE_CUDA Error cudaStreamAddCallback(Stream* stream, void (*callback)(Stream*, Error, void*),
                                           void* data, unsigned flags) {
  const Error error = run([&](Process& process) {
    expect(callback != nullptr && flags == 0);
    process.streams.expect_not_captured(process.streams.of(stream).point);
  });
  if (error == Error::success) callback(stream, Error::success, data);
  return error;
}

PLUMBLINE_CUDA Error cudaEventCreateWithFlags(Event** event, unsigned flags) {
  const Asynchronous call;
  return through(cuEventCreate, event, flags);
}

PLUMBLINE_CUDA Error cudaEventCreate(Event** event) { return cudaEventCreateWithFlags(event, 0); }

PLUMBLINE_CUDA Error cudaEventDestroy(Event* event) { return through(cuEventDestroy_v2, event); }

PLUMBLINE_CUDA Error cudaEventRecord(Event* event, Stream* stream) {
  const Asynchronous call;
  return through(cuEventRecord, event, stream);
}

PLUMBLINE_CUDA Error cudaEventRecordWithFlags(Event* event, Stream* stream, unsigned) {
  return cudaEventRecord(event, stream);
}

PLUMBLINE_CUDA Error cudaEventSynchronize(Event* event) {
  const Asynchronous call;
  return through(cuEventSynchronize, event);
}

PLUMBLINE_CUDA Error cudaEventQuery(Event* event) {
  const Asynchronous call;
  return through(cuEventQuery, event);
}

PLUMBLINE_CUDA Error cudaEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  return through(cuEventElapsedTime, milliseconds, from, to);
}

/// As programs compiled with CUDA 12.8 call it.
PLUMBLINE_CUDA Error cudaEventElapsedTime_v2(float* milliseconds, Event* from, Event* to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}
