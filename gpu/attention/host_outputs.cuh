// SPDX-License-Identifier: Apache-2.0
// o and lse between the caller's arrays and the device.
#ifndef PLUMBLINE_GPU_ATTENTION_HOST_OUTPUTS_CUH
#define PLUMBLINE_GPU_ATTENTION_HOST_OUTPUTS_CUH

#include "attention/check_problem.cuh"
#include "attention/device_problem.cuh"

namespace plumbline::gpu {

/// Room on the device for the outputs of the forward pass and of decoding.
class HostOutputs {
 public:
  /// @param in_float o is in fp32, whatever the problem's format
  /// @param has_lse else there is no lse, whatever the caller gives
  /// @throws InvalidProblem if o or lse is missing. The stream must outlive it.
  HostOutputs(const Stream& stream, const plumbline_problem& p, const plumbline_outputs& outputs,
              bool in_float = false, bool has_lse = true)
      : stream_(stream),
        o_(stream, required(outputs.o, "o"), output_bytes(p, in_float), "o"),
        lse_(stream, has_lse ? required(outputs.lse, "lse") : nullptr, lse_count(p), "lse") {}

  plumbline_outputs on_device() const { return {o_.data(), lse_.data()}; }

  /// Waits for the stream and hands both to the caller. @throws DamagedCanary
  void deliver() {
    o_.fetch();
    lse_.fetch();
    stream_.wait();
    o_.deliver();
    lse_.deliver();
  }

 private:
  static void* required(void* pointer, const char* name) {
    require(pointer, name);
    return pointer;
  }

  const Stream& stream_;
  Output<unsigned char> o_;
  Output<float> lse_;
};

}  // namespace plumbline::gpu

#endif
