// SPDX-License-Identifier: Apache-2.0
// Host side: streams, launches and their errors.
#ifndef PLUMBLINE_GPU_CORE_LAUNCH_CUH
#define PLUMBLINE_GPU_CORE_LAUNCH_CUH

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// A failed call of the CUDA runtime; the message begins with our file and line.
class CudaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

#if PLUMBLINE_ON_GPU
/// "file:line"
inline std::string text(std::source_location where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

/// Throws CudaError unless the call succeeded.
inline void check(cudaError_t status,
                  std::source_location where = std::source_location::current()) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // else the next launch would find this error and take it for its own
  throw CudaError(text(where) + ": " + cudaGetErrorString(status));
}

/// Whether the host waits for the end of each launch: with PLUMBLINE_WAIT_AFTER_LAUNCH=1 in the
/// environment, to see which one has failed.
inline bool waits_after_launch() {
  static const bool waits = [] {
    const char* value = std::getenv("PLUMBLINE_WAIT_AFTER_LAUNCH");
    return value && std::string(value) == "1";
  }();
  return waits;
}
#endif

/// A CUDA stream: launches and copies are done in the order in which they are asked for, while the
/// host goes on. It remembers the launches since it was last waited for. Of one thread at a time.
/// The emulation runs every launch to its end, so there it is empty.
class Stream {
 public:
  /// How often this thread has waited for a stream.
  static inline thread_local long waits = 0;

#if PLUMBLINE_ON_GPU
  Stream() { gpu::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

  /// Until all that was asked for is done. @throws CudaError, as check
  void wait(std::source_location where = std::source_location::current()) const {
    ++waits;
    check(cudaStreamSynchronize(stream_), launches_.size() == 1 ? launches_.front() : where);
    launches_.clear();
  }

  void remember(std::source_location launch) const {
    const auto is_it = [&](std::source_location known) {
      return known.line() == launch.line() && known.file_name() == launch.file_name();
    };
    if (std::none_of(launches_.begin(), launches_.end(), is_it)) launches_.push_back(launch);
  }

  /// As gpu::check, of a call that may tell what an earlier launch did wrong.
  void check(cudaError_t status,
             std::source_location where = std::source_location::current()) const {
    if (status == cudaSuccess) return;
    cudaGetLastError();
    std::string message = text(where) + ": " + cudaGetErrorString(status);
    const auto launches = std::exchange(launches_, {});
    if (launches.size() > 1 || (launches.size() == 1 && text(launches.front()) != text(where))) {
      message += ". Launches since the last wait, of which one may have failed:";
      for (const auto& launch : launches) message += " " + text(launch);
      message += ". PLUMBLINE_WAIT_AFTER_LAUNCH=1 tells which";
    }
    throw CudaError(message);
  }
#else
  Stream() = default;
  void wait() const { ++waits; }
#endif
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

#if PLUMBLINE_ON_GPU
 private:
  cudaStream_t stream_ = nullptr;
  mutable std::vector<std::source_location> launches_;  // each line once
#endif
};

/// Shape of a launch. Remembers the line that asked for it.
struct LaunchShape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  std::source_location where = std::source_location::current();
};

/// Adds up how long launches take on the device, for benchmarks. Host code of one thread.
class LaunchClock {
 public:
  /// Seconds since the last call; the first call begins the count.
  static double take() {
    running = true;
    return std::exchange(seconds, 0.0);
  }

  inline static bool running = false;
  inline static double seconds = 0.0;
};

/// One launch on the clock, from its construction to `stop`.
class TimedLaunch {
 public:
#if PLUMBLINE_ON_GPU
  explicit TimedLaunch(const Stream& stream) : stream_(stream) {
    if (!LaunchClock::running) return;
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
    check(cudaEventRecord(begin_, stream_.get()));
  }
  ~TimedLaunch() {
    if (begin_) cudaEventDestroy(begin_);
    if (end_) cudaEventDestroy(end_);
  }
  /// After the launch, before the wait for it.
  void stop() {
    if (end_) check(cudaEventRecord(end_, stream_.get()));
  }
  /// After the wait.
  void count() {
    if (!end_) return;
    float milliseconds = 0.0f;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    LaunchClock::seconds += 1e-3 * milliseconds;
  }
#else
  explicit TimedLaunch(const Stream&) {}
  void stop() {}
  void count() {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    LaunchClock::seconds += passed.count();
  }
#endif
  TimedLaunch(const TimedLaunch&) = delete;
  TimedLaunch& operator=(const TimedLaunch&) = delete;

 private:
#if PLUMBLINE_ON_GPU
  const Stream& stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
#else
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
#endif
};

/// Shared memory that a block may have on this thread's device.
inline std::size_t shared_memory_of_block() {
#if PLUMBLINE_ON_GPU
  int device = 0, bytes = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return static_cast<std::size_t>(bytes);
#else
  return emulation::shared_memory_of_block();
#endif
}

/// While one lives, launches of its thread run nothing: it notes what they ask for.
class NotedLaunches {
 public:
  NotedLaunches() { of_thread = this; }
  ~NotedLaunches() { of_thread = nullptr; }
  NotedLaunches(const NotedLaunches&) = delete;
  NotedLaunches& operator=(const NotedLaunches&) = delete;

  std::size_t shared_bytes = 0;  // the most of any launch
  dim3 grid;                     // of the last one
  inline static thread_local NotedLaunches* of_thread = nullptr;
};

/// kernel<<<grid, block, shared_bytes, stream>>>(arguments...): by nvcc a launch, for which nobody
/// waits but a LaunchClock that runs; by an ordinary compiler a run on the emulator. A fault of the
/// kernel is told by who waits for the stream. Throws CudaError, or emulation::Error.
template <class... Parameters, class... Arguments>
void launch([[maybe_unused]] const Stream& stream, const LaunchShape& shape,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (NotedLaunches* const notes = NotedLaunches::of_thread) {
    notes->shared_bytes = std::max(notes->shared_bytes, shape.shared_bytes);
    notes->grid = shape.grid;
    return;
  }
#if PLUMBLINE_ON_GPU
  // More than 48 KiB of shared memory must be asked for.
  if (shape.shared_bytes > 48 * 1024) {
    if (const std::size_t most = shared_memory_of_block(); shape.shared_bytes > most)
      throw CudaError(text(shape.where) + ": " + std::to_string(shape.shared_bytes) +
                      " bytes of shared memory; the device gives a block " + std::to_string(most));
    stream.check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(shape.shared_bytes)),
                 shape.where);
  }
  TimedLaunch timed(stream);
  kernel<<<shape.grid, shape.block, shape.shared_bytes, stream.get()>>>(arguments...);
  stream.check(cudaGetLastError(), shape.where);
  stream.remember(shape.where);
  timed.stop();
  if (LaunchClock::running || waits_after_launch()) stream.wait(shape.where);
  timed.count();
#else
  TimedLaunch timed(stream);
  const auto body = [&] { kernel(arguments...); };
  emulation::run({shape.grid, shape.block, shape.shared_bytes, shape.where,
                  [](const void* closure) { (*static_cast<const decltype(body)*>(closure))(); },
                  &body, reinterpret_cast<const void*>(kernel)});
  timed.count();
#endif
}

}  // namespace plumbline::gpu

#endif
