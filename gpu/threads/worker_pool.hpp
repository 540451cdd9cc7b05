// SPDX-License-Identifier: Apache-2.0
// Threads of the operating system that outlive a launch, and help with the next: of the emulation,
// and of the software device.
#ifndef PLUMBLINE_GPU_THREADS_WORKER_POOL_HPP
#define PLUMBLINE_GPU_THREADS_WORKER_POOL_HPP

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace plumbline {

class WorkerPool {
 public:
  WorkerPool() = default;
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Calls `work` here, and on up to `helpers` other threads at the same time. It must return once
  /// nothing is left to do, and must not throw. A thread that has not begun when it returns here is
  /// not waited for: on a busy machine that would take longer than a small launch. Several threads
  /// may call this at a time.
  void run(unsigned helpers, const std::function<void()>& work);

 private:
  struct Job {
    const std::function<void()>& work;
    unsigned wanted;      // helpers that may still begin
    unsigned active = 0;  // and those that are at it
  };

  void help();

  std::mutex mutex_;
  std::condition_variable more_, done_;
  std::list<Job> jobs_;
  std::vector<std::thread> threads_;
  bool ends_ = false;
};

}  // namespace plumbline

#endif
