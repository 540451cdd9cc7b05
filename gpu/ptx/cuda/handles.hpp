// SPDX-License-Identifier: Apache-2.0
// Objects that a program knows by their addresses. What it passes as one is looked up before it is
// used.
#ifndef PLUMBLINE_GPU_PTX_CUDA_HANDLES_HPP
#define PLUMBLINE_GPU_PTX_CUDA_HANDLES_HPP

#include <map>
#include <memory>
#include <utility>

#include "ptx/cuda/errors.hpp"

namespace plumbline::ptx::cuda {

template <class Object>
class Handles {
 public:
  Object& add(Object object = {}) {
    auto made = std::make_unique<Object>(std::move(object));
    Object& place = *made;
    all_.emplace(&place, std::move(made));
    return place;
  }

  bool has(const void* handle) const { return all_.contains(handle); }

  /// Throws Failure for what is none of them.
  Object& of(const void* handle, Error otherwise = Error::invalid_resource_handle) const {
    const auto found = all_.find(handle);
    if (found == all_.end()) throw Failure{otherwise};
    return *found->second;
  }

  /// Throws Failure for what is none of them.
  void remove(const void* handle, Error otherwise = Error::invalid_resource_handle) {
    if (all_.erase(handle) == 0) throw Failure{otherwise};
  }

  template <class Condition>
  void remove_if(const Condition& condition) {
    std::erase_if(all_, [&](const auto& entry) { return condition(*entry.second); });
  }

  template <class Use>
  void for_each(const Use& use) const {
    for (const auto& [handle, object] : all_) use(*object);
  }

 private:
  std::map<const void*, std::unique_ptr<Object>> all_;
};

}  // namespace plumbline::ptx::cuda

#endif
