// SPDX-License-Identifier: Apache-2.0
// CUDA's errors: their names and words, and which of them stands for what the device throws.
#ifndef PLUMBLINE_GPU_PTX_CUDA_ERRORS_HPP
#define PLUMBLINE_GPU_PTX_CUDA_ERRORS_HPP

#include "ptx/cuda/abi.hpp"
#include "ptx/device.hpp"

namespace plumbline::ptx::cuda {

/// "cudaErrorInvalidValue"; "unrecognized error code" of a number that this runtime does not give.
const char* name_of(Error error);
/// "CUDA_ERROR_INVALID_VALUE"; null of a number that is no error of the driver's, or not of this
/// one.
const char* driver_name_of(Error error);
/// "invalid argument"
const char* words_of(Error error);

Error error_of(Refused::Reason reason);
Error error_of(Fault::Kind kind);

/// A call that fails without more to say than the error.
struct Failure {
  Error error;
};

/// Throws Failure unless it holds.
inline void expect(bool holds, Error otherwise = Error::invalid_value) {
  if (!holds) throw Failure{otherwise};
}

/// The only one is number 0.
inline void expect_device(int device) { expect(device == 0, Error::invalid_device); }

}  // namespace plumbline::ptx::cuda

#endif
