// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda_driver/driver.hpp"

namespace plumbline::ptx::cuda_driver {

using cuda::Error;

Error driver_error(Error error) {
  switch (error) {
    case Error::invalid_configuration:
    case Error::invalid_memcpy_direction:
      return Error::invalid_value;
    case Error::invalid_symbol:
      return Error::symbol_not_found;
    case Error::invalid_device_function:
      return Error::invalid_resource_handle;
    default:
      return error;
  }
}

}  // namespace plumbline::ptx::cuda_driver
