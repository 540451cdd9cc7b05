# SPDX-License-Identifier: Apache-2.0
#[=[
plumbline_add_kernel_test(NAME name KERNEL library
  [PASS pass...] [BIAS bias...] [DTYPE format...] [CASES n] [SEED s] [TIME_LIMIT seconds]
  [ARGUMENTS argument...])

Registers the test `name`, which runs `plumbline verify --kernel` on a library of kernels
(plumbline_kernel.h) and passes when every case does.

KERNEL      a SHARED or MODULE library target, or the path of a library: of a file that is there,
            relative to the folder of the CMakeLists.txt, or an absolute one, of a file that the
            build makes
PASS, BIAS, DTYPE  only these; without: everything that the library offers
CASES       how many cases in all
SEED        of all random choices; the same seed gives the same cases
TIME_LIMIT  seconds that one call of the kernel may take
ARGUMENTS   further options of `plumbline verify`: --junit, --shard, --kernels, ...

What is left out has the default of `plumbline verify`. As with every test, enable_testing() comes
before it, and ctest does not build the library.
#]=]
function(plumbline_add_kernel_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG
    "" "NAME;KERNEL;CASES;SEED;TIME_LIMIT" "PASS;BIAS;DTYPE;ARGUMENTS")
  set(prefix "plumbline_add_kernel_test")
  if(ARG_NAME)
    string(APPEND prefix " ${ARG_NAME}")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${prefix}: \"${ARG_UNPARSED_ARGUMENTS}\" is not expected; expected NAME, "
      "KERNEL, PASS, BIAS, DTYPE, CASES, SEED, TIME_LIMIT or ARGUMENTS")
  endif()
  if(ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${prefix}: ${ARG_KEYWORDS_MISSING_VALUES} has no value")
  endif()
  foreach(required NAME KERNEL)
    if(NOT DEFINED ARG_${required})
      message(FATAL_ERROR "${prefix}: ${required} is missing")
    endif()
  endforeach()

  set(library ${ARG_KERNEL})
  if(TARGET ${ARG_KERNEL})
    get_target_property(type ${ARG_KERNEL} TYPE)
    if(NOT type MATCHES "^(SHARED|MODULE)_LIBRARY$")
      message(FATAL_ERROR
        "${prefix}: KERNEL ${ARG_KERNEL} is a ${type}; expected a SHARED or MODULE library")
    endif()
    set(library $<TARGET_FILE:${ARG_KERNEL}>)
  elseif(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_KERNEL} AND NOT IS_ABSOLUTE ${ARG_KERNEL})
    set(library ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_KERNEL})
  elseif(NOT IS_ABSOLUTE ${ARG_KERNEL} AND NOT ARG_KERNEL MATCHES "^[$]<")
    message(FATAL_ERROR "${prefix}: KERNEL \"${ARG_KERNEL}\" is neither a target that is defined "
      "above nor a file; expected a SHARED or MODULE library, the path of a file, or, of one that "
      "the build makes, its absolute path")
  endif()

  set(options "")
  foreach(keyword PASS BIAS DTYPE CASES SEED TIME_LIMIT)
    if(DEFINED ARG_${keyword})
      string(TOLOWER --${keyword} option)
      string(REPLACE _ - option ${option})
      string(REPLACE ";" "," value "${ARG_${keyword}}")
      list(APPEND options ${option} ${value})
    endif()
  endforeach()
  add_test(NAME ${ARG_NAME}
    COMMAND plumbline::program verify --kernel ${library} ${options} ${ARG_ARGUMENTS})
endfunction()
