# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts down, and what find_package(plumbline) gives:
#   plumbline::reference          the equations, header only
#   plumbline::reference_blocked  the same at real size
#   plumbline::kernel_abi         the C interface of a kernel library
#   plumbline::cases              specs, generated cases, case files
#   plumbline::checkpoint         parameters in files with Hugging Face names
#   plumbline::verdict            bounds and judge
#   plumbline::program            the program `plumbline`
#   plumbline_add_kernel_test()   a test of a kernel library by it (PlumblineKernelTest.cmake)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(plumbline_exported root support kernel_abi kernel_process cases reference checkpoint verdict)
set(plumbline_targets "")
foreach(part ${plumbline_exported})
  if(TARGET plumbline_${part})
    set_target_properties(plumbline_${part} PROPERTIES EXPORT_NAME ${part})
    list(APPEND plumbline_targets plumbline_${part})
    if(NOT part STREQUAL root)
      get_target_property(folder plumbline_${part} SOURCE_DIR)
      file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
      cmake_path(GET folder PARENT_PATH parent)
      install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION include/plumbline/${parent}
              FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h"
              # These two are of gpu/'s models, which are not installed.
              PATTERN device_model.hpp EXCLUDE PATTERN huggingface.hpp EXCLUDE)
    endif()
  endif()
endforeach()
# Its headers are those of reference; one shared library for each instruction set comes with it.
foreach(target reference_blocked blocked_baseline blocked_v3 blocked_v4)
  if(TARGET plumbline_${target})
    set_target_properties(plumbline_${target} PROPERTIES EXPORT_NAME ${target})
    list(APPEND plumbline_targets plumbline_${target})
  endif()
endforeach()

# The program looks for its kernel libraries in ../lib, so both stay relative to the prefix.
install(TARGETS plumbline_kernels_emulated plumbline_operations_emulated LIBRARY DESTINATION lib)
if(TARGET plumbline_kernels_cuda)
  install(TARGETS plumbline_kernels_cuda LIBRARY DESTINATION lib OPTIONAL)  # where it was built
endif()
if(TARGET plumbline)
  install(TARGETS plumbline_claims_program plumbline_golden_program plumbline_kernel_host
          plumbline_profile_program RUNTIME DESTINATION bin)
  set_target_properties(plumbline PROPERTIES EXPORT_NAME program)
  list(APPEND plumbline_targets plumbline)
endif()

set(plumbline_package_dir lib/cmake/plumbline)
install(TARGETS ${plumbline_targets} EXPORT plumblineTargets
        ARCHIVE DESTINATION lib LIBRARY DESTINATION lib RUNTIME DESTINATION bin)
install(EXPORT plumblineTargets NAMESPACE plumbline:: DESTINATION ${plumbline_package_dir})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/plumblineConfig.cmake.in plumblineConfig.cmake
  INSTALL_DESTINATION ${plumbline_package_dir})
write_basic_package_version_file(plumblineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plumblineConfig.cmake
              ${PROJECT_BINARY_DIR}/plumblineConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindMPFI.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PlumblineKernelTest.cmake
        DESTINATION ${plumbline_package_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/golden/ DESTINATION share/plumbline/golden
        FILES_MATCHING PATTERN "*.json")

# All of it as a package of Debian and its kin, for what the build has built: .ci/deb. dpkg-shlibdeps, of dpkg-dev,
# finds the libraries that it needs; those whose headers its own headers include are recommended.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The developers of Plumbline")
set(CPACK_PACKAGE_VENDOR "Plumbline")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME ${PROJECT_NAME}_${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libeigen3-dev, libmpfi-dev, nlohmann-json3-dev, libfmt-dev")
include(CPack)
