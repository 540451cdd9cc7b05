// SPDX-License-Identifier: Apache-2.0
// The families of instructions, each in a file of its name in families/.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_FAMILIES_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_FAMILIES_HPP

#include "tests/gpu/ptx/conformance/row.hpp"

namespace plumbline::ptx::conformance {

Family integer_arithmetic();
Family integer_bits();
Family compare();
Family float_arithmetic();
Family half_arithmetic();
Family convert();
Family convert_packed();
Family approximate();
Family warp();
Family memory();
Family move();
Family atomics();
Family contention();
Family matrix();
Family mma();
Family wmma();
Family wgmma();
Family bulk();
Family tensor_copies();
Family control();
Family calls();
Family barriers();
Family asynchronous();

struct Named {
  const char* name;
  Family (*make)();
};

inline constexpr Named families[] = {
    {"integer_arithmetic", integer_arithmetic},
    {"integer_bits", integer_bits},
    {"compare", compare},
    {"float_arithmetic", float_arithmetic},
    {"half_arithmetic", half_arithmetic},
    {"convert", convert},
    {"convert_packed", convert_packed},
    {"approximate", approximate},
    {"warp", warp},
    {"memory", memory},
    {"move", move},
    {"atomics", atomics},
    {"contention", contention},
    {"matrix", matrix},
    {"mma", mma},
    {"wmma", wmma},
    {"wgmma", wgmma},
    {"bulk", bulk},
    {"tensor_copies", tensor_copies},
    {"control", control},
    {"calls", calls},
    {"barriers", barriers},
    {"asynchronous", asynchronous},
};

}  // namespace plumbline::ptx::conformance

#endif
