# SPDX-License-Identifier: Apache-2.0
# How a room becomes a target.

# The include root of every room but gpu/: headers are named from the repository's root.
# gpu/ has its own root (gpu/CMakeLists.txt), from which reference/ cannot be reached.
add_library(plumbline_root INTERFACE)
target_include_directories(plumbline_root INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/plumbline>)
# Whoever uses an installed room needs what PlumblineOptions.cmake sets for the rooms themselves.
target_compile_features(plumbline_root INTERFACE cxx_std_20)
target_compile_options(plumbline_root INTERFACE $<INSTALL_INTERFACE:-ffp-contract=off>)

# plumbline_add_test_headers(NAME OPTIONS ... HEADERS a.hpp ... [LIBRARIES ...]): headers that the tests
# which name them share, compiled once. The compiler accepts them only with the same options.
function(plumbline_add_test_headers name)
  cmake_parse_arguments(ARG "" "" "OPTIONS;HEADERS;LIBRARIES" ${ARGN})
  add_executable(${name} ${PROJECT_SOURCE_DIR}/tests/no_tests.cpp)
  target_compile_definitions(${name} PRIVATE BOOST_TEST_DYN_LINK BOOST_TEST_MODULE=plumbline)
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_link_libraries(${name} PRIVATE plumbline_root ${ARG_LIBRARIES} Boost::unit_test_framework)
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

# plumbline_add_test(NAME SOURCES a.cpp ... [LIBRARIES ...] [LABELS ...] [HEADERS ...]): one Boost.Test
# program; HEADERS: the shared headers, when not plumbline_test_headers.
function(plumbline_add_test name)
  cmake_parse_arguments(ARG "" "HEADERS" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS plumbline_test_headers)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_compile_definitions(${name} PRIVATE BOOST_TEST_DYN_LINK BOOST_TEST_MODULE=plumbline)
  target_link_libraries(${name} PRIVATE plumbline_root ${ARG_LIBRARIES} Boost::unit_test_framework)
  get_target_property(options ${ARG_HEADERS} COMPILE_OPTIONS)
  target_compile_options(${name} PRIVATE ${options})
  target_precompile_headers(${name} REUSE_FROM ${ARG_HEADERS})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
endfunction()

# plumbline_add_c_library(NAME source.c [OPTIONS ...] [OUTPUT file]): lib/libNAME.so, or the file, in C as
# an author would compile it: by the compiler's own command line, since the project is none of C.
# @param OPTIONS of the compiler, -O2 without.
function(plumbline_add_c_library name source)
  cmake_parse_arguments(ARG "" "OUTPUT" "OPTIONS" ${ARGN})
  find_program(PLUMBLINE_CC NAMES cc gcc clang REQUIRED)
  set(library ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lib${name}.so)
  if(ARG_OUTPUT)
    set(library ${ARG_OUTPUT})
  endif()
  if(NOT ARG_OPTIONS)
    set(ARG_OPTIONS -O2)
  endif()
  get_filename_component(source ${source} ABSOLUTE)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.d)
  add_custom_command(OUTPUT ${library}
    COMMAND ${PLUMBLINE_CC} -std=gnu11 -Wall -Wextra -Werror ${ARG_OPTIONS} -shared -fPIC -MD -MF ${file}
            -MT ${library} -I ${PROJECT_SOURCE_DIR}/kernel_abi ${source} -o ${library} -lm
    DEPENDS ${source} DEPFILE ${file} VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${library})
  set_target_properties(${name} PROPERTIES PLUMBLINE_LIBRARY ${library})
endfunction()

# plumbline_mostly_includes(TARGET): the target's sources, none of them hot, are mostly what they include:
# JSON and fmt are compiled once for all of them. The compiler accepts that only with the same options.
function(plumbline_mostly_includes target)
  target_compile_options(${target} PRIVATE -O1)
  target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json fmt::fmt)
  target_precompile_headers(${target} REUSE_FROM plumbline_json_headers)
endfunction()

# plumbline_commands(TARGET): the same for commands, whose CLI11 is larger still: several sources are
# compiled as one. What two of them name alike has to differ.
function(plumbline_commands target)
  target_compile_options(${target} PRIVATE -O1)
  target_link_libraries(${target} PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()
add_library(plumbline_json_headers STATIC ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
target_compile_options(plumbline_json_headers PRIVATE -O1)
target_link_libraries(plumbline_json_headers PRIVATE nlohmann_json::nlohmann_json fmt::fmt)
target_precompile_headers(plumbline_json_headers PRIVATE <fmt/format.h> <nlohmann/json.hpp>)
