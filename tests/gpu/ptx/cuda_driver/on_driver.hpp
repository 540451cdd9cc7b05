// SPDX-License-Identifier: Apache-2.0
// What the tests of the driver share: a module by hand, and the primary context.
#pragma once

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "tests/gpu/ptx/cuda_driver/driver_functions.hpp"

namespace plumbline::ptx::cuda {

inline std::ostream& operator<<(std::ostream& out, Error error) {
  const char* name = nullptr;
  test::cuGetErrorName(error, &name);
  return out << (name ? name : "no error of the driver's") << " (" << static_cast<int>(error)
             << ')';
}

}  // namespace plumbline::ptx::cuda

namespace plumbline::test {

inline const std::string kernels = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .global .align 4 .u32 counter = 7;

// p[i] *= by for i < n
.visible .entry scale(.param .u64 p, .param .f32 by, .param .u32 n)
{
  .reg .pred %q;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [p];
  ld.param.f32 %f1, [by];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %q, %r5, %r1;
  @%q bra done;
  mul.wide.u32 %d2, %r5, 4;
  add.s64 %d3, %d1, %d2;
  ld.global.f32 %f2, [%d3];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%d3], %f3;
done:
  ret;
}

// to[0] = counter, 1024 bytes of shared memory
.visible .entry count(.param .u64 to)
.maxntid 256, 1, 1
{
  .reg .pred %q;
  .reg .b32 %r<4>;
  .reg .b64 %d<2>;
  .shared .align 4 .b8 room[1024];
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %q, %r3, 0;
  @%q bra done;
  ld.param.u64 %d1, [to];
  ld.global.u32 %r1, [counter];
  st.shared.u32 [room], %r1;
  ld.shared.u32 %r2, [room];
  st.global.u32 [%d1], %r2;
done:
  ret;
}
)";

constexpr Error success = Error::success;

/// The primary context, current in the thread of the test.
struct InContext {
  InContext() {
    BOOST_TEST_REQUIRE(cuInit(0) == success);
    Context* context = nullptr;
    BOOST_TEST_REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == success);
    BOOST_TEST_REQUIRE(cuCtxSetCurrent(context) == success);
  }
  ~InContext() {
    cuCtxSetCurrent(nullptr);
    cuDevicePrimaryCtxRelease_v2(0);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
};

struct Loaded : InContext {
  Loaded() { BOOST_TEST_REQUIRE(cuModuleLoadData(&module, kernels.c_str()) == success); }
  ~Loaded() { cuModuleUnload(module); }

  Function* function(const char* name) const {
    Function* found = nullptr;
    BOOST_TEST_REQUIRE(cuModuleGetFunction(&found, module, name) == success);
    return found;
  }

  Module* module = nullptr;
};

struct OnDevice {
  explicit OnDevice(std::size_t bytes) { BOOST_TEST_REQUIRE(cuMemAlloc_v2(&at, bytes) == success); }
  ~OnDevice() { cuMemFree_v2(at); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  Address at = 0;
};

inline std::vector<float> counted(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

template <class Number>
std::vector<Number> read(Address from, std::size_t count) {
  std::vector<Number> values(count);
  BOOST_TEST(cuMemcpyDtoH_v2(values.data(), from, count * sizeof(Number)) == success);
  return values;
}

}  // namespace plumbline::test
