// SPDX-License-Identifier: Apache-2.0
#include "support/ranks.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <vector>

#include "support/out_of_memory.hpp"

namespace plumbline {

namespace {

RankFailed described(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const BadInput& error) {
    return {bad_input, error.what()};
  } catch (const MachineLacks& error) {
    return {machine_lacks, error.what()};
  } catch (const OutOfMemory& error) {
    return {machine_lacks, error.what()};
  } catch (const std::bad_alloc&) {
    return {machine_lacks, "not enough memory for this input"};
  } catch (const std::exception& error) {
    return {machine_lacks, std::string("internal error: ") + error.what()};
  }
}

}  // namespace

RankFailed Ranks::lowest_failure(int status, const std::string& message) {
  const auto ranks = static_cast<std::size_t>(count());
  const auto own = static_cast<std::size_t>(communicator_->rank());
  // Each rank fills its own two numbers; the others' are 0, so that the sum is exact.
  std::vector<double> said(2 * ranks);
  said[2 * own] = status;
  said[2 * own + 1] = static_cast<double>(message.size());
  communicator_->sum(said);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int how = static_cast<int>(said[2 * rank]);
    if (how == all_right) continue;
    ended_ = true;
    std::string text = message;
    text.resize(static_cast<std::size_t>(said[2 * rank + 1]));
    communicator_->broadcast(std::as_writable_bytes(std::span(text)), static_cast<int>(rank));
    if (rank > 0) text = "rank " + std::to_string(rank) + ": " + text;
    return {how, text};
  }
  return {all_right, ""};
}

void Ranks::together(const std::function<void()>& work) {
  if (count() == 1) return work();
  std::exception_ptr failure;
  RankFailed own{all_right, ""};
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
    own = described(failure);
  }
  const RankFailed lowest = lowest_failure(own.status(), own.what());
  if (failure) std::rethrow_exception(failure);
  if (lowest.status() != all_right) throw lowest;
}

void Ranks::in_step(const std::function<void()>& work) {
  waiting_ = true;
  work();
  waiting_ = false;  // not where an exception leaves
}

int Ranks::any_of(int number) {
  if (count() == 1) return number;
  std::vector<double> all(static_cast<std::size_t>(count()));  // the others' are 0
  all[static_cast<std::size_t>(communicator_->rank())] = number;
  communicator_->sum(all);
  const auto found = std::ranges::find_if(all, [](double one) { return one != 0.0; });
  return found == all.end() ? 0 : static_cast<int>(*found);
}

int Ranks::finish(int status, const std::string& message) {
  if (count() == 1 || ended_) return status;
  const RankFailed lowest = lowest_failure(status, message);
  if (status == all_right && lowest.status() != all_right) throw lowest;
  return status;
}

}  // namespace plumbline
