# SPDX-License-Identifier: Apache-2.0
# Compiler settings that hold for every folder.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Debug information is a tenth of the build. Only the sanitizers' reports need any, line numbers, and the
# kernels, which gpu/CMakeLists.txt tells.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -DNDEBUG")

option(PLUMBLINE_BUILD_TESTS "Build the tests" ON)
set(PLUMBLINE_CUDA "AUTO" CACHE STRING "Build the CUDA targets: ON, OFF, or AUTO (where nvcc is)")
# Is there a GPU that could run them? (Asked for by name, they are built and tested without one, too.)
set(PLUMBLINE_RUNS_CUDA OFF)
if(PLUMBLINE_CUDA STREQUAL "ON" OR EXISTS /dev/nvidiactl OR EXISTS /dev/dxg)
  set(PLUMBLINE_RUNS_CUDA ON)
endif()
set(PLUMBLINE_SANITIZE "" CACHE STRING "address, thread or nothing")
if(PLUMBLINE_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-g1>)
endif()
# GCC collects its garbage from 128 MB on, again and again, while a test of the equations takes 1.6 GB
# of it: a tenth of the build.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()

# The equations own their summation order, and the golden numbers their bits: no contraction into
# fused multiply-adds, no fast-math, no instruction sets beyond the architecture's baseline.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
                    $<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
                    # Members that an initializer leaves out have their default on purpose.
                    $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>
                    # `#pragma unroll` of the kernels.
                    $<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-pragmas>)
# A switch over methods names every one: whoever adds one and forgets a place is told it here.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Werror=switch>)

find_program(PLUMBLINE_CCACHE ccache)
if(PLUMBLINE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PLUMBLINE_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${PLUMBLINE_CCACHE})
endif()

# For a wheel, which finds nothing but the C library where it is installed. Not MPFI, MPFR and GMP:
# Debian's libmpfr.a has thread-local variables of a program's kind, which no shared library can link.
# auditwheel copies these three into the wheel.
option(PLUMBLINE_STANDALONE "Link what is not the C library, MPFI, MPFR or GMP statically; no MPI" OFF)
if(PLUMBLINE_STANDALONE)
  set(Boost_USE_STATIC_LIBS ON)
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--as-needed -Wl,--gc-sections -Wl,--exclude-libs,ALL)
endif()

find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Boost 1.74 REQUIRED COMPONENTS context unit_test_framework)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
if(PLUMBLINE_STANDALONE)  # Debian has no static one
  set_property(TARGET fmt::fmt PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
endif()
find_package(MPFI REQUIRED)
set(PLUMBLINE_MPFI MPFI::MPFI)
find_package(rapidcheck REQUIRED)
find_package(SentencePiece REQUIRED)
find_package(LZ4 REQUIRED)
find_package(zstd REQUIRED)
