// SPDX-License-Identifier: Apache-2.0
#include "threads/worker_pool.hpp"

#include <algorithm>

namespace plumbline {

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(unsigned helpers, const std::function<void()>& work) {
  if (helpers == 0) return work();
  std::list<Job> own;
  own.push_back({work, helpers});
  const auto job = own.begin();
  {
    const std::lock_guard lock(mutex_);
    while (threads_.size() < helpers) threads_.emplace_back([this] { help(); });
    jobs_.splice(jobs_.end(), own);
  }
  for (unsigned n = 0; n < helpers; ++n) more_.notify_one();
  work();
  std::unique_lock lock(mutex_);
  job->wanted = 0;
  done_.wait(lock, [&] { return job->active == 0; });
  jobs_.erase(job);
}

void WorkerPool::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto job = jobs_.end();
    more_.wait(lock, [&] {
      job = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& j) { return j.wanted > 0; });
      return ends_ || job != jobs_.end();
    });
    if (job == jobs_.end()) return;
    --job->wanted;
    ++job->active;
    lock.unlock();
    job->work();
    lock.lock();
    if (--job->active == 0) done_.notify_all();
  }
}

}  // namespace plumbline
