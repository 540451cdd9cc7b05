# SPDX-License-Identifier: Apache-2.0
# MPFI::MPFI: interval arithmetic on MPFR, with the MPFR and GMP that it stands on.
include(FindPackageHandleStandardArgs)

find_path(MPFI_INCLUDE_DIR mpfi.h)
foreach(library mpfi mpfr gmp)
  string(TOUPPER ${library} upper)
  find_library(${upper}_LIBRARY ${library})
  mark_as_advanced(${upper}_LIBRARY)
endforeach()
mark_as_advanced(MPFI_INCLUDE_DIR)

find_package_handle_standard_args(MPFI
  REQUIRED_VARS MPFI_LIBRARY MPFR_LIBRARY GMP_LIBRARY MPFI_INCLUDE_DIR)
if(MPFI_FOUND AND NOT TARGET MPFI::MPFI)
  add_library(MPFI::MPFI INTERFACE IMPORTED)
  set_target_properties(MPFI::MPFI PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${MPFI_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${MPFI_LIBRARY};${MPFR_LIBRARY};${GMP_LIBRARY}")
endif()
