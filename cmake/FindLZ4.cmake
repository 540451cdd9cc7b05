# SPDX-License-Identifier: Apache-2.0
# LZ4::LZ4: the compressor's library.
include(FindPackageHandleStandardArgs)

find_path(LZ4_INCLUDE_DIR lz4.h)
find_library(LZ4_LIBRARY lz4)
mark_as_advanced(LZ4_INCLUDE_DIR LZ4_LIBRARY)

find_package_handle_standard_args(LZ4 REQUIRED_VARS LZ4_LIBRARY LZ4_INCLUDE_DIR)
if(LZ4_FOUND AND NOT TARGET LZ4::LZ4)
  add_library(LZ4::LZ4 INTERFACE IMPORTED)
  set_target_properties(LZ4::LZ4 PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${LZ4_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES ${LZ4_LIBRARY})
endif()
