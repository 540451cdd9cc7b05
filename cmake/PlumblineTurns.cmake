# SPDX-License-Identifier: Apache-2.0
# What `./plumbline test` leaves to CI and to `./plumbline test --all` (label ci): tests of the tests, and long ones. A run
# of CI has one of sixteen turns, which the commit chooses, and builds and runs those of its turn, by a label and a target
# of its number.
set(PLUMBLINE_TURNS 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
list(LENGTH PLUMBLINE_TURNS PLUMBLINE_TURN_COUNT)

# Which turns a group of tests has, so that each run takes about as long: 5 minutes on two cores. nvcc takes as long by
# itself, and has every second one: of these one half judges the kernels, the other whole models.
set(PLUMBLINE_TURNS_OF_NVCC 0 4 8 12)
set(PLUMBLINE_TURNS_OF_NVCC_MODELS 2 6 10 14)
set(PLUMBLINE_TURNS_OF_ADDRESS 1)         # sanitized builds
set(PLUMBLINE_TURNS_OF_THREAD 5 13)
set(PLUMBLINE_TURNS_OF_HUGE_ARRAYS 3)     # one core and most of the memory, for minutes
set(PLUMBLINE_TURNS_OF_CONFORMANCE 7)     # of the software device
set(PLUMBLINE_TURNS_OF_DECODERS 7)
set(PLUMBLINE_TURNS_OF_ADJOINTS 9)
set(PLUMBLINE_TURNS_OF_CONTRACTED 11)     # kernels with fused multiply-adds
set(PLUMBLINE_TURNS_OF_NAMING 7 9 11 15)  # of each quarter one
set(PLUMBLINE_TURNS_OF_HISTORICAL 9 9 11 11)
set(PLUMBLINE_TURNS_OF_JUDGE 15)
set(PLUMBLINE_TURNS_OF_MODELS 15)
set(PLUMBLINE_TURNS_OF_PYTORCH 15)        # the models once more
set(PLUMBLINE_TURNS_OF_PYTHON 3 9)        # the package's
set(PLUMBLINE_TURNS_OF_RANKS 1 7 15)      # several processes; kernels of other frameworks

add_custom_target(tests_in_ci)
foreach(turn ${PLUMBLINE_TURNS})
  add_custom_target(tests_in_ci_${turn})
endforeach()

# plumbline_test_in_ci(TEST ... [GROUP name] [BY_TURNS] [BUILDS target ...]): tests for CI and `--all`. GROUP: in the
# turns of that group, else in all. BY_TURNS: each of the tests in one of them, the next one. The targets are built for
# these tests alone.
function(plumbline_test_in_ci)
  cmake_parse_arguments(ARG "BY_TURNS" "GROUP" "BUILDS" ${ARGN})
  set(possible PLUMBLINE_TURNS)
  if(ARG_GROUP)
    set(possible PLUMBLINE_TURNS_OF_${ARG_GROUP})
  endif()
  if(NOT DEFINED ${possible})
    message(FATAL_ERROR "GROUP is ${ARG_GROUP}; expected one that cmake/PlumblineTurns.cmake has turns of")
  endif()
  set(built_in "")
  foreach(test ${ARG_UNPARSED_ARGUMENTS})
    set(turns ${${possible}})
    if(ARG_BY_TURNS)
      list(LENGTH turns length)
      get_property(given GLOBAL PROPERTY ${possible}_GIVEN)
      if(NOT given)
        set(given 0)
      endif()
      math(EXPR place "${given} % ${length}")
      math(EXPR given "${given} + 1")
      set_property(GLOBAL PROPERTY ${possible}_GIVEN ${given})
      list(GET turns ${place} turns)
    endif()
    list(APPEND built_in ${turns})
    list(TRANSFORM turns PREPEND ci_)
    set_property(TEST ${test} APPEND PROPERTY LABELS ci ${turns})
  endforeach()
  if(ARG_BUILDS)
    set_target_properties(${ARG_BUILDS} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(tests_in_ci ${ARG_BUILDS})
    list(REMOVE_DUPLICATES built_in)
    foreach(turn ${built_in})
      add_dependencies(tests_in_ci_${turn} ${ARG_BUILDS})
    endforeach()
  endif()
endfunction()
