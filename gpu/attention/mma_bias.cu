// SPDX-License-Identifier: Apache-2.0
#include "attention/mma_bias.cuh"

namespace plumbline::gpu {

namespace {

/// For `dispatch_bias`: notes the family instead of running it.
struct Note {
  static constexpr BiasFamilyId id(Nope) { return BiasFamilyId::nope; }
  static constexpr BiasFamilyId id(Distance) { return BiasFamilyId::distance; }
  static constexpr BiasFamilyId id(Prefix) { return BiasFamilyId::prefix; }
  static constexpr BiasFamilyId id(Fire) { return BiasFamilyId::fire; }

  template <int D, class Bias>
  static void run(const Stream&, const Task&, BiasFamilyId* family) {
    *family = id(Bias{});
  }
};

}  // namespace

AnyBias any_bias(const Stream& stream, const Task& task) {
  BiasFamilyId family = BiasFamilyId::nope;
  dispatch_bias<Note, 32>(stream, task, &family);
  return {family, Nope::params(task.bias), Distance::params(task.bias), Prefix::params(task.bias),
          Fire::params(task.bias)};
}

}  // namespace plumbline::gpu
