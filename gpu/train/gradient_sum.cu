// SPDX-License-Identifier: Apache-2.0
#include "train/gradient_sum.cuh"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "model/upload.cuh"
#include "ops/residual.cuh"

namespace plumbline::gpu {

GradientSum::GradientSum(const Stream& stream, Communicator& communicator, std::size_t count)
    : stream_(stream), communicator_(communicator), count_(count) {}

GradientSum::Buffer GradientSum::room() {
  if (free_.empty()) throw std::logic_error("an update holds more sums than were foreseen");
  Buffer buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

std::size_t GradientSum::most_sums() const {
  std::size_t held = 0, most = 0, made = 0;
  const auto is_next = [&](auto holds) { return made < inside_.size() && holds(inside_[made]); };
  for (int part = own_.begin; part < own_.end; ++part) {  // add()
    if (is_next([&](const Addition& a) { return a.middle == part && a.end == part + 1; }))
      ++made;
    else
      most = std::max(most, ++held);
    for (; is_next([&](const Addition& a) { return a.end <= part + 1; }); ++made) --held;
  }
  for (const Addition& a : across_) {  // exchange()
    const int to = rank_of(a.begin, communicator_.size(), parts_);
    const int from = rank_of(a.middle, communicator_.size(), parts_), rank = communicator_.rank();
    if (rank == from)
      --held;
    else if (rank == to)
      most = std::max(most, held + 1);
  }
  return most;
}

PartRange GradientSum::begin(int parts) {
  const int ranks = communicator_.size(), rank = communicator_.rank();
  if (parts < ranks)
    throw std::invalid_argument("an update of " + std::to_string(parts) + " parts on " +
                                std::to_string(ranks) + " ranks");
  for (auto& [first, buffer] : sums_) free_.push_back(std::move(buffer));
  sums_.clear();
  if (parts != parts_) {
    parts_ = parts;
    own_ = parts_of(rank, ranks, parts);
    inside_.clear();
    across_.clear();
    for (const Addition& a : additions(parts)) {
      const PartRange owners = parts_of(rank_of(a.begin, ranks, parts), ranks, parts);
      if (!owners.holds({a.begin, a.end}))
        across_.push_back(a);
      else if (owners.begin == own_.begin)
        inside_.push_back(a);
    }
  }
  const std::size_t most = most_sums();
  while (free_.size() < most)
    free_.push_back(std::make_unique<DeviceBuffer<float>>(stream_, count_));
  next_ = own_.begin;
  made_ = 0;
  return own_;
}

void GradientSum::add_to(int begin, const float* gradient) {
  float* sum = sums_.at(begin)->data();
  gpu::add<float>(stream_, sum, gradient, sum, count_);
}

void GradientSum::add_sums(const Addition& a) {
  Buffer right = std::move(sums_.at(a.middle));
  sums_.erase(a.middle);
  add_to(a.begin, right->data());
  free_.push_back(std::move(right));  // its next use comes later in the stream
}

void GradientSum::add(const float* gradient) {
  if (next_ >= own_.end) throw std::logic_error("this rank has no further part");
  const int part = next_++;
  const auto is_next = [&](auto holds) { return made_ < inside_.size() && holds(inside_[made_]); };
  if (is_next([&](const Addition& a) { return a.middle == part && a.end == part + 1; })) {
    add_to(inside_[made_++].begin, gradient);  // without a copy
  } else {
    Buffer own = room();
    copy_on_device(stream_, gradient, count_, own->data());
    sums_[part] = std::move(own);
  }
  while (is_next([&](const Addition& a) { return a.end <= next_; })) add_sums(inside_[made_++]);
}

void GradientSum::exchange(const Addition& a) {
  const int to = rank_of(a.begin, communicator_.size(), parts_);
  const int from = rank_of(a.middle, communicator_.size(), parts_), rank = communicator_.rank();
  if (to == from) {
    if (rank == to) add_sums(a);
  } else if (rank == from) {
    Buffer sum = std::move(sums_.at(a.middle));
    sums_.erase(a.middle);
    stream_.wait();
    communicator_.send(sum->data(), count_, to);
    free_.push_back(std::move(sum));
  } else if (rank == to) {
    Buffer sum = room();
    stream_.wait();
    communicator_.receive(sum->data(), count_, from);
    add_to(a.begin, sum->data());
    free_.push_back(std::move(sum));
  }
}

const float* GradientSum::finish() {
  if (parts_ == 0 || next_ != own_.end)
    throw std::logic_error("an update lacks a part of this rank");
  for (const Addition& a : across_) exchange(a);
  return communicator_.rank() == 0 ? sums_.at(0)->data() : nullptr;
}

}  // namespace plumbline::gpu
