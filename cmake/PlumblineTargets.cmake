# SPDX-License-Identifier: Apache-2.0
# How a folder becomes a target.

# The include root of every folder but gpu/: headers are named from the repository's root.
# gpu/ has its own root (gpu/CMakeLists.txt), from which reference/ cannot be reached.
add_library(plumbline_root INTERFACE)
target_include_directories(plumbline_root INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:include/plumbline>)
# Whoever uses an installed library needs what PlumblineOptions.cmake sets for the libraries themselves.
target_compile_features(plumbline_root INTERFACE cxx_std_20)
target_compile_options(plumbline_root INTERFACE $<INSTALL_INTERFACE:-ffp-contract=off>)

# plumbline_all_headers(FOLDER): FOLDER/all.hpp, which includes every header of the folder.
function(plumbline_all_headers folder)
  file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN headers "" headers)
  set(all ${PROJECT_BINARY_DIR}/include/${folder}/all.hpp)
  file(CONFIGURE OUTPUT ${all} CONTENT "#pragma once\n${headers}" @ONLY)
  # A folder changes when a file comes or goes.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder})
  install(FILES ${all} DESTINATION include/plumbline/${folder})
endfunction()

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
  plumbline_test_program(${name} ${ARGN})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
endfunction()

# plumbline_add_tests(PROGRAM NAMES pattern SOURCES a.cpp ... [LIBRARIES ...] [LABELS ...] [HEADERS ...]
# [AT_LENGTH stem ...]): one
# program of several tests, compiled as one, since most of the compiler's work is what they include. Each
# file is a suite with the name of the file (decode.cpp and decode_test.cpp: decode_test) and a test of its own,
# with `decode` in place of the pattern's asterisk. Sets TESTS to the tests' names. Those of the stems AT_LENGTH
# include tests/at_length.hpp: each has a twin NAME_at_length, of all of its cases.
function(plumbline_add_tests program)
  cmake_parse_arguments(ARG "" "NAMES" "AT_LENGTH" ${ARGN})
  plumbline_test_program(${program} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  # A fixture of an unnamed namespace, in a file that is not the first.
  target_compile_options(${program} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set(tests "")
  foreach(source ${ARG_SOURCES})
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "_test$" "" stem ${stem})
    string(REPLACE "*" ${stem} test ${ARG_NAMES})
    add_test(NAME ${test} COMMAND ${program} --run_test=${stem}_test)
    list(APPEND tests ${test})
    if(stem IN_LIST ARG_AT_LENGTH)
      add_test(NAME ${test}_at_length COMMAND ${program} --run_test=${stem}_test)
      set_tests_properties(${test}_at_length PROPERTIES LABELS "${ARG_LABELS}" ENVIRONMENT PLUMBLINE_AT_LENGTH=1)
      plumbline_test_in_ci(${test}_at_length BY_TURNS)
    endif()
  endforeach()
  set_tests_properties(${tests} PROPERTIES LABELS "${ARG_LABELS}")
  set(TESTS ${tests} PARENT_SCOPE)
endfunction()

# The program of either; sets ARG_SOURCES and ARG_LABELS.
macro(plumbline_test_program name)
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
endmacro()

# plumbline_add_c_library(NAME source.c [OPTIONS ...] [OUTPUT file] [LINKS target ...]): lib/libNAME.so, or
# the file, in C as an author would compile it: by the compiler's own command line, since the project is
# none of C.
# @param OPTIONS of the compiler, -O2 without.
# @param LINKS shared libraries.
function(plumbline_add_c_library name source)
  cmake_parse_arguments(ARG "" "OUTPUT" "OPTIONS;LINKS" ${ARGN})
  list(TRANSFORM ARG_LINKS REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE links)
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
            -MT ${library} -I ${PROJECT_SOURCE_DIR}/kernel_abi ${source} -o ${library} ${links} -lm
    DEPENDS ${source} ${ARG_LINKS} DEPFILE ${file} VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${library})
  set_target_properties(${name} PROPERTIES PLUMBLINE_LIBRARY ${library})
endfunction()

# plumbline_folders_as_one(TARGET): the target's sources of each folder are compiled as one. Most of the
# compiler's work is what they include; this does it once. What two of them name alike has to differ.
function(plumbline_folders_as_one target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    if(IS_ABSOLUTE "${folder}")
      cmake_path(RELATIVE_PATH folder)
    endif()
    string(MAKE_C_IDENTIFIER "sources_${folder}" folder)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
endfunction()

# plumbline_mostly_includes(TARGET): the same, of sources none of which is hot.
function(plumbline_mostly_includes target)
  target_compile_options(${target} PRIVATE -Og)
  plumbline_folders_as_one(${target})
endfunction()

# plumbline_commands(TARGET): the same of the programs' commands.
function(plumbline_commands target)
  plumbline_mostly_includes(${target})
  target_link_libraries(${target} PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt)
endfunction()
