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

AnyBias any_bias(const BiasInputs& inputs) {
  BiasFamilyId family = BiasFamilyId::nope;
  Task task{};
  task.bias.method = inputs.method;
  const Stream stream;
  dispatch_bias<Note, 32>(stream, task, &family);
  return {family, Nope::params(inputs), Distance::params(inputs), Prefix::params(inputs),
          Fire::params(inputs)};
}

}  // namespace plumbline::gpu
