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

# plumbline_add_test(NAME SOURCES a.cpp ... [LIBRARIES ...] [LABELS ...]): one Boost.Test program.
function(plumbline_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_definitions(${name} PRIVATE BOOST_TEST_DYN_LINK BOOST_TEST_MODULE=${name})
  target_link_libraries(${name} PRIVATE plumbline_root ${ARG_LIBRARIES} Boost::unit_test_framework)
  # The tests themselves are small; compiling every equation under every reading is what takes time.
  target_compile_options(${name} PRIVATE -O1)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
endfunction()
